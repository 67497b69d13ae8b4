from pathlib import Path

import msgspec
import pytest

from dray.demo.example import Example, ExampleError, Scene, Step, WantedPod, Wants, read_example


def write(
    folder: Path, expect: str, readme: str = "# A title\n\nOne\n[paragraph](x.md).\n\n```console\n$ x\n```\n"
) -> Path:
    folder.joinpath("expect.yaml").write_text(expect, encoding="utf-8")
    folder.joinpath("README.md").write_text(readme, encoding="utf-8")
    return folder


def test_example_is_read_with_its_story(tmp_path: Path) -> None:
    expect = "nodes: [t4-vm]\nsteps:\n- {run: a b, say: So., want: {pods: {x/y: {phase: Running}}}}\n"
    step = Step("a b", "So.", want=Wants(pods={"x/y": WantedPod(phase="Running")}))
    want = Example("mine", "A title", "One paragraph.", (Scene((step,), ("t4-vm",)),))
    assert read_example(write(tmp_path, expect), "mine") == want


def test_scenes_have_clusters_of_their_own(tmp_path: Path) -> None:
    expect = "scenes:\n- {nodes: [a], steps: [{run: one}]}\n- {nodes: [b], steps: [{run: two}]}\n"
    assert [each.nodes for each in read_example(write(tmp_path, expect), "mine").scenes] == [("a",), ("b",)]


@pytest.mark.parametrize(
    "expect",
    [
        "steps: [",
        "steps: [{run: x, wants: {}}]",
        "steps: [{say: x}]",
        "steps: [{run: x, want: {pods: {x/y: {phases: Running}}}}]",
        "steps: [{run: x}]\n---\nsteps: []",
        "",
    ],
)
def test_mistakes_are_told_with_the_name_of_the_example(tmp_path: Path, expect: str) -> None:
    with pytest.raises(ExampleError, match="example mine cannot be read: "):
        read_example(write(tmp_path, expect), "mine")


def test_an_example_without_a_readme_is_none(tmp_path: Path) -> None:
    tmp_path.joinpath("expect.yaml").write_text("steps: [{run: x}]", encoding="utf-8")
    with pytest.raises(ExampleError, match=r"README\.md"):
        read_example(tmp_path, "mine")


def test_facts_are_what_can_be_false() -> None:
    wants = {
        "pods": {"a/*": {"phase": "Running", "count": 0, "says": ["x", "y"], "devices": []}},
        "claims": {"a/b": {"state": "gone", "reserved": [], "devices": {"r": ["x"]}, "admin": False}},
        "logs": {"a/b/c": {"has": ["x"], "lacks": ["y", "z"]}},
        "events": {"a/b": ["x", "y"]},
        "offered": ["x"],
        "apart": {"label": "a/*"},
    }
    step = {"run": "x", "prints": ["a", "b"], "fails": True, "want": wants}
    assert msgspec.convert(step, Step).facts == 3 + 5 + 4 + 3 + 2 + 1 + 1


def test_command_shows_what_the_cluster_is_started_with(tmp_path: Path) -> None:
    expect = "scenes:\n- {nodes: [a, 'b:2'], settings: {DRAY_LOG_LEVEL: error}, steps: [{run: one}]}\n"
    (scene,) = read_example(write(tmp_path, expect), "mine").scenes
    assert scene.command == "DRAY_LOG_LEVEL=error dray up --nodes a --nodes b:2"

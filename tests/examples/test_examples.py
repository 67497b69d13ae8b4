"""Every example does what it says."""

from pathlib import Path

import pytest
import uvloop

from tests.examples.player import play, read_example, running_cluster

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAYED = sorted(file.parent for file in EXAMPLES.glob("*/expect.yaml"))


def test_there_are_examples() -> None:
    assert len(PLAYED) >= 7


@pytest.mark.parametrize("folder", PLAYED, ids=lambda folder: folder.name)
def test_example_does_what_it_says(folder: Path, tmp_path: Path) -> None:
    example = read_example(folder)
    with running_cluster(example.nodes, tmp_path) as kubeconfig:
        uvloop.run(play(example, folder, kubeconfig))


@pytest.mark.parametrize("folder", PLAYED, ids=lambda folder: folder.name)
def test_readme_shows_the_commands(folder: Path) -> None:
    text = folder.joinpath("README.md").read_text(encoding="utf-8")
    example = read_example(folder)
    assert f"dray up {' '.join(f'--nodes {each}' for each in example.nodes)}" in text
    for step in example.steps:
        assert not step.apply or step.apply in text

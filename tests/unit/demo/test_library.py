from pathlib import Path

import pytest

from dray.demo.example import ExampleError
from dray.demo.library import find_examples, list_names, select

EXAMPLES = find_examples()


def test_examples_of_the_repository_are_found() -> None:
    assert find_examples() == Path(__file__).parents[3] / "examples"


def test_use_cases_are_twelve_and_come_last() -> None:
    names = list_names(EXAMPLES)
    cases = [each for each in names if each.startswith("use-cases/")]
    assert len(cases) == 12
    assert names[-12:] == cases == [each.name for each in select("use-cases", EXAMPLES)]


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("tour", ["walkthrough", "aligned-gpu-and-nic", "mig-on-demand", "why-pending"]),
        ("device-health", ["device-health"]),
        ("05-mps", ["use-cases/05-mps"]),
        ("use-cases/05-mps", ["use-cases/05-mps"]),
    ],
)
def test_names_stand_for_examples(name: str, want: list[str]) -> None:
    assert [each.name for each in select(name, EXAMPLES)] == want


@pytest.mark.parametrize(
    ("name", "want"), [("06-vifo", "dray demo 06-vfio"), ("zzz", "dray demo --list shows which there are")]
)
def test_unknown_names_are_told_with_what_is_close(name: str, want: str) -> None:
    with pytest.raises(ExampleError) as caught:
        select(name, EXAMPLES)
    assert caught.value.hint == want


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(ExampleError) as caught:
        select("x", tmp_path)
    assert "missing" in caught.value.hint

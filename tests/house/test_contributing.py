"""CONTRIBUTING.md names what is there, and no recipe touches more than four places."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = ROOT.joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"^### (.+)\n((?:(?!^#).*\n)+)", TEXT, re.MULTILINE)


def test_tree_has_every_package() -> None:
    tree = TEXT.split("```text")[1].split("```")[0]
    packages = {each.parent.name for each in ROOT.joinpath("src", "dray").glob("*/__init__.py")}
    folders = {each.name for each in ROOT.joinpath("tests").iterdir() if each.is_dir() and any(each.rglob("*.py"))}
    assert sorted(each for each in packages | folders if not re.search(rf"\b{each}\b", tree)) == []


@pytest.mark.parametrize(("title", "steps"), RECIPES, ids=[title for title, _ in RECIPES])
def test_recipe_names_four_places_at_most(title: str, steps: str) -> None:
    assert 1 <= len(re.findall(r"^\d\. ", steps, re.MULTILINE)) <= 4


def test_every_place_that_a_recipe_names_is_there() -> None:
    named = {place for _, steps in RECIPES for place in re.findall(r"`((?:src|tests|docs|examples)/[^`]+)`", steps)}
    assert named
    known = [place.partition("<")[0] if "<" in place else place for place in named]
    assert sorted(place for place in known if not ROOT.joinpath(place).exists()) == []

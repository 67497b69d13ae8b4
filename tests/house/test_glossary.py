"""The glossary is in order, and leads to what is there."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLES = [
    re.findall(r"^\| ((?!Word|---)[^|]+) \| [^|]+ \| ([^|]+) \|$", section, re.MULTILINE)
    for section in ROOT.joinpath("docs", "glossary.md").read_text(encoding="utf-8").split("\n## ")[1:]
]


def is_there(place: str) -> bool:
    """Whether a module, or the module that something is in, can be found."""
    parts = place.split(".")
    for size in range(len(parts), 1, -1):
        try:
            if importlib.util.find_spec(".".join(parts[:size])) is not None:
                return size >= len(parts) - 1
        except ModuleNotFoundError:
            continue
    return False


def test_words_are_in_order() -> None:
    assert [len(table) > 20 for table in TABLES] == [True, True]
    for table in TABLES:
        words = [word.lower() for word, _ in table]
        assert words == sorted(set(words))


def test_places_are_there() -> None:
    modules = {place for table in TABLES for _, where in table for place in re.findall(r"`(dray\.[\w.]+)`", where)}
    files = {
        place for table in TABLES for _, where in table for place in re.findall(r"`((?:tests|examples)[\w/.]*)`", where)
    }
    assert len(modules) > 30
    assert sorted(place for place in modules if not is_there(place)) == []
    assert sorted(place for place in files if not ROOT.joinpath(place).exists()) == []

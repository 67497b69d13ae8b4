"""Locks, contracts and targets agree with each other."""

import re
import tomllib
from pathlib import Path
from typing import Any

from dray import __version__

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))


def pins(name: str) -> dict[str, str]:
    text = ROOT.joinpath("requirements", name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


def test_version_is_the_same_everywhere() -> None:
    assert PROJECT["project"]["version"] == __version__
    assert f"## [{__version__}]" in ROOT.joinpath("CHANGELOG.md").read_text(encoding="utf-8")


def test_locks_pin_every_dependency() -> None:
    wanted = {re.split(r"[><=\[ ]", each)[0].lower() for each in PROJECT["project"]["dependencies"]}
    assert wanted <= pins("runtime.txt").keys()


def test_lock_of_developers_contains_that_of_users() -> None:
    assert pins("runtime.txt").items() <= pins("dev.txt").items()


def test_locks_have_hashes_and_no_addresses() -> None:
    for name in ("runtime.txt", "dev.txt"):
        text = ROOT.joinpath("requirements", name).read_text(encoding="utf-8")
        assert text.count("==") <= text.count("--hash=sha256:")
        assert re.search(r"://|--(?:extra-)?index|--find-links|\.(?:org|com|io)\b", text) is None


def test_every_target_says_what_it_does() -> None:
    text = ROOT.joinpath("Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    assert set(re.findall(r"^([a-z]+):.*## \S", text, re.MULTILINE)) == set(phony.split())

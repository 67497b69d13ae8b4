"""Cases with edits, as the tables in `tests/cases/audit` have them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

__all__ = ["edited", "list_mutations", "load_bases"]

CASES = Path(__file__).parents[2] / "cases" / "audit"


def load_bases(name: str) -> list[dict[str, Any]]:
    """The cases of a table; each has `mutations` with a name, edits and the codes to find."""
    loaded: list[dict[str, Any]] = yaml.safe_load(CASES.joinpath(name).read_text(encoding="utf-8"))
    return loaded


def list_mutations(bases: list[dict[str, Any]]) -> Iterator[Any]:
    """Pytest parameters: base and mutation."""
    for base in bases:
        for mutation in base["mutations"]:
            yield pytest.param(base, mutation, id=f"{base['name']}: {mutation['name']}")


def edited(base: dict[str, Any], mutation: dict[str, Any]) -> dict[str, Any]:
    """A copy of the base with all edits of the mutation made. What anchors of the file share comes apart."""
    case: dict[str, Any] = json.loads(json.dumps(base))
    for pointer, value in mutation["edit"].items():
        _edit(case, pointer, value)
    return case


def _edit(case: Any, pointer: str, value: object) -> None:
    """Set a value, append it at `-`, or remove what is there for null."""
    *way, last = pointer.split("/")[1:]
    for part in way:
        case = case[int(part)] if isinstance(case, list) else case[part]
    if isinstance(case, list) and last == "-":
        case.append(value)
        return
    key: Any = int(last) if isinstance(case, list) else last
    if value is None:
        del case[key]
    else:
        case[key] = value

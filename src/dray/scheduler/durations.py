"""Lengths of time as configuration files write them: `10s`, `1m30s`, `500ms`."""

from __future__ import annotations

import re

__all__ = ["parse_seconds"]

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_WHOLE = re.compile(rf"([+-]?)(0|(?:{_PART.pattern})+)")


def parse_seconds(text: str) -> float:
    """Read a duration, in seconds. Raises ValueError for anything else; a number needs a unit."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no duration: write it like 10s, 1m30s or 500ms")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(match[2]))
    return -seconds if match[1] == "-" else seconds

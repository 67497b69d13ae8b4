"""Regular expressions in RE2's dialect, in linear time, by the RE2 library."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, cast

import re2  # type: ignore[import-untyped]  # the library ships without types; Pattern below is what we use of it

from dray.cel.errors import EvaluationError
from dray.cel.functions import Overload, declare

__all__ = ["PATTERN_FUNCTIONS", "REGEX", "BadPattern", "compile_pattern", "matches"]

PATTERN_FUNCTIONS = frozenset({"find", "findAll", "matches"})
"""Functions whose second operand is a pattern."""


class Match(Protocol):
    """One match of a pattern."""

    def group(self, number: int) -> str:
        """The text of a group, 0 for the whole match."""
        ...


class Pattern(Protocol):
    """A compiled pattern."""

    def search(self, text: str, pos: int = 0) -> Match | None:
        """The leftmost match."""
        ...

    def finditer(self, text: str) -> list[Match]:
        """All matches, one after another."""
        ...


class BadPattern(ValueError):
    """The text is no pattern; the message is Go's."""


_OPTIONS = re2.Options()
_OPTIONS.log_errors = False

_GO_WORDING = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
"""Messages of the library beside those of Go's regexp, where they differ."""


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Pattern:
    """Compile, or refuse with `BadPattern`."""
    try:
        return cast("Pattern", re2.compile(pattern, _OPTIONS))
    except re2.error as error:
        raise BadPattern(f"error parsing regexp: {_in_go_words(error.args[0], pattern)}") from None


def _in_go_words(reason: bytes | str, pattern: str) -> str:
    text = reason.decode() if isinstance(reason, bytes) else str(reason)
    problem, colon, where = text.partition(": ")
    shown = where if colon else pattern
    return f"{_GO_WORDING.get(problem, problem)}: `{shown}`"


def matches(text: str, pattern: str) -> bool:
    """Whether the pattern matches anywhere."""
    if not isinstance(pattern, str):
        raise EvaluationError("no such overload")
    try:
        return compile_pattern(pattern).search(text) is not None
    except BadPattern as fault:
        raise EvaluationError(str(fault)) from None


def _compile(pattern: str) -> Pattern:
    try:
        return compile_pattern(pattern)
    except BadPattern as fault:
        raise EvaluationError(f"Illegal regex: {fault}") from None


def _find(text: str, pattern: str) -> str:
    match = _compile(pattern).search(text)
    return "" if match is None else match.group(0)


def _find_all(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    found: list[str] = []
    for match in _compile(pattern).finditer(text):
        if 0 <= limit <= len(found):
            break
        found.append(match.group(0))
    return tuple(found)


REGEX: list[Overload] = declare(
    ("string_find_string: string::find(string) -> string", _find),
    ("string_find_all_string: string::findAll(string) -> list(string)", _find_all),
    ("string_find_all_string_int: string::findAll(string, int) -> list(string)", _find_all),
)

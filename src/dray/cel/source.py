"""The text of an expression, places in it, and faults pointed at those places.

A fault prints as Kubernetes prints it: `ERROR: <input>:1:7: undefined field 'nam'`, the line, and a caret below.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Place", "Source", "SourceFault", "render_faults"]

MAX_REPORTED_FAULTS = 100
"""More faults of one expression are only counted."""

_MAX_SNIPPET_BYTES = 16_384
"""A longer line is not quoted."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A 1-based line and a 0-based column, in code points."""

    line: int
    column: int


NOWHERE = Place(-1, -1)
"""The place of a fault that belongs to no part of the text."""


@dataclass(frozen=True, slots=True)
class SourceFault:
    """One thing that is wrong with the text."""

    place: Place
    message: str


class Source:
    """One expression's text with its line starts."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]

    def place(self, offset: int | None) -> Place:
        """Where the code point at `offset` stands; None is nowhere."""
        if offset is None:
            return NOWHERE
        line = bisect_right(self._starts, offset)
        return Place(line, offset - self._starts[line - 1])

    def line(self, number: int) -> str | None:
        """The text of one line, None when there is no such line or nothing at all."""
        if not self.text or not 1 <= number <= len(self._starts):
            return None
        start = self._starts[number - 1]
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[start:end]


def render_faults(source: Source, faults: Iterable[SourceFault]) -> str:
    """All faults in the order of the text, the first hundred in full."""
    every = list(faults)
    shown = sorted(every[:MAX_REPORTED_FAULTS], key=lambda fault: fault.place)
    texts = [_render(source, fault) for fault in shown]
    if len(every) > MAX_REPORTED_FAULTS:
        texts.append(f"{len(every) - MAX_REPORTED_FAULTS} more errors were truncated")
    return "\n".join(texts)


def _render(source: Source, fault: SourceFault) -> str:
    place = fault.place
    text = f"ERROR: <input>:{place.line}:{place.column + 1}: {fault.message}"
    line = source.line(place.line)
    if line is None or len(line.encode()) > _MAX_SNIPPET_BYTES:
        return text
    line = line.replace("\t", " ")
    dots = "".join("." if character.isascii() else "\uff0e" for character in line[: place.column])
    below = line[place.column : place.column + 1]
    caret = "^" if not below or below.isascii() else "\uff3e"
    return f"{text}\n | {line}\n | {dots}{caret}"

"""Text for people and for machines. No other module of the command words an error."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

__all__ = ["Output", "render_columns", "render_error", "render_json"]


class Output(StrEnum):
    """How a verb prints its answer."""

    TEXT = "text"
    JSON = "json"


def render_error(message: str, *, hint: str | None = None) -> str:
    """One line that says what is wrong, and one that says what to do about it."""
    return f"error: {message}\n" + (f"  try: {hint}\n" if hint else "")


def render_json(answer: object) -> str:
    """An answer for machines, indented."""
    return msgspec.json.format(msgspec.json.encode(answer, enc_hook=str), indent=2).decode() + "\n"


def render_columns(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as kubectl lines them up: three spaces apart, capital headings."""
    lines = [[name.upper() for name in header], *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(header))]
    padded = ("   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{line.rstrip()}\n" for line in padded)

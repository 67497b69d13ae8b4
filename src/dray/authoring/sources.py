"""Text as people paste it: slips that keep YAML from being YAML are named, and read over.

A dash for three hyphens, ellipses, tabs, spaces and quotes of web pages: each is noted with its line and replaced by
what was meant, line by line, so that everything behind it is looked at too and lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Chunk", "Slip", "split_source"]

_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SEPARATOR = re.compile(rf"[-{_DASHES}]{{1,4}}\s*(?:#.*)?")
_BLOCK = re.compile(r"(?:^|[:\-]\s+)[|>][-+0-9]*\s*(?:#.*)?$")
_ODD_SPACE = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]")
_QUOTES: Final = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"') | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
)
_QUOTED = re.compile("(?:[:\\[,(=]|-|\\bin)\\s*[\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b]")
_DOTS: Final = r"(?:\.\.\.|\u2026)"
_ELLIPSIS_LINE = re.compile(rf"\s*(?:-\s+)?(?:#\s*)?{_DOTS}\s*")
_ELLIPSIS_VALUE = re.compile(rf"(?<=[:\-])(?P<gap>\s+)(?P<open>[{{\[]?)\s*{_DOTS}\s*(?P<close>[}}\]]?)\s*$")
_ELLIPSIS_TAIL = re.compile(rf",\s*{_DOTS}\s*(?=[}}\]]\s*$)")
_DASH_NAMES: Final = {"\u2013": "an en dash", "\u2014": "an em dash", "\u2212": "a minus sign"}


@dataclass(frozen=True, slots=True)
class Slip:
    """One slip of the text."""

    rule: str
    line: int
    message: str
    hint: str


@dataclass(slots=True)
class Chunk:
    """The text of one document with slips mended, and the line it begins on."""

    first_line: int
    lines: list[str] = field(default_factory=list)
    original: list[str] = field(default_factory=list)
    slips: list[Slip] = field(default_factory=list)
    left_out: set[int] = field(default_factory=set)
    """Lines whose value, or whatever should stand below, is only an ellipsis."""

    @property
    def text(self) -> str:
        """What there is to parse."""
        return "\n".join(self.lines) + "\n"

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing but space and comments."""
        return all(not line.strip() or line.strip().startswith("#") for line in self.lines) and not self.slips


def split_source(text: str) -> list[Chunk]:
    """The documents of a text. Blank ones are left out."""
    chunks = [Chunk(1)]
    block_indent = -1
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if block_indent >= 0 and (not line.strip() or indent > block_indent):
            _keep(chunks[-1], line)
            continue
        block_indent = -1
        slip = _find_separator(line, number)
        if slip is not None or re.match(r"(?:---|\.\.\.)(?:\s|$)", line):
            chunks.append(_begin(line, number, slip))
            continue
        mended = _mend(chunks[-1], line, number)
        if _BLOCK.search(mended):
            block_indent = len(mended) - len(mended.lstrip())
        _keep(chunks[-1], line, mended)
    return [chunk for chunk in chunks if not chunk.is_blank]


def _begin(line: str, number: int, slip: Slip | None) -> Chunk:
    """A document that begins on the line of its separator, or behind that sign on the same line."""
    chunk = Chunk(number)
    rest = "" if slip is not None or line.startswith("...") else line[3:]
    _keep(chunk, rest.strip() and f"   {rest}")
    if slip is not None:
        chunk.slips.append(slip)
    return chunk


def _keep(chunk: Chunk, line: str, mended: str | None = None) -> None:
    chunk.original.append(line)
    chunk.lines.append(line if mended is None else mended)


def _find_separator(line: str, number: int) -> Slip | None:
    text = line.rstrip()
    if not text or text.startswith("---") or not _SEPARATOR.fullmatch(text):
        return None
    sign = text.split()[0]
    named = next((name for dash, name in _DASH_NAMES.items() if dash in sign), "a dash" if not sign.isascii() else "")
    shown = f"{named} ({sign})" if named else f"{sign!r}"
    return Slip("yaml-separator", number, f"documents are separated by three hyphens, not by {shown}", "write ---")


def _mend(chunk: Chunk, line: str, number: int) -> str:
    """The line as it was meant; slips are noted."""
    if _ODD_SPACE.search(line):
        chunk.slips.append(
            Slip("yaml-space", number, "a space that is none: no-break or zero width", "type plain spaces")
        )
        line = _ODD_SPACE.sub(lambda match: "" if match[0] in "\u200b\u2060\ufeff" else " ", line)
    margin = line[: len(line) - len(line.lstrip())]
    if "\t" in margin and line.strip():
        chunk.slips.append(Slip("yaml-space", number, "a tab indents", "indent with spaces, two for each level"))
        line = margin.replace("\t", "  ") + line.lstrip()
    if _QUOTED.search(line) and not line.lstrip().startswith("#"):
        chunk.slips.append(Slip("yaml-quotes", number, "typographic quotes", "type straight quotes: \" or '"))
        line = line.translate(_QUOTES)
    return _drop_ellipsis(chunk, line, number)


def _drop_ellipsis(chunk: Chunk, line: str, number: int) -> str:
    """The line without its ellipsis; what is missing altogether is remembered."""
    if _ELLIPSIS_LINE.fullmatch(line) and not line.lstrip().startswith("#"):
        above = next((n for n, text in _above(chunk) if text.strip() and not text.strip().startswith("#")), None)
        if above is not None:
            chunk.left_out.add(above)
        _note_ellipsis(chunk, number, "an ellipsis stands for what is not shown")
        return f"{line[: len(line) - len(line.lstrip())]}# ..."
    if match := _ELLIPSIS_VALUE.search(line):
        chunk.left_out.add(number)
        _note_ellipsis(chunk, number, f"{line.strip().split(':')[0].removeprefix('- ')} is left out by an ellipsis")
        return line[: match.start()] + f"{match['gap']}{match['open']}{match['close']}"
    if _ELLIPSIS_TAIL.search(line):
        _note_ellipsis(chunk, number, "an ellipsis stands for what is not shown")
        return _ELLIPSIS_TAIL.sub("", line)
    return line


def _note_ellipsis(chunk: Chunk, number: int, message: str) -> None:
    chunk.slips.append(Slip("ellipsis", number, message, "write it out, or remove the ellipsis"))


def _above(chunk: Chunk) -> Iterator[tuple[int, str]]:
    """The lines so far by their numbers, the last first."""
    for index in range(len(chunk.lines) - 1, -1, -1):
        yield chunk.first_line + index, chunk.lines[index]

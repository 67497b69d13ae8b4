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
_SEPARATOR = re.compile(rf"(?P<sign>[-{_DASHES}]+|_{{3,}}|={{3,}}|\*{{3,}}|~{{3,}})\s*(?:#.*)?")
_ITEM = re.compile(rf"(?P<margin>\s*)[{_DASHES}\u2022](?P<rest>\s+\S.*)")
_HEAD = re.compile(r"(?P<name>apiVersion|kind)\s*:")
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
        """Whether there is nothing but space."""
        return not any(line.strip() for line in self.lines) and not self.slips


def split_source(text: str) -> list[Chunk]:
    """The documents of a text. Blank ones are left out."""
    return _Splitter(text).split()


class _Splitter:
    """Goes through the lines; what stands in a block of text is none of its business."""

    def __init__(self, text: str) -> None:
        self._lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
        self._chunks = [Chunk(1)]
        self._heads: set[str] = set()
        """The fields that an object begins with, as far as this document has them."""

    def split(self) -> list[Chunk]:
        """The documents."""
        block_indent = -1
        for index, line in enumerate(self._lines):
            indent = len(line) - len(line.lstrip())
            if block_indent >= 0 and (not line.strip() or indent > block_indent):
                self._keep(line, line)
                continue
            block_indent = -1
            if self._separates(index):
                continue
            mended = _mend(self._chunks[-1], line, index + 1)
            if _BLOCK.search(mended):
                block_indent = len(mended) - len(mended.lstrip())
            self._keep(line, mended)
        return [chunk for chunk in self._chunks if not chunk.is_blank]

    def _separates(self, index: int) -> bool:
        """Begin a document if this line, or a slip in it, says so. True if there is nothing else on it."""
        line = self._lines[index]
        slip = _find_separator(line, index + 1)
        if slip is not None or re.match(r"---(?:\s|$)", line) or self._is_end(index):
            self._begin(index, slip)
            rest = line[3:] if slip is None and line.startswith("---") else ""
            behind = rest.strip() if rest.lstrip().startswith("#") else f"   {rest}" if rest.strip() else ""
            self._keep(behind, behind)
            return True
        head = _HEAD.match(line)
        if head is not None and len(self._heads) == 2 and self._is_second_object(index, head["name"]):
            message = "a second object begins without a separator"
            self._begin(index, Slip("yaml-separator", index + 1, message, "write --- above it"))
        if head is not None:
            self._heads.add(head["name"])
        return False

    def _begin(self, index: int, slip: Slip | None) -> None:
        self._chunks.append(Chunk(index + 1, slips=[slip] if slip is not None else []))
        self._heads.clear()

    def _keep(self, line: str, mended: str) -> None:
        self._chunks[-1].original.append(line)
        self._chunks[-1].lines.append(mended)

    def _is_end(self, index: int) -> bool:
        """Whether three dots end a document: nothing comes behind them, or another object."""
        if not re.fullmatch(r"\.\.\.\s*", self._lines[index]):
            return False
        behind = next((line for line in self._lines[index + 1 :] if line.strip()), "")
        return not behind or _HEAD.match(behind) is not None or behind.startswith("---")

    def _is_second_object(self, index: int, name: str) -> bool:
        """Whether a field that is there already begins another object, rather than being there twice."""
        around = [line for line in self._lines[index + 1 :] if line[:1].strip() and not line.startswith("#")]
        follower = _HEAD.match(around[0]) if around else None
        return follower is not None and follower["name"] != name


def _find_separator(line: str, number: int) -> Slip | None:
    """The slip in a line that was to separate documents; None if it is none, or does."""
    match = _SEPARATOR.fullmatch(line.strip())
    if match is None:
        return None
    sign = match["sign"]
    if sign == "---":
        if not line.startswith(" "):
            return None
        return Slip("yaml-separator", number, "three hyphens separate documents only where a line begins", "write ---")
    if sign == "-" or (line.startswith(" ") and len(sign) < 3):  # an item of a list
        return None
    named = next((name for dash, name in _DASH_NAMES.items() if dash in sign), "a dash" if not sign.isascii() else "")
    shown = f"{named} ({sign})" if named else f"{sign!r}"
    return Slip("yaml-separator", number, f"documents are separated by three hyphens, not by {shown}", "write ---")


def _mend(chunk: Chunk, line: str, number: int) -> str:
    """The line as it was meant; slips are noted."""

    def note(rule: str, message: str, hint: str) -> None:
        chunk.slips.append(Slip(rule, number, message, hint))

    if _ODD_SPACE.search(line):
        note("yaml-space", "a space that is none: no-break or zero width", "type plain spaces")
        line = _ODD_SPACE.sub(lambda match: "" if match[0] in "\u200b\u2060\ufeff" else " ", line)
    margin = line[: len(line) - len(line.lstrip())]
    if "\t" in margin and line.strip():
        note("yaml-space", "a tab indents", "indent with spaces, two for each level")
        line = margin.replace("\t", "  ") + line.lstrip()
    if match := _ITEM.fullmatch(line):
        note("yaml-dash", "an item of a list begins with a dash that is no hyphen", "type a hyphen and a space")
        line = f"{match['margin']}-{match['rest']}"
    if _QUOTED.search(line) and not line.lstrip().startswith("#"):
        note("yaml-quotes", "typographic quotes", "type straight quotes: \" or '")
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

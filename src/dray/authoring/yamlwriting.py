"""Trees as YAML: what is as its author wrote it stays so word by word, at most indented anew; the rest is plain.

Comments stand above their lines. What was written is read again: should it not say the same, all of it is made plain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dray.api.yamltext import YamlError, YamlLoader
from dray.authoring.planting import parse_tree
from dray.authoring.tree import Json, Stand, Tree

__all__ = ["write_inline", "write_yaml"]

MAX_FLOW_COLUMNS: Final = 100
"""A list or map that was on one line stays so up to here."""

_PLAIN = re.compile(
    r"[A-Za-z0-9_./$][^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff#:,\[\]{}\"'`&*!|>%@\\]*(?:[:#](?! )[^\s:#,\[\]{}\"']+)*"
)
_NAME_ALONE = re.compile(r"\s*:\s*(?:#.*)?")
_STRING_TAG: Final = "tag:yaml.org,2002:str"


def write_yaml(tree: Tree, tail: Sequence[str] = ()) -> str:
    """One document, without a separator; `tail` is what its author wrote behind it."""
    text = _write(tree, tail, is_verbatim=True)
    return text if _says(text, tree.plain()) else _write(tree, tail, is_verbatim=False)


def _write(tree: Tree, tail: Sequence[str], *, is_verbatim: bool) -> str:
    lines = [*_Writer(tree, is_verbatim=is_verbatim).lines(), *tail]
    return "".join(f"{line}\n" for line in _trim(lines))


def write_inline(value: Json) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(name)}: {write_inline(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write_inline, value)) + "]"
    return _scalar(value)


def _trim(lines: list[str]) -> list[str]:
    """Without blank lines at the ends."""
    shown = [index for index, line in enumerate(lines) if line.strip()]
    return lines[shown[0] : shown[-1] + 1] if shown else []


def _says(text: str, value: Json) -> bool:
    """Whether a text says just this."""
    try:
        planting = parse_tree(text)
    except YamlError:
        return False
    if planting is None or any(part.doubles for part in planting.tree.walk()):
        return False
    return planting.tree.plain() == value


class _Writer:
    """Writes one document."""

    def __init__(self, tree: Tree, *, is_verbatim: bool) -> None:
        self._tree = tree
        self._is_verbatim = is_verbatim and not tree.is_flow
        self._list_step = next((each.step for each in tree.walk() if each.items and each.step is not None), 0)
        self._is_same: dict[int, bool] = {}

    def lines(self) -> Iterator[str]:
        """The whole document."""
        yield from _comment_lines(self._tree, 0)
        yield from self._block(self._tree, 0)

    def _block(self, tree: Tree, column: int) -> Iterator[str]:
        """The lines of a map or a list, or the one line of anything else."""
        if isinstance(tree.value, dict) and tree.value:
            for name, child in tree.value.items():
                yield from self._entry(name, child, column)
        elif isinstance(tree.value, list) and tree.value:
            for child in tree.value:
                yield from self._item(child, column)
        else:
            yield f"{' ' * column}{self._flow(tree)}"

    def _entry(self, name: str, child: Tree, column: int) -> Iterator[str]:
        yield from self._above(child, column)
        head = f"{_scalar(name)}:"
        stand = child.stand
        if stand is not None and not stand.is_item and self._is_untouched(child):
            first, *rest = _shown(stand)
            written = first[stand.column :]
            if name != _name_in(written, stand):
                written = head + first[stand.behind :].lstrip().removeprefix(":")
            yield from self._shift([f"{' ' * stand.column}{written}", *rest], stand.column, column)
            return
        if stand is not None and not stand.is_item and name == _name_in(stand.lines[stand.head][stand.column :], stand):
            kept = self._keep_line(child, stand)
            if kept:
                yield f"{' ' * column}{kept}"
                if isinstance(child.value, dict | list):
                    yield from self._block(child, column + self._step(child, is_entry=True))
                return
        yield from self._value(head, child, column, is_entry=True)

    def _keep_line(self, child: Tree, stand: Stand) -> str:
        """The line of a name as its author spaced it, with the new value if it is on that; empty if it must change."""
        line = stand.lines[stand.head]
        if not self._is_verbatim:
            return ""
        if isinstance(child.value, dict | list):
            is_alone = child.value and not child.is_flow and _NAME_ALONE.fullmatch(line[stand.behind :])
            return line[stand.column :].rstrip() if is_alone else ""
        at = line.find(child.raw, stand.behind) if child.raw else -1
        value = self._flow(child)
        if at < 0 or "\n" in value or (isinstance(child.value, str) and "\n" in child.value):
            return ""
        return f"{line[stand.column : at]}{value}{line[at + len(child.raw) :]}".rstrip()

    def _value(self, head: str, child: Tree, column: int, *, is_entry: bool) -> Iterator[str]:
        """A value behind its name or dash, or below."""
        margin = " " * column
        aside = f"  # {child.aside}" if child.aside else ""
        text = child.value
        if isinstance(text, str) and "\n" in text and _fits_a_block(text):
            yield f"{margin}{head} {_block_sign(text)}{aside}"
            yield from (f"{margin}  {line}".rstrip() for line in text.rstrip("\n").split("\n"))
        elif self._is_short(child, column + len(head)):
            yield f"{margin}{head} {self._flow(child)}{aside}"
        else:
            yield f"{margin}{head}{aside}"
            yield from self._block(child, column + self._step(child, is_entry=is_entry))

    def _step(self, tree: Tree, *, is_entry: bool) -> int:
        if self._is_verbatim and tree.step is not None:
            return tree.step
        return self._list_step if isinstance(tree.value, list) and is_entry and self._is_verbatim else _plain_step(tree)

    def _item(self, child: Tree, column: int) -> Iterator[str]:
        """A list item; the first entry of a map stands behind the dash."""
        yield from self._above(child, column)
        stand = child.stand
        if stand is not None and stand.is_item and self._is_untouched(child):
            first, *rest = _shown(stand)
            yield from self._shift([f"{' ' * stand.column}{first[stand.column :]}", *rest], stand.column, column)
            return
        if isinstance(child.value, str) or self._is_short(child, column + 2):
            yield from self._value("-", child, column, is_entry=False)
            return
        step = self._step(child, is_entry=False) if isinstance(child.value, dict) else 2
        lines = list(self._block(child, column + step))
        first_index = next(index for index, line in enumerate(lines) if _is_content(line))
        yield from (f"{' ' * column}{line.strip()}".rstrip() for line in lines[:first_index])
        yield f"{' ' * column}-{lines[first_index][column + 1 :]}"
        yield from lines[first_index + 1 :]

    def _above(self, child: Tree, column: int) -> Iterator[str]:
        """What stands above a part: what its author wrote there, then what is new."""
        stand = child.stand
        if stand is not None:
            lines = stand.lines[stand.start : stand.head]
            yield from self._shift(lines, stand.column, column)
        yield from _comment_lines(child, column)

    def _shift(self, lines: Iterable[str], former: int, column: int) -> Iterator[str]:
        """Lines indented anew."""
        for line in lines:
            text = line.lstrip(" ")
            margin = len(line) - len(text)
            is_outside = text.startswith("#") and margin < former  # a comment that is indented less than what it is in
            yield f"{' ' * (column if is_outside else max(margin + column - former, 0))}{text}" if text else ""

    def _is_untouched(self, tree: Tree) -> bool:
        """Whether a part and everything below is as it was written; new comments above itself do not count."""
        if not self._is_verbatim or not tree.is_as_written:
            return False
        known = self._is_same.get(id(tree))
        if known is None:
            children = tree.items or tree.fields.values()
            known = all(not each.comments and self._is_untouched(each) for each in children)
            self._is_same[id(tree)] = known
        return known

    def _is_short(self, tree: Tree, column: int) -> bool:
        """Whether a value goes on the line of its name."""
        if not isinstance(tree.value, dict | list) or not tree.value:
            return True
        if not tree.is_flow or any(each.comments or each.aside for each in tree.walk() if each is not tree):
            return False
        return column + len(self._flow(tree)) < MAX_FLOW_COLUMNS

    def _flow(self, tree: Tree) -> str:
        if isinstance(tree.value, dict):
            return "{" + ", ".join(f"{_scalar(name)}: {self._flow(each)}" for name, each in tree.value.items()) + "}"
        if isinstance(tree.value, list):
            return "[" + ", ".join(map(self._flow, tree.value)) + "]"
        if self._is_verbatim and tree.raw and tree.is_as_written and (tree.raw[0] in "'\"" or _is_plain(tree.raw)):
            return tree.raw
        return _scalar(tree.value)


def _shown(stand: Stand) -> Sequence[str]:
    """The lines of a part without those above it."""
    return stand.lines[stand.head : stand.end]


def _name_in(written: str, stand: Stand) -> str:
    """The name that an entry was written with, without quotes."""
    return written[: stand.behind - stand.column].strip().strip("'\"")


def _plain_step(tree: Tree) -> int:
    return 0 if isinstance(tree.value, list) else 2


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _comment_lines(tree: Tree, column: int) -> Iterator[str]:
    for comment in tree.comments:
        for line in comment.split("\n"):
            yield f"{' ' * column}# {line}".rstrip()


def _scalar(value: Json) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _is_plain(value):
        return value
    if value.isprintable() and '"' in value and value.strip() == value:
        return "'" + value.replace("'", "''") + "'"
    return '"' + "".join(map(_escape, value)) + '"'


def _escape(char: str) -> str:
    """A character within double quotes."""
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_plain(value: str) -> bool:
    if not _PLAIN.fullmatch(value) or value.endswith((" ", ":")) or value.startswith(("---", "...")):
        return False
    if " #" in value or ": " in value:
        return False
    resolvers = YamlLoader.yaml_implicit_resolvers
    candidates = [*resolvers.get(value[:1], ()), *resolvers.get(None, ())]
    return not any(tag != _STRING_TAG and pattern.match(value) for tag, pattern in candidates)


def _fits_a_block(text: str) -> bool:
    """Whether nothing is lost when the lines of a text are written below each other."""
    lines = text.split("\n")
    return (
        not text.startswith((" ", "\n"))
        and not any(line != line.rstrip() or not line.isprintable() for line in lines)
        and not text.endswith("\n\n")
    )


def _block_sign(text: str) -> str:
    return "|" if text.endswith("\n") else "|-"

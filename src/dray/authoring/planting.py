"""From the text of a document to its tree, with the lines that each part was written in.

The lines above a part, blank ones and comments, are its own; those that are indented deeper end the part before.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final

import yaml

from dray.api.yamltext import YamlError, YamlLoader, explain_yaml_fault, merge_entries, read_key, write_scalar
from dray.authoring.tree import Stand, Tree

__all__ = ["Planting", "parse_tree"]

MAX_PARTS: Final = 500_000
"""Parts of one document when its aliases are written out."""

_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
"""What ends a line for YAML."""

_NAME_END = re.compile(r"\s*:(?=\s|$)")
_COMMENT = re.compile(r"\s*:?\s*#(.*)")
_BLOCKS: Final = ("|", ">")


@dataclass(slots=True)
class Planting:
    """A document as a tree, and what of it is in no part of the tree."""

    tree: Tree
    tail: tuple[str, ...] = ()
    """The lines behind the last part."""
    remarks: list[str] = field(default_factory=list)
    """Every comment, in order."""


def parse_tree(text: str, *, first_line: int = 1) -> Planting | None:
    """Plant one document, None if there is nothing in it. Raises YamlError, with the line of the whole text."""
    try:
        loader = YamlLoader(text)
        node = loader.get_node() if loader.check_node() else None
        if node is None:
            return None
        if loader.check_node():
            raise YamlError("not YAML: something stands behind the end of the document", first_line)
        return _Planter(text, first_line).run(node)
    except yaml.MarkedYAMLError as fault:
        told = explain_yaml_fault(fault, text)
        raise YamlError(told.message, told.line + first_line - 1) from fault
    except yaml.reader.ReaderError as fault:
        line = text.count("\n", 0, fault.position) + first_line
        raise YamlError(f"not YAML: {fault.reason}", line) from fault
    except RecursionError as fault:
        raise YamlError("nested too deeply", first_line) from fault


class _Planter:
    """Makes trees of nodes; what an alias repeats is made anew each time, within a limit."""

    def __init__(self, text: str, first_line: int) -> None:
        self._lines = _LINE_END.split(text)
        self._first_line = first_line
        self._open: set[int] = set()
        self._seen: set[int] = set()
        self._has_aliases = False
        self._count = 0
        self._end = next((index for index, line in enumerate(self._lines) if line.strip()), 0)
        """The line behind the last one that belongs to a part."""
        self._remarks: list[str] = []

    def run(self, node: yaml.Node) -> Planting:
        """Plant a document."""
        tree = self._plant(node, node.start_mark.line + self._first_line, "")
        tail = self._lines[self._end :]
        while tail and not tail[-1].strip():
            tail.pop()
        self._note_comments(tail)
        if self._has_aliases:  # what is written once may be needed twice, or elsewhere
            for part in tree.walk():
                part.stand, part.raw = None, ""
        _close(tree, self._end)
        return Planting(tree, tuple(tail), self._remarks)

    def _plant(self, node: yaml.Node, line: int, path: str) -> Tree:
        """The tree of a node; `line` is that of its key, if it has one."""
        self._count += 1
        if self._count > MAX_PARTS:
            raise YamlError(f"the document has more than {MAX_PARTS} parts", line)
        if id(node) in self._open:
            raise YamlError("an alias refers to what it is part of", line)
        self._has_aliases |= id(node) in self._seen
        self._seen.add(id(node))
        made = Tree(None, line, path)
        self._open.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            self._fill_scalar(made, node)
        elif isinstance(node, yaml.SequenceNode):
            made.is_flow = bool(node.flow_style)
            made.value = self._items(node, made)
        elif isinstance(node, yaml.MappingNode):
            made.is_flow = bool(node.flow_style)
            made.value = self._entries(node, made)
        self._open.discard(id(node))
        if made.is_flow:
            made.aside = self._end_at(node)
        made.seal()
        return made

    def _fill_scalar(self, made: Tree, node: yaml.ScalarNode) -> None:
        made.value = json.loads(write_scalar(node))
        start, end = node.start_mark, node.end_mark
        if start.line == end.line and node.style not in _BLOCKS:
            made.raw = self._line(start.line)[start.column : end.column]
        made.aside = self._end_at(node)

    def _items(self, node: yaml.SequenceNode, owner: Tree) -> list[Tree]:
        items: list[Tree] = []
        for index, each in enumerate(node.value):
            stand = None if owner.is_flow else self._find_dash(node, each, is_first=index == 0)
            line = stand.head if stand is not None else int(each.start_mark.line)
            made = self._plant(each, line + self._first_line, f"{owner.path}[{index}]")
            made.stand = stand
            if stand is not None and made.value and isinstance(each, yaml.CollectionNode) and not made.is_flow:
                made.step = each.start_mark.column - stand.column
            items.append(made)
        return items

    def _find_dash(self, node: yaml.SequenceNode, item: yaml.Node, *, is_first: bool) -> Stand | None:
        """Where an item stands. Not every way to write one is known, and then nothing is said."""
        column = int(node.start_mark.column)
        if is_first:
            return self._stand(int(node.start_mark.line), column, column + 1, is_item=True)
        for index in range(self._end, int(item.start_mark.line) + 1):
            if re.match(rf" {{{column}}}-(?:\s|$)", self._line(index)):
                return self._stand(index, column, column + 1, is_item=True)
        return None

    def _entries(self, node: yaml.MappingNode, owner: Tree) -> dict[str, Tree]:
        entries: dict[str, Tree] = {}
        for name, value in merge_entries(node):
            key = read_key(name)
            start, end = name.start_mark, name.end_mark
            stand = None
            if not owner.is_flow and start.line == end.line and _NAME_END.match(self._line(end.line), end.column):
                stand = self._stand(int(start.line), int(start.column), int(end.column), is_item=False)
            made = self._plant(value, int(start.line) + self._first_line, owner.below(key))
            made.stand = stand
            if stand is not None and isinstance(value, yaml.CollectionNode) and not made.is_flow:
                made.step = int(value.start_mark.column) - stand.column
                made.aside = self._comment_in(self._line(end.line)[end.column :])
            if key in entries:
                owner.doubles.append(entries.pop(key))
            entries[key] = made
        return entries

    def _stand(self, head: int, column: int, behind: int, *, is_item: bool) -> Stand:
        """Where a part stands, with the lines above it that are its own."""
        start = min(self._end, head)
        for index in range(start, head):
            text = self._line(index)
            if text.strip().startswith("#") and len(text) - len(text.lstrip()) > column:
                start = index + 1
        self._note_comments(self._lines[min(self._end, head) : head])
        self._end = max(self._end, head + 1)
        return Stand(self._lines, start, head, column, behind, is_item)

    def _line(self, index: int) -> str:
        return self._lines[index] if index < len(self._lines) else ""

    def _end_at(self, node: yaml.Node) -> str:
        """Note where a part ends. The comment behind it is returned."""
        mark = node.end_mark
        if mark.column == 0 and mark.line > node.start_mark.line:  # a block of text ends where the next line begins
            self._end = max(self._end, mark.line)
            return ""
        self._end = max(self._end, mark.line + 1)
        return self._comment_in(self._line(mark.line)[mark.column :])

    def _comment_in(self, rest: str) -> str:
        match = _COMMENT.fullmatch(rest)
        if match is None:
            return ""
        comment = match[1].strip()
        self._remarks.append(comment)
        return comment

    def _note_comments(self, lines: list[str]) -> None:
        self._remarks += [each.strip().lstrip("#").strip() for each in lines if each.strip().startswith("#")]


def _close(tree: Tree, end: int) -> None:
    """Let each part end where the next one begins. Where that cannot be told, nothing below is written word by word."""
    pending = [(tree, end)]
    while pending:
        owner, last = pending.pop()
        children = owner.items or list(owner.fields.values())
        stands = [child.stand for child in children if child.stand is not None]
        if owner.doubles or len(stands) < len(children):
            for part in owner.walk():
                part.stand = None if part is not owner else part.stand
            continue
        for index, (child, stand) in enumerate(zip(children, stands, strict=True)):
            stand.end = stands[index + 1].start if index + 1 < len(stands) else last
            pending.append((child, stand.end))

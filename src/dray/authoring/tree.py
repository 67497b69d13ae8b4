"""A manifest as a tree that remembers where each part stood, and that can be rebuilt.

Rewriting moves parts about; each keeps the line and the path that its author gave it, so that a fault found after a
rewrite is told in the author's terms. Comments travel with the part that they are about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import yaml

from dray.api.yamltext import YamlError, YamlLoader, explain_yaml_fault, merge_entries, read_key, write_scalar

__all__ = ["Json", "Tree", "parse_tree", "plant"]

MAX_PARTS: Final = 500_000
"""Parts of one document when its aliases are written out."""

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")
_PLAIN_KEY = re.compile(r"[^.\[\]/]+")


@dataclass(eq=False, slots=True)
class Tree:
    """A value with its place. Lists and maps hold trees; whoever rewrites may change them."""

    value: bool | int | float | str | list[Tree] | dict[str, Tree] | None
    line: int = 0
    """Where it stood, counted from 1; 0 for what was added."""
    path: str = ""
    """What it was called where it stood."""
    comments: list[str] = field(default_factory=list)
    """Lines to stand above it."""
    aside: str = ""
    """What the author wrote behind it."""
    is_flow: bool = False
    """Whether it was written on one line, with braces or brackets."""
    is_left_out: bool = False
    """Whether there is only an ellipsis in its place."""

    @property
    def fields(self) -> dict[str, Tree]:
        """The entries of a map; none where this is no map."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[Tree]:
        """The items of a list; none where this is no list."""
        return self.value if isinstance(self.value, list) else []

    @property
    def text(self) -> str:
        """A text; empty where this is none."""
        return self.value if isinstance(self.value, str) else ""

    def find(self, *names: str) -> Tree | None:
        """What stands below, by the names of fields."""
        here: Tree | None = self
        for name in names:
            here = here.fields.get(name) if here is not None else None
        return here

    def text_at(self, *names: str) -> str:
        """The text that stands below."""
        found = self.find(*names)
        return found.text if found is not None else ""

    def items_at(self, *names: str) -> list[Tree]:
        """The items of the list that stands below."""
        found = self.find(*names)
        return found.items if found is not None else []

    def open(self, name: str) -> Tree:
        """The map under a name, made where there is none."""
        fields = self.open_map()
        found = fields.get(name)
        if found is None or not isinstance(found.value, dict):
            found = fields[name] = Tree({}, found.line if found else self.line, self.below(name))
        return found

    def open_map(self) -> dict[str, Tree]:
        """The entries of what is to be a map, whatever it was."""
        if not isinstance(self.value, dict):
            self.value = {}
        return self.value

    def open_list(self, name: str) -> list[Tree]:
        """The items under a name, which becomes a list if it is none."""
        fields = self.open_map()
        found = fields.get(name)
        if found is None or not isinstance(found.value, list):
            found = fields[name] = Tree([], self.line, self.below(name))
        return found.items

    def put(self, name: str, value: Json, *, comment: str = "") -> Tree:
        """Set a field to something new, which stands where this does."""
        made = plant(value, self.line, self.below(name))
        if comment:
            made.comments.append(comment)
        self.open_map()[name] = made
        return made

    def put_behind(self, before: str, name: str, value: Json) -> Tree:
        """Set a field to something new, behind another, or at the end."""
        made = plant(value, self.line, self.below(name))
        fields: dict[str, Tree] = {}
        for key, each in self.fields.items():
            fields[key] = each
            if key == before:
                fields[name] = made
        fields.setdefault(name, made)
        self.value = fields
        return made

    def below(self, name: str) -> str:
        """The path of a field of this."""
        if not _PLAIN_KEY.fullmatch(name):
            return f"{self.path}[{name}]"
        return f"{self.path}.{name}" if self.path else name

    def rename(self, old: str, new: str) -> None:
        """Give an entry another name, in its place."""
        self.value = {new if name == old else name: each for name, each in self.fields.items()}

    def put_first(self, name: str, child: Tree) -> None:
        """Set a field, and let it be the first."""
        self.value = {name: child} | {key: each for key, each in self.fields.items() if key != name}

    def locate(self, path: str) -> Tree:
        """What a path leads to, or as far as it leads."""
        here = self
        for bracketed, plain in _STEP.findall(path):
            step: str = bracketed or plain
            items = here.items
            if bracketed.isdecimal() and items:
                if int(step) >= len(items):
                    return here
                here = items[int(step)]
            elif step in here.fields:
                here = here.fields[step]
            else:
                return here
        return here

    def plain(self) -> Json:
        """The value without places."""
        if isinstance(self.value, dict):
            return {name: each.plain() for name, each in self.value.items()}
        if isinstance(self.value, list):
            return [each.plain() for each in self.value]
        return self.value

    def json(self) -> bytes:
        """The value as JSON text."""
        return json.dumps(self.plain(), ensure_ascii=False).encode("utf-8", "surrogatepass")

    def walk(self) -> Iterator[Tree]:
        """This and everything below, in order."""
        pending = [self]
        while pending:
            here = pending.pop()
            yield here
            pending.extend(reversed(here.items or list(here.fields.values())))


def plant(value: Json, line: int = 0, path: str = "") -> Tree:
    """A tree of something new, all of it in one place."""
    if isinstance(value, dict):
        return Tree({name: plant(each, line, path) for name, each in value.items()}, line, path)
    if isinstance(value, list):
        return Tree([plant(each, line, path) for each in value], line, path)
    return Tree(value, line, path)


def parse_tree(text: str, *, first_line: int = 1) -> Tree | None:
    """The tree of one document, None if there is nothing in it. Raises YamlError, with the line of the whole text."""
    try:
        loader = YamlLoader(text)
        node = loader.get_node() if loader.check_node() else None
        if node is None:
            return None
        return _Planter(text, first_line).plant(node, node.start_mark.line + first_line, "")
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
        self._lines = text.split("\n")
        self._first_line = first_line
        self._open: set[int] = set()
        self._count = 0
        self._told = 0
        """The line up to which comments have been given away."""

    def plant(self, node: yaml.Node, line: int, path: str) -> Tree:
        """The tree of a node; `line` is that of its key, if it has one."""
        self._count += 1
        if self._count > MAX_PARTS:
            raise YamlError(f"the document has more than {MAX_PARTS} parts", line)
        if id(node) in self._open:
            raise YamlError("an alias refers to what it is part of", line)
        made = Tree(None, line, path, self._comments_above(line))
        if isinstance(node, yaml.ScalarNode):
            made.value = json.loads(write_scalar(node))
            made.aside = self._comment_behind(node)
            return made
        made.is_flow = isinstance(node, yaml.CollectionNode) and bool(node.flow_style)
        self._open.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            made.value = [self.plant(each, self._line(each), f"{path}[{n}]") for n, each in enumerate(node.value)]
        else:
            made.value = self._entries(node, made)
        self._open.discard(id(node))
        if made.is_flow:
            made.aside = self._comment_behind(node)
        return made

    def _entries(self, node: yaml.Node, owner: Tree) -> dict[str, Tree]:
        entries: dict[str, Tree] = {}
        for name, value in merge_entries(node):
            key = read_key(name)
            entries[key] = self.plant(value, self._line(name), owner.below(key))
        return entries

    def _line(self, node: yaml.Node) -> int:
        return int(node.start_mark.line) + self._first_line

    def _comments_above(self, line: int) -> list[str]:
        """The comments between the last part and this one."""
        comments: list[str] = []
        at = line - self._first_line - 1
        while at >= self._told and self._lines[at].strip().startswith("#"):
            comments.insert(0, self._lines[at].strip().lstrip("#").strip())
            at -= 1
        self._told = max(self._told, line - self._first_line + 1)
        return comments

    def _comment_behind(self, node: yaml.Node) -> str:
        mark = node.end_mark
        if mark.line >= len(self._lines) or mark.column == 0:  # a block of text ends where the next line begins
            return ""
        rest = self._lines[mark.line][mark.column :].strip()
        self._told = max(self._told, mark.line + 1)
        return rest.lstrip("#").strip() if rest.startswith("#") else ""

"""A manifest as a tree that remembers where each part stood, and that can be rebuilt.

Rewriting moves parts about; each keeps the line and the path that its author gave it, so that a fault found after a
rewrite is told in the author's terms, and its text, so that what is not changed is written again word by word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Json", "Stand", "Tree", "plant"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")
_PLAIN_KEY = re.compile(r"[^.\[\]/]+")


@dataclass(slots=True)
class Stand:
    """The lines in which a part was written: an entry of a map with its name, or an item of a list with its dash."""

    lines: Sequence[str]
    """Those of the whole document."""
    start: int
    """The first of the part, with the comments and blank lines above it; counted from 0."""
    head: int
    """The one that the name or the dash is on."""
    column: int
    """Where the name or the dash begins."""
    behind: int
    """Where it ends."""
    is_item: bool
    end: int = 0
    """The one behind the last."""


@dataclass(eq=False, slots=True)
class Tree:
    """A value with its place. Lists and maps hold trees; whoever rewrites may change them."""

    value: bool | int | float | str | list[Tree] | dict[str, Tree] | None
    line: int = 0
    """Where it stood, counted from 1; 0 for what was added."""
    path: str = ""
    """What it was called where it stood."""
    comments: list[str] = field(default_factory=list)
    """New lines to stand above it, below those of the author."""
    aside: str = ""
    """What the author wrote behind it, or behind its name."""
    raw: str = ""
    """How a text or a number was written, if on one line."""
    step: int | None = None
    """How far its entries or items were indented below its own name or dash."""
    stand: Stand | None = None
    doubles: list[Tree] = field(default_factory=list)
    """Entries of a map that another of the same name displaced."""
    written: tuple[object, ...] | None = None
    """What it held when it was read; None for what was added."""
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

    def seal(self) -> None:
        """Take what it holds now for what was written."""
        self.written = self._holdings()

    @property
    def is_as_written(self) -> bool:
        """Whether it holds what it did when it was read; its parts may have changed."""
        return self.written == self._holdings()

    def _holdings(self) -> tuple[object, ...]:
        if isinstance(self.value, dict):
            return tuple(self.value.items())
        return tuple(self.value) if isinstance(self.value, list) else (type(self.value), self.value)

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

    def remarks(self) -> list[str]:
        """What its author wrote above and behind it."""
        above = self.stand.lines[self.stand.start : self.stand.head] if self.stand is not None else []
        said = [each.strip().lstrip("#").strip() for each in above if each.strip().startswith("#")]
        return [*said, self.aside] if self.aside else said

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

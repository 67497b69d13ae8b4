"""Objects of any kind as text: JSON, YAML, names; and the server's tables as kubectl lines them up."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec
import yaml

from dray.cli.printing import render_json

if TYPE_CHECKING:
    from dray.client.resources import Resource
    from dray.client.untyped import TableAnswer, TableRow

__all__ = ["ObjectOutput", "TableText", "render_names", "render_objects", "render_yaml"]

_GAP = "   "


class ObjectOutput(StrEnum):
    """How objects are printed whole."""

    JSON = "json"
    YAML = "yaml"
    NAME = "name"


class _Meta(msgspec.Struct):
    name: str = ""


class _Named(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


def render_objects(objects: "Sequence[tuple[Resource, bytes]]", output: ObjectOutput, *, as_list: bool = False) -> str:
    """Objects, given as JSON text. Several, or a list of them, are one object of kind List."""
    if output is ObjectOutput.NAME:
        names = [(resource, msgspec.json.decode(body, type=_Named).metadata.name) for resource, body in objects]
        return render_names(names)
    things: list[object] = [_load(body) for _, body in objects]
    whole = things[0] if len(things) == 1 and not as_list else {"apiVersion": "v1", "items": things, "kind": "List"}
    return render_yaml(whole) if output is ObjectOutput.YAML else render_json(whole)


def _load(body: bytes) -> object:
    """An object without the record of who set which field, which kubectl leaves out too."""
    thing = json.loads(body)
    thing.get("metadata", {}).pop("managedFields", None)
    return thing


def render_names(names: "Sequence[tuple[Resource, str]]") -> str:
    """Names as other verbs take them: `pod/web`."""
    return "".join(f"{resource.title}/{name}\n" for resource, name in names)


def render_yaml(thing: object) -> str:
    """YAML, with keys in the order of the alphabet as kubectl has them."""
    text: str = yaml.dump(thing, Dumper=yaml.CSafeDumper, allow_unicode=True, width=120)
    return text


class TableText:
    """A table line by line. Columns are as wide as what was shown first needs, so that what follows stays below it."""

    def __init__(self, table: "TableAnswer", *, is_wide: bool, shows_namespace: bool, prefix: str = "") -> None:
        columns = table.column_definitions
        self._shown = [index for index, column in enumerate(columns) if is_wide or column.priority == 0]
        self._shows_namespace = shows_namespace
        self._prefix = prefix
        self._header = [*(["NAMESPACE"] if shows_namespace else []), *(columns[i].name.upper() for i in self._shown)]
        self._widths = [0] * len(self._header)
        self._fit([self._header, *map(self._cells, table.rows)])

    def header(self) -> str:
        """The headings."""
        return self._line(self._header)

    def rows(self, rows: "Sequence[TableRow]") -> str:
        """A line for each row."""
        lines = [self._cells(row) for row in rows]
        self._fit(lines)
        return "".join(map(self._line, lines))

    def _fit(self, lines: Sequence[Sequence[str]]) -> None:
        self._widths = [
            max(width, *(len(line[i]) for line in lines)) if lines else width for i, width in enumerate(self._widths)
        ]

    def _cells(self, row: "TableRow") -> list[str]:
        cells = [_render_cell(row.cells[i]) if i < len(row.cells) else "" for i in self._shown]
        if cells:
            cells[0] = f"{self._prefix}{cells[0]}"
        return [row.place.namespace, *cells] if self._shows_namespace else cells

    def _line(self, cells: Sequence[str]) -> str:
        padded = _GAP.join(cell.ljust(width) for cell, width in zip(cells, self._widths, strict=True))
        return f"{padded.rstrip()}\n"


def _render_cell(cell: object) -> str:
    if cell is None:
        return "<none>"
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell).replace("\n", "\\n")

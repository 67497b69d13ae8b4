"""The table that the server renders for `kubectl get`: column definitions, and a row for each object."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

import msgspec

from dray.api.codec import encode_value, get_codec
from dray.api.columns import Cell, Column, RowCondition
from dray.api.kind import Kind
from dray.api.meta import ApiObject, ListMeta, ObjectMeta
from dray.api.struct import ApiStruct, always
from dray.values.times import Time

__all__ = [
    "META_VERSION",
    "PLAIN_TABLE",
    "PartialObjectMetadata",
    "RowContent",
    "Table",
    "TableColumn",
    "TableForm",
    "TableRow",
    "render_table",
]

K = TypeVar("K", bound=ApiObject)

META_VERSION: Final = "meta.k8s.io/v1"
"""What tables and bare metadata are written in, unless a client asks for the older form, which is the same."""
_NO_OBJECT = msgspec.Raw(b"null")


class RowContent(StrEnum):
    """How much of its object a row carries along."""

    NONE = "None"
    METADATA = "Metadata"
    OBJECT = "Object"


class TableForm(NamedTuple):
    """How a table is asked for."""

    content: RowContent = RowContent.METADATA
    api_version: str = META_VERSION


PLAIN_TABLE: Final = TableForm()
"""As clients ask for it if they say no more."""


class TableColumn(ApiStruct):
    """What a column is."""

    name: str = always(str)
    type: str = always(str)
    format: str = always(str)
    description: str = always(str)
    priority: int = always(int)


class TableRow(ApiStruct):
    """One object: its cells, and as much of it as was asked for."""

    cells: tuple[Cell, ...] = always(lambda: ())
    conditions: tuple[RowCondition, ...] = ()
    object: msgspec.Raw = always(lambda: _NO_OBJECT)


class Table(ApiStruct):
    """A list of objects as a table."""

    kind: str = always(lambda: "Table")
    api_version: str = always(lambda: META_VERSION)
    metadata: ListMeta = always(ListMeta)
    column_definitions: tuple[TableColumn, ...] = always(lambda: ())
    rows: tuple[TableRow, ...] = always(lambda: ())


class PartialObjectMetadata(ApiStruct):
    """An object of which only the metadata is shown."""

    kind: str = always(lambda: "PartialObjectMetadata")
    api_version: str = always(lambda: META_VERSION)
    metadata: ObjectMeta = always(ObjectMeta)


def render_table(
    kind: Kind[K], things: Iterable[K], now: Time, *, version: str, form: TableForm = PLAIN_TABLE
) -> Table:
    """The table of some objects at a moment, ages included. Clients show the cells as they are."""
    columns = tuple(map(_describe, kind.columns))
    embed = _embedding(kind, version, form)
    rows = tuple(
        TableRow(
            cells=tuple(column.cell(thing, now) for column in kind.columns),
            conditions=kind.row_conditions(thing),
            object=embed(thing),
        )
        for thing in things
    )
    return Table(api_version=form.api_version, column_definitions=columns, rows=rows)


def _describe(column: Column[K]) -> TableColumn:
    return TableColumn(
        name=column.name,
        type=column.type,
        format=column.format,
        description=column.description,
        priority=column.priority,
    )


def _embedding(kind: Kind[K], version: str, form: TableForm) -> Callable[[K], msgspec.Raw]:
    if form.content is RowContent.NONE:
        return lambda thing: _NO_OBJECT
    if form.content is RowContent.OBJECT:
        codec = get_codec(kind, version)
        return lambda thing: msgspec.Raw(codec.encode(thing))
    return lambda thing: msgspec.Raw(
        encode_value(PartialObjectMetadata(api_version=form.api_version, metadata=thing.metadata))
    )

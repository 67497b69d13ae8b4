"""Watches on the wire: each step as lines of JSON, in the shape the client asked for."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from dray.api.codec import encode_value
from dray.api.columns import Cell
from dray.api.meta import ApiObject, ListMeta, ObjectMeta
from dray.api.tables import Table
from dray.errors import ApiError
from dray.server.desk import Desk
from dray.server.negotiation import Shape
from dray.server.shaping import Shown, shape_rows, show_metadata
from dray.server.watching import Bookmark, Sighting, Step, Watch, encode_batch, encode_error, encode_sighting
from dray.store.ring import Batch

__all__ = ["WatchWriter"]

_INITIAL_EVENTS_END: Final = {"k8s.io/initial-events-end": "true"}


class WatchWriter:
    """Writes one watch. Tables name their columns in the first event only."""

    def __init__(self, desk: Desk, watch: Watch, shown: Shown) -> None:
        self._desk = desk
        self._watch = watch
        self._shape = shown.shape
        self._shown = shown
        self._has_columns = False

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """What is sent, piece by piece; a failure is the last event."""
        try:
            async for step in self._watch.steps():
                piece = self._write(step)
                if piece:
                    yield piece
        except ApiError as error:
            yield encode_error(error)

    def _write(self, step: Step) -> bytes:
        if isinstance(step, Bookmark):
            return self._write_bookmark(step)
        if self._shape is Shape.OBJECT:
            if isinstance(step, Batch):
                return encode_batch(self._watch, step)
            return b"".join([encode_sighting(self._watch.endpoint, each) for each in step])
        sightings: Sequence[Sighting] = self._watch.select(step) if isinstance(step, Batch) else step
        return b"".join([self._write_shaped(each) for each in sightings])

    def _write_shaped(self, sighting: Sighting) -> bytes:
        thing = self._watch.endpoint.form.decode(sighting.body)
        if self._shape is not Shape.TABLE:
            shown = show_metadata(thing.metadata, self._shown)
        else:
            shown = encode_value(self._row(thing))
        return b'{"type":"%b","object":%b}\n' % (sighting.kind.encode(), shown)

    def _row(self, thing: ApiObject) -> Table:
        table = shape_rows(self._desk, self._watch.endpoint, [thing], self._shown)
        table = replace(table, metadata=ListMeta(resource_version=thing.metadata.resource_version))
        if self._has_columns:
            return replace(table, column_definitions=())
        self._has_columns = True
        return table

    def _write_bookmark(self, bookmark: Bookmark) -> bytes:
        endpoint, version = self._watch.endpoint, str(bookmark.revision)
        annotations = _INITIAL_EVENTS_END if bookmark.ends_initial_events else {}
        meta = ObjectMeta(resource_version=version, annotations=annotations)
        partial = show_metadata(meta, self._shown)
        if self._shape is Shape.TABLE:
            shown = self._bookmark_table(version, partial)
        elif self._shape is Shape.OBJECT:
            shown = b'%b"metadata":%b}' % (endpoint.type_prefix, encode_value(meta))
        else:
            shown = partial
        return b'{"type":"BOOKMARK","object":%b}\n' % shown

    def _bookmark_table(self, version: str, partial: bytes) -> bytes:
        """One row of empty cells around the version."""
        cells: list[Cell] = [_empty_cell(column.name) for column in self._watch.endpoint.kind.columns]
        return msgspec.json.encode(
            {
                "kind": "Table",
                "apiVersion": self._shown.api_version,
                "metadata": {"resourceVersion": version},
                "columnDefinitions": None,
                "rows": [{"cells": cells, "object": msgspec.Raw(partial)}],
            }
        )


def _empty_cell(column: str) -> Cell:
    return "<unknown>" if column == "Age" else ""

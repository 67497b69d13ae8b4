"""Objects in the shape a client asked for: as they are, as metadata alone, or as rows of a table.

The usual shape is put together from stored bytes; nothing is decoded for it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from dray.api.codec import encode_value
from dray.api.meta import ApiObject, ListMeta, ObjectMeta
from dray.api.tables import PartialObjectMetadata, RowContent, Table, TableForm, render_table
from dray.errors import BadRequest
from dray.server.desk import Answer, Desk
from dray.server.endpoints import Endpoint
from dray.server.faults import NotAcceptable
from dray.server.negotiation import Shape, Taken
from dray.server.options import Query
from dray.server.reads import Listing
from dray.store.port import Record
from dray.values.quoting import quote

__all__ = ["Shown", "choose_shown", "shape_answer", "shape_listing", "shape_rows", "show_metadata", "strip_type"]


class Shown(NamedTuple):
    """What an answer shows of its objects."""

    shape: Shape
    table: TableForm

    @property
    def api_version(self) -> str:
        """Of what is no object."""
        return self.table.api_version


def choose_shown(form: Taken, query: Query) -> Shown:
    """What a client asked to be shown. Raises BadRequest."""
    content = RowContent.METADATA
    if form.shape is Shape.TABLE:
        content = _read_row_content(next(iter(query.get("includeObject", ())), ""))
    return Shown(form.shape, TableForm(content, form.meta_version))


def _read_row_content(text: str) -> RowContent:
    """How much of its object a row of a table carries. Raises BadRequest."""
    if not text:
        return RowContent.METADATA
    try:
        return RowContent(text)
    except ValueError as fault:
        raise BadRequest(
            f"Unable to convert to Table as requested: includeObject: Invalid value: {quote(text)}: "
            "must be 'Metadata', 'Object', 'None', or empty"
        ) from fault


def shape_answer(desk: Desk, answer: Answer, shown: Shown) -> bytes:
    """One object in the shape asked for, without a newline. Raises `NotAcceptable` for the shape of a list."""
    endpoint = answer.endpoint
    if shown.shape is Shape.OBJECT:
        return endpoint.render(answer.body)
    if shown.shape is Shape.METADATA_LIST:
        raise NotAcceptable(
            "you requested PartialObjectMetadataList, but the requested object is not a list "
            f"(*{_internal_name(endpoint)})"
        )
    thing = endpoint.form.decode(answer.body)
    if shown.shape is Shape.METADATA:
        return show_metadata(thing.metadata, shown)
    table = shape_rows(desk, endpoint, [thing], shown)
    return encode_value(replace(table, metadata=ListMeta(resource_version=thing.metadata.resource_version)))


def shape_listing(desk: Desk, listing: Listing, shown: Shown) -> bytes:
    """A list in the shape asked for, without a newline. Raises `NotAcceptable` for the shape of an object."""
    endpoint = listing.endpoint
    if shown.shape is Shape.OBJECT:
        items = _render_items(endpoint, listing.records)
        return _join_list(f"{endpoint.kind.name}List", endpoint.api_version, listing.metadata, items)
    if shown.shape is Shape.METADATA:
        raise NotAcceptable(
            f"you requested PartialObjectMetadata, but the requested object is a list (*{_internal_name(endpoint)}List)"
        )
    things = [desk.view.decode(endpoint.form, record) for record in listing.records]
    if shown.shape is Shape.METADATA_LIST:
        items = [show_metadata(thing.metadata, shown) for thing in things]
        return _join_list(shown.shape.value, shown.api_version, listing.metadata, items)
    return encode_value(replace(shape_rows(desk, endpoint, things, shown), metadata=listing.metadata))


def shape_rows(desk: Desk, endpoint: Endpoint, things: Iterable[ApiObject], shown: Shown) -> Table:
    """The table of some objects, as of now."""
    return render_table(endpoint.kind, things, desk.now(), version=endpoint.version, form=shown.table)


def show_metadata(metadata: ObjectMeta, shown: Shown) -> bytes:
    """An object of which only the metadata is shown."""
    return encode_value(PartialObjectMetadata(api_version=shown.api_version, metadata=metadata))


def _internal_name(endpoint: Endpoint) -> str:
    """What the API server calls a type in messages."""
    return f"{endpoint.kind.group.partition('.')[0] or 'core'}.{endpoint.kind.name}"


def _render_items(endpoint: Endpoint, records: Sequence[Record]) -> list[bytes]:
    if not endpoint.serves_stored_bytes:
        return [strip_type(endpoint, endpoint.render(record.body)) for record in records]
    prefix = endpoint.type_prefix
    length = len(prefix)
    return [b"{" + record.body[length:] for record in records]


def strip_type(endpoint: Endpoint, body: bytes) -> bytes:
    """An object as it stands in a list: without its kind and version."""
    return b"{" + body.removeprefix(endpoint.type_prefix)


def _join_list(kind: str, api_version: str, metadata: ListMeta, items: Iterable[bytes]) -> bytes:
    head = msgspec.json.encode({"kind": kind, "apiVersion": api_version, "metadata": _plain(metadata)})
    return b'%b,"items":[%b]}' % (head[:-1], b",".join(items))


def _plain(metadata: ListMeta) -> Any:
    return msgspec.Raw(encode_value(metadata))

"""Objects in the shape a client asked for: as they are, as metadata alone, or as rows of a table.

The usual shape is put together from stored bytes; nothing is decoded for it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from dray.api.codec import encode_value
from dray.api.meta import ApiObject, ListMeta, ObjectMeta
from dray.api.struct import ApiStruct, always
from dray.api.tables import RowContent, Table, render_table
from dray.errors import BadRequest
from dray.server.desk import Answer, Desk
from dray.server.endpoints import Endpoint
from dray.server.negotiation import Shape
from dray.server.reads import Listing
from dray.store.port import Record
from dray.values.quoting import quote

__all__ = ["PartialObjectMetadata", "read_row_content", "shape_answer", "shape_listing", "shape_rows", "strip_type"]

_META_VERSION: Final = "meta.k8s.io/v1"


class PartialObjectMetadata(ApiStruct):
    """An object of which only the metadata is shown."""

    kind: str = always(lambda: "PartialObjectMetadata")
    api_version: str = always(lambda: _META_VERSION)
    metadata: ObjectMeta = always(ObjectMeta)


def read_row_content(text: str) -> RowContent:
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


def shape_answer(desk: Desk, answer: Answer, shape: Shape, content: RowContent) -> bytes:
    """One object in the shape asked for, without a newline."""
    endpoint = answer.endpoint
    if shape is Shape.OBJECT:
        return endpoint.render(answer.body)
    thing = endpoint.form.decode(answer.body)
    if shape is Shape.METADATA:
        return encode_value(PartialObjectMetadata(metadata=thing.metadata))
    table = shape_rows(desk, endpoint, [thing], content)
    return encode_value(replace(table, metadata=ListMeta(resource_version=thing.metadata.resource_version)))


def shape_listing(desk: Desk, listing: Listing, shape: Shape, content: RowContent) -> bytes:
    """A list in the shape asked for, without a newline."""
    endpoint = listing.endpoint
    if shape is Shape.OBJECT:
        items = _render_items(endpoint, listing.records)
        return _join_list(f"{endpoint.kind.name}List", endpoint.api_version, listing.metadata, items)
    things = [desk.view.decode(endpoint.form, record) for record in listing.records]
    if shape is Shape.METADATA:
        items = [encode_value(PartialObjectMetadata(metadata=thing.metadata)) for thing in things]
        return _join_list("PartialObjectMetadataList", _META_VERSION, listing.metadata, items)
    return encode_value(replace(shape_rows(desk, endpoint, things, content), metadata=listing.metadata))


def shape_rows(desk: Desk, endpoint: Endpoint, things: Iterable[ApiObject], content: RowContent) -> Table:
    """The table of some objects, as of now."""
    return render_table(endpoint.kind, things, desk.now(), version=endpoint.version, content=content)


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

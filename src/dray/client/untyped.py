"""Objects of any kind as JSON text, for commands that show and send what they need not understand.

Kinds are found by asking the server, so that whatever it serves can be reached, and tables are those of the server, as
`kubectl get` prints them.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Final
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from dray.api.codec import encode_value
from dray.api.meta import DeleteOptions, Status
from dray.client.failures import describe_status
from dray.client.http import HttpClient
from dray.client.port import PatchType, Unreachable
from dray.client.resources import DISCOVERY_TYPES, Resource, Resources, decode_resources
from dray.client.transport import HttpCall
from dray.client.watchlines import LineSplitter
from dray.errors import Gone

__all__ = [
    "Applied",
    "OnPage",
    "Place",
    "Selection",
    "TableAnswer",
    "TableColumn",
    "TableRow",
    "UntypedClient",
    "WatchedRows",
]

_TABLE: Final = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_PAGE: Final = "500"
_EVER: Final = 1e9
"""Seconds of silence: a log says nothing for as long as it likes, and so does a watch without bookmarks."""
_LINE_BYTES: Final = 32 * 1024 * 1024
_JSON: Final = "application/json"
_CREATED: Final = 201


OnPage = Callable[[int, int | None], None]
"""Told how many objects of a list are there while more are coming, and of how many, if the server says so."""


def _ignore(_done: int, _total: int | None) -> None:
    """Nobody asked."""


class Selection(Struct, frozen=True):
    """Which objects of a resource. An empty namespace is all of them; a name is one object."""

    namespace: str = ""
    name: str = ""
    labels: str = ""
    fields: str = ""


class Applied(Struct, frozen=True):
    """What came of applying an object: whether it is new, as it is now, and what the server warns of."""

    is_new: bool
    body: bytes
    warnings: tuple[str, ...]


class Place(Struct, frozen=True, rename="camel"):
    """What every object says of itself in its metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    continue_token: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class TableColumn(Struct, frozen=True):
    """A column; those of a priority above 0 are for wide tables."""

    name: str
    priority: int = 0


class _RowObject(Struct, frozen=True):
    metadata: Place = Place()


class TableRow(Struct, frozen=True):
    """One object."""

    cells: tuple[object, ...] = ()
    object: _RowObject | None = None

    @property
    def place(self) -> Place:
        """Whose row it is, as far as the server says so."""
        return self.object.metadata if self.object is not None else Place()


class TableAnswer(Struct, frozen=True, rename="camel"):
    """A list of objects as the server shows it."""

    kind: str = ""
    metadata: Place = Place()
    column_definitions: tuple[TableColumn, ...] = ()
    rows: tuple[TableRow, ...] = ()
    items: tuple[_RowObject, ...] = ()


class _ListAnswer(Struct, frozen=True):
    metadata: Place = Place()
    items: tuple[msgspec.Raw, ...] | None = None


class WatchedRows(Struct, frozen=True):
    """One event of a watch."""

    type: str
    table: TableAnswer


class _WireEvent(Struct):
    type: str
    object: msgspec.Raw


class _DeletedDetails(Struct, frozen=True):
    uid: str = ""


class _Deleted(Struct, frozen=True):
    """The object, or a Status that names it."""

    kind: str = ""
    metadata: Place = Place()
    details: _DeletedDetails = _DeletedDetails()


class UntypedClient:
    """Works through a typed client, with its connections and retries."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    async def discover(self) -> Resources:
        """Everything that the server serves."""
        calls = [HttpCall("GET", path, accept=DISCOVERY_TYPES, is_repeatable=True) for path in ("/api", "/apis")]
        return decode_resources([(await self._http.call(call)).body for call in calls])

    async def get_table(self, resource: Resource, selection: Selection, note: OnPage = _ignore) -> TableAnswer:
        """Objects as a table; its version is that from which a watch goes on. Raises NotFound for one object."""
        pages = [_decode_table(page) for page in await self._read_pages(resource, selection, _TABLE, note)]
        rows = tuple(row for page in pages for row in page.rows)
        return msgspec.structs.replace(pages[0], rows=rows)

    async def get_objects(self, resource: Resource, selection: Selection, note: OnPage = _ignore) -> list[bytes]:
        """Objects as JSON text. Raises NotFound for one object."""
        objects: list[bytes] = []
        for page in await self._read_pages(resource, selection, _JSON, note):
            items = None if selection.name else msgspec.json.decode(page, type=_ListAnswer).items
            objects += [page] if items is None else [_name_kind(bytes(item), resource) for item in items]
        return objects

    async def _read_pages(self, resource: Resource, selection: Selection, accept: str, note: OnPage) -> Sequence[bytes]:
        path = resource.path(selection.namespace, selection.name)
        pages: list[bytes] = []
        token = ""
        while True:
            query = {} if selection.name else {**_narrow(selection), "limit": _PAGE, "continue": token}
            page = (await self._http.call(_get(path, query, accept))).body
            pages.append(page)
            meta = Place() if selection.name else msgspec.json.decode(page, type=_ListAnswer).metadata
            token = meta.continue_token
            if not token:
                return pages
            done = len(pages) * int(_PAGE)
            note(done, None if meta.remaining_item_count is None else done + meta.remaining_item_count)

    async def watch_table(
        self, resource: Resource, selection: Selection, version: str
    ) -> AsyncGenerator[WatchedRows, None]:
        """Changes as rows, until the server ends the watch. Raises Gone for a version that is no longer kept."""
        fields = ",".join(filter(None, (selection.fields, f"metadata.name={selection.name}" if selection.name else "")))
        query = {"labelSelector": selection.labels, "fieldSelector": fields, "resourceVersion": version}
        call = _get(resource.path(selection.namespace), {**query, "watch": "true"}, _TABLE)
        splitter = LineSplitter(_LINE_BYTES)
        async with aclosing(self._read_stream(call)) as chunks:
            async for chunk in chunks:
                for line in splitter.feed(chunk):
                    event = msgspec.json.decode(line, type=_WireEvent)
                    if event.type == "ERROR":
                        raise describe_status(msgspec.json.decode(event.object, type=Status))
                    yield WatchedRows(event.type, _decode_table(bytes(event.object)))

    async def apply(self, path: str, body: bytes, query: Mapping[str, str]) -> Applied:
        """Apply an object on the server. Raises Conflict, Invalid, Forbidden."""
        text = _join(query)
        answer = await self._http.call(HttpCall("PATCH", path, text, body, PatchType.APPLY, is_repeatable=True))
        return Applied(answer.code == _CREATED, answer.body, answer.warnings)

    async def delete(self, path: str, options: DeleteOptions, query: Mapping[str, str]) -> Place:
        """Ask for an object to go; what it was, as far as the server says so. Raises NotFound."""
        body = encode_value(msgspec.structs.replace(options, kind="DeleteOptions", api_version="v1"))
        answer = await self._http.call(HttpCall("DELETE", path, _join(query), body, _JSON))
        deleted = msgspec.json.decode(answer.body, type=_Deleted)
        return Place(uid=deleted.details.uid) if deleted.kind == "Status" else deleted.metadata

    async def wait_gone(self, resource: Resource, selection: Selection, uid: str) -> None:
        """Wait until an object is gone, or another has taken its name. Needs `list` and `watch`."""
        one = msgspec.structs.replace(selection, name="", fields=f"metadata.name={selection.name}")
        while True:
            table = await self.get_table(resource, one)
            if not any(uid in ("", row.place.uid) for row in table.rows):
                return
            with suppress(Gone, Unreachable):  # either way the next list tells what is there
                async with aclosing(self.watch_table(resource, one, table.metadata.resource_version)) as events:
                    async for event in events:
                        if event.type == "DELETED":
                            return

    async def open_log(self, namespace: str, pod: str, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """A container's log as it comes. Raises NotFound, and BadRequest for a container that has none."""
        pods = Resource(group="", version="v1", plural="pods", kind="Pod")
        async with aclosing(self._read_stream(_get(pods.path(namespace, pod, "log"), query, "*/*"))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _read_stream(self, call: HttpCall) -> AsyncGenerator[bytes, None]:
        stream = await self._http.open_stream(call)
        try:
            while chunk := await stream.read(_EVER):
                yield chunk
        finally:
            stream.close()


def _get(path: str, query: Mapping[str, str], accept: str) -> HttpCall:
    return HttpCall("GET", path, _join(query), accept=accept, is_repeatable=True)


def _join(query: Mapping[str, str]) -> str:
    return urlencode({name: value for name, value in query.items() if value})


def _narrow(selection: Selection) -> dict[str, str]:
    return {"labelSelector": selection.labels, "fieldSelector": selection.fields}


def _decode_table(body: bytes) -> TableAnswer:
    """A table. Servers that make none answer with the objects themselves: then names are all there is to show."""
    answer = msgspec.json.decode(body, type=TableAnswer)
    if answer.kind == "Table":
        return answer
    objects = answer.items if answer.kind.endswith("List") else (_RowObject(answer.metadata),)
    rows = tuple(TableRow((each.metadata.name,), each) for each in objects)
    return msgspec.structs.replace(answer, column_definitions=(TableColumn("Name"),), rows=rows)


def _name_kind(item: bytes, resource: Resource) -> bytes:
    """An object of a list, which says nothing of its kind, with what it is in front."""
    fields = {"apiVersion": resource.api_version, "kind": resource.kind}
    return msgspec.json.encode({**fields, **msgspec.json.decode(item, type=dict[str, msgspec.Raw])})

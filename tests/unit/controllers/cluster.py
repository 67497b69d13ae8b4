"""A real API server on a store in memory, for controllers.

One can put anything into it, and meddle with the requests of controllers.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar, cast

from msgspec.structs import replace

from dray.api.codec import ApiList
from dray.api.core.kinds import NAMESPACE
from dray.api.core.namespace import Namespace
from dray.api.kind import Kind
from dray.api.meta import ApiObject, DeleteOptions, ObjectMeta
from dray.api.registry import SERVED, AnyKind
from dray.app.wire import CelJudge
from dray.client.port import (
    ALL,
    ALL_CHANGES,
    PLAIN,
    Client,
    ListOptions,
    ObjectName,
    Patch,
    WatchEvent,
    WatchOptions,
    WriteOptions,
)
from dray.effects.clock import FakeClock
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from dray.server.assembly import MASTER, ServerParts, open_api_server
from dray.server.encoding import encode_put
from dray.server.endpoints import get_form
from dray.server.inprocess import InProcessClient
from dray.server.ports import Authorizer, User, View
from dray.store.memory import MemoryStore
from dray.store.port import Selection

K = TypeVar("K", bound=ApiObject)
T = TypeVar("T")


class Call(NamedTuple):
    """A request that is about to be made."""

    verb: str
    kind: AnyKind
    name: str = ""
    options: object = None
    process: str = ""
    """Who makes it, where there are several."""


class _Nobody:
    def identify(self, headers: Iterable[tuple[bytes, bytes]], peer: User | None) -> User:
        raise AssertionError("requests in this process carry no credentials")


class Cluster:
    """The server and its store. `client` makes requests as anybody would, `put` stores without asking."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.before_call: Callable[[Call], None] = lambda call: None
        """Sees each request of the controllers; may raise what it then fails with."""
        self.after_call: Callable[[Call], None] = lambda call: None
        """Sees each write of the controllers once it is made; may raise what they hear of it instead of the answer."""
        self._store = MemoryStore()
        self._put_count = 0
        self._client: InProcessClient | None = None
        self.put(NAMESPACE, NAMESPACE.prepare_create(Namespace(metadata=ObjectMeta(name="ml"))))

    @property
    def client(self) -> Client:
        assert self._client is not None, "the server is not open"
        return self._client

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """The server, for the length of a block."""

        def identity(view: View, authorizer: Authorizer) -> tuple[_Nobody, None]:
            return _Nobody(), None

        parts = ServerParts(
            kinds=tuple(SERVED),
            store=self._store,
            clock=self.clock,
            entropy=SeededEntropy(1),
            judge=CelJudge(),
            identity=identity,
            log=MemoryLog(),
        )
        async with open_api_server(parts) as api:
            self._client = InProcessClient(api.desk, MASTER, "test")
            yield
        self._client = None

    def put(self, kind: Kind[K], thing: K, uid: str = "") -> None:
        """Store an object as it is, in the namespace `ml` if it names none."""
        form, meta = get_form(kind), thing.metadata
        namespace = (meta.namespace or "ml") if kind.is_namespaced else ""
        self._put_count += 1
        uid = uid or meta.uid or f"uid-{self._put_count}"
        stored = replace(thing, metadata=replace(meta, namespace=namespace, uid=uid))
        key = form.key(namespace, meta.name)
        put = replace(encode_put(form, stored, key), expect=None)  # whatever is there
        _at_once(self._store.commit([put]))

    def find(self, kind: Kind[K], name: str, namespace: str = "ml") -> K | None:
        """What is stored."""
        form = get_form(kind)
        key = form.key(namespace if kind.is_namespaced else "", name)
        record = _at_once(self._store.find(key))
        return None if record is None else cast("K", form.decode(record.body))

    def names(self, kind: AnyKind, namespace: str = "ml") -> list[str]:
        """The names of all objects, or those in a namespace."""
        page = _at_once(self._store.page(Selection(get_form(kind).resource)))
        return sorted(each.key.name for each in page.records if each.key.namespace in ("", namespace))


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """What a call to the store in memory returns, which never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    raise AssertionError("a store in memory never waits")


class Meddled:
    """A client whose requests are shown to the cluster's `before_call` first."""

    def __init__(self, cluster: Cluster, process: str = "") -> None:
        self._cluster = cluster
        self._process = process

    def _begin(self, verb: str, kind: AnyKind, name: str = "", options: object = None) -> Client:
        self._cluster.before_call(Call(verb, kind, name, options, self._process))
        return self._cluster.client

    def _end(self, verb: str, kind: AnyKind, name: str, answer: T) -> T:
        self._cluster.after_call(Call(verb, kind, name, process=self._process))
        return answer

    async def get(self, kind: Kind[K], name: ObjectName) -> K:
        return await self._begin("get", kind, name.name).get(kind, name)

    async def list(self, kind: Kind[K], options: ListOptions = ALL) -> ApiList[K]:
        return await self._begin("list", kind).list(kind, options)

    async def watch(self, kind: Kind[K], options: WatchOptions = ALL_CHANGES) -> AsyncGenerator[WatchEvent[K], None]:
        async for event in self._begin("watch", kind).watch(kind, options):
            yield event

    async def create(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        client = self._begin("create", kind, thing.metadata.name)
        answer = await client.create(kind, thing, options, subresource=subresource)
        return self._end("create", kind, thing.metadata.name, answer)

    async def update(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        client = self._begin("update", kind, thing.metadata.name)
        answer = await client.update(kind, thing, options, subresource=subresource)
        return self._end("update", kind, thing.metadata.name, answer)

    async def patch(
        self,
        kind: Kind[K],
        name: ObjectName,
        patch: Patch,
        options: WriteOptions = PLAIN,
        *,
        subresource: str = "",
    ) -> K:
        client = self._begin("patch", kind, name.name)
        return self._end(
            "patch", kind, name.name, await client.patch(kind, name, patch, options, subresource=subresource)
        )

    async def delete(self, kind: Kind[K], name: ObjectName, options: DeleteOptions | None = None) -> K | None:
        answer = await self._begin("delete", kind, name.name, options).delete(kind, name, options)
        return self._end("delete", kind, name.name, answer)

"""Endpoints: each kind in each version it is served in, and how a path leads to one.

Computed once from the registry. A path is then split and looked up; nothing is matched against patterns.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from dataclasses import replace as replace_dataclass
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from dray.api.codec import Codec, get_codec
from dray.api.core import kinds as core
from dray.api.events import kinds as events
from dray.api.events.event import from_core_event, to_core_event
from dray.api.kind import Subresource
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.api.writing import PlannedWrite
from dray.errors import ObjectRef
from dray.server.faults import UnknownResource
from dray.store.port import Key

__all__ = ["CLUSTER_WORDS", "Endpoint", "PathNotFound", "Routes", "StoredForm", "Target", "get_form"]

CLUSTER_WORDS = frozenset({"status", "finalize"})
"""What may follow the name of a namespace and is no resource in it."""


class PathNotFound(Exception):
    """Nothing is served at this path; answered with plain text, unlike an unknown resource of a known group."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """A kind whose objects are stored as those of another kind."""

    stored: AnyKind
    to_stored: Callable[[Any], ApiObject]
    from_stored: Callable[[Any], ApiObject]


_SHARED: dict[tuple[str, str], _Shared] = {
    (events.EVENT.group, events.EVENT.plural): _Shared(core.EVENT, to_core_event, from_core_event)
}


class StoredForm:
    """How objects of a kind lie in the store: in the declared version, as their own kind or as another one's."""

    def __init__(self, kind: AnyKind) -> None:
        self.kind = kind
        self._shared = _SHARED.get((kind.group, kind.plural))
        stored = self._shared.stored if self._shared else kind
        self._stored = stored
        self.codec: Codec[Any] = get_codec(stored, stored.declared_version)
        self.resource = f"{stored.plural}.{stored.group}" if stored.group else stored.plural
        self.is_own = self._shared is None

    def decode(self, body: bytes) -> ApiObject:
        """Read a stored object as one of this kind."""
        thing: ApiObject = self.codec.decode(body)
        return thing if self._shared is None else self._shared.from_stored(thing)

    def encode(self, thing: ApiObject) -> bytes:
        """Write an object of this kind as it is stored."""
        return self.codec.encode(thing if self._shared is None else self._shared.to_stored(thing))

    def declare(self, thing: ApiObject) -> ApiObject:
        """The object as it is when it is decoded: naming its kind and the declared version."""
        kind = self._stored
        return replace(thing, kind=kind.name, api_version=kind.api_version(kind.declared_version))

    def ref(self, about: ObjectRef) -> ObjectRef:
        """The same object under the name of the kind it is stored as."""
        return ObjectRef(self._stored.group, self._stored.name, self._stored.plural, about.namespace, about.name)

    def key(self, namespace: str, name: str) -> Key:
        """Where an object lies."""
        return Key(self.resource, namespace, name)


_forms: dict[int, StoredForm] = {}


def get_form(kind: AnyKind) -> StoredForm:
    """The stored form of a kind; made once."""
    form = _forms.get(id(kind))
    if form is None:
        form = _forms[id(kind)] = StoredForm(kind)
    return form


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One kind in one version."""

    kind: AnyKind
    version: str
    form: StoredForm = field(repr=False)

    @cached_property
    def codec(self) -> Codec[Any]:
        """Reads and writes this version."""
        return get_codec(self.kind, self.version)

    @cached_property
    def api_version(self) -> str:
        """As in `apiVersion:`."""
        return self.kind.api_version(self.version)

    @cached_property
    def type_prefix(self) -> bytes:
        """How every object of this version begins; what follows is its metadata."""
        return b'{"kind":"%b","apiVersion":"%b",' % (self.kind.name.encode(), self.api_version.encode())

    @cached_property
    def serves_stored_bytes(self) -> bool:
        """Whether what is stored is what is answered."""
        return self.form.is_own and self.version == self.kind.declared_version

    @cached_property
    def deprecation(self) -> str | None:
        """What to tell everyone who uses this version."""
        served = self.kind.find_version(self.version)
        return served.deprecation if served is not None else None

    @cached_property
    def subresources(self) -> dict[str, Subresource]:
        """By name."""
        return {each.name: each for each in self.kind.subresources}

    def encode(self, thing: ApiObject) -> bytes:
        """Write an object in this version."""
        return self.codec.encode(thing)

    def render(self, body: bytes) -> bytes:
        """What is answered for a stored object."""
        return body if self.serves_stored_bytes else self.codec.encode(self.form.decode(body))

    def settle_reference(self, plan: PlannedWrite[ApiObject]) -> PlannedWrite[ApiObject]:
        """Objects that are stored as those of another kind are refused under its name."""
        return plan if self.form.is_own else replace_dataclass(plan, about=self.form.ref(plan.about))

    def ref(self, namespace: str = "", name: str = "") -> ObjectRef:
        """Names an object in errors."""
        return ObjectRef(self.kind.group, self.kind.name, self.kind.plural, namespace, name)


class Target(NamedTuple):
    """Where a request goes."""

    endpoint: Endpoint
    namespace: str | None
    """None: all namespaces, or a kind without them."""
    name: str
    subresource: str
    is_watch: bool = False
    """Whether the path is one of the old ones below `/watch/`."""

    @property
    def key(self) -> Key:
        """Where the object lies."""
        return Key(self.endpoint.form.resource, self.namespace or "", self.name)

    @property
    def ref(self) -> ObjectRef:
        """Names the object in errors."""
        return self.endpoint.ref(self.namespace or "", self.name)


class _Group(Struct):
    """The endpoints of one group version, by plural."""

    endpoints: dict[str, Endpoint]


class Routes:
    """All endpoints."""

    def __init__(self, kinds: Iterable[AnyKind]) -> None:
        self.kinds = tuple(kinds)
        self._groups: dict[str, _Group] = {}
        self._names = frozenset(kind.group for kind in self.kinds if kind.group)
        for kind in self.kinds:
            for version in kind.versions:
                root = f"apis/{kind.group}/{version.name}" if kind.group else f"api/{version.name}"
                group = self._groups.setdefault(root, _Group({}))
                group.endpoints[kind.plural] = Endpoint(kind, version.name, get_form(kind))

    def _is_of_known_group(self, parts: list[str]) -> bool:
        """Whether a path names a version, of a group of which there is another."""
        if parts[1] == "api":
            return len(parts) > 2 and bool(parts[2])
        return parts[1] == "apis" and len(parts) > 3 and bool(parts[3]) and parts[2] in self._names

    def __iter__(self) -> Iterator[Endpoint]:
        return (endpoint for group in self._groups.values() for endpoint in group.endpoints.values())

    def find_endpoint(self, kind: AnyKind) -> Endpoint:
        """The endpoint of a kind in its declared version."""
        prefix = f"apis/{kind.group}" if kind.group else "api"
        group = self._groups.get(f"{prefix}/{kind.declared_version}")
        found = group.endpoints.get(kind.plural) if group is not None else None
        return found if found is not None else Endpoint(kind, kind.declared_version, get_form(kind))

    def resolve(self, path: str) -> Target:
        """Where a path leads. Raises `PathNotFound`, or NotFound for an unknown resource of a known group."""
        parts = path.split("/")
        length = 3 if parts[1] == "api" else 4
        group = self._groups.get("/".join(parts[1:length]))
        rest = parts[length:]
        if rest and rest[-1] == "":
            rest.pop()
        if group is None and self._is_of_known_group(parts):
            raise UnknownResource
        if group is None or not rest:
            raise PathNotFound(path)
        is_watch = rest[0] == "watch"
        if is_watch:
            del rest[0]
        namespace: str | None = None
        if len(rest) >= 3 and rest[0] == "namespaces" and rest[2] not in CLUSTER_WORDS:
            namespace = rest[1]
            rest = rest[2:]
        return _point(group, rest, namespace, is_watch=is_watch)


def _point(group: _Group, rest: list[str], namespace: str | None, *, is_watch: bool) -> Target:
    endpoint = group.endpoints.get(rest[0]) if rest else None
    if endpoint is None or (namespace is not None and not endpoint.kind.is_namespaced):
        raise UnknownResource
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    if subresource and (subresource not in endpoint.subresources or (len(rest) > 3 and subresource != "proxy")):
        raise UnknownResource
    if name and endpoint.kind.is_namespaced and namespace is None:
        raise UnknownResource
    if endpoint.kind.verbs == ("create",) and (name or endpoint.kind.is_namespaced is (namespace is None)):
        raise UnknownResource  # what can only be posted has one path
    return Target(endpoint, namespace, name, subresource, is_watch)

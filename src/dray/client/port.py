"""The port through which every part of dray reads and writes objects.

Scheduler, controllers, node agents and drivers hold a `Client` and do not know what answers it: the server in the same
process, or any conformant API server over HTTP. Both adapters pass `tests/contract/client`. Everything that a request
can fail with is an `ApiError` in Kubernetes' reasons and codes; a lost connection is `Unreachable` once retries are
used up.

`NodeStreams` is the other way round: through it the API server reaches the containers of a node.
"""

from collections.abc import AsyncGenerator, Iterable
from enum import IntEnum, StrEnum
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from dray.api.codec import ApiList
from dray.api.kind import Kind
from dray.api.meta import ApiObject, DeleteOptions
from dray.api.registry import SERVED, AnyKind
from dray.errors import ApiError, DrayError
from dray.values.times import Time

__all__ = [
    "ALL",
    "ALL_CHANGES",
    "PLAIN",
    "Channel",
    "Client",
    "Command",
    "ContainerAddress",
    "Execution",
    "ListOptions",
    "LogOptions",
    "NodeStreams",
    "ObjectName",
    "Output",
    "Patch",
    "PatchType",
    "Unreachable",
    "WatchEvent",
    "WatchEventType",
    "WatchOptions",
    "WriteOptions",
    "find_parent",
    "get_retry_after_seconds",
    "is_retryable",
]

K = TypeVar("K", bound=ApiObject)


class Unreachable(DrayError):
    """The API server did not answer, retries included.

    `may_have_acted` is False only where the request surely never left: then any verb may be repeated. `hint` says what
    to look at.
    """

    def __init__(self, message: str, *, hint: str = "", may_have_acted: bool = True) -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.hint = hint
        self.may_have_acted = may_have_acted


class ObjectName(Struct, frozen=True):
    """Which object of a kind. The namespace is empty for objects of the cluster."""

    name: str
    namespace: str = ""


class ListOptions(Struct, frozen=True):
    """What a list is narrowed to. `namespace` None means all of them."""

    namespace: str | None = None
    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    limit: int = 0
    continue_token: str = ""


class WatchOptions(Struct, frozen=True):
    """What a watch is narrowed to, and from which version on it tells."""

    namespace: str | None = None
    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    send_initial_events: bool = False
    """Begin with the objects as they are and a bookmark that ends them."""
    allow_bookmarks: bool = True
    timeout_seconds: int | None = None


class WriteOptions(Struct, frozen=True):
    """How a write is made."""

    field_manager: str = ""
    is_dry_run: bool = False
    force: bool = False
    """Take fields from other managers; for applying only."""


ALL = ListOptions()
"""Every object of a kind."""
ALL_CHANGES = WatchOptions()
"""Every object as it is, then every change."""
PLAIN = WriteOptions()
"""No options."""


class PatchType(StrEnum):
    """The content types of the four ways to patch."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


class Patch(Struct, frozen=True):
    """A change to one object, as JSON text."""

    type: PatchType
    body: bytes


class WatchEventType(StrEnum):
    """What a watch tells. An error ends it and is raised as an ApiError, so it is no event."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


class WatchEvent(Struct, Generic[K], frozen=True):
    """One change, or a bookmark, of which only the resourceVersion (and the mark that initial events ended) counts."""

    type: WatchEventType
    thing: K

    @property
    def ends_initial_events(self) -> bool:
        """Whether everything that was there when the watch began has been told."""
        return self.thing.metadata.annotations.get("k8s.io/initial-events-end") == "true"


class Client(Protocol):
    """Objects of one API server. Objects come back as they are stored, with their resourceVersion."""

    async def get(self, kind: Kind[K], name: ObjectName) -> K:
        """One object. Raises NotFound."""
        ...

    async def list(self, kind: Kind[K], options: ListOptions = ALL) -> ApiList[K]:
        """Objects, or one page of them. Raises Gone for a version or page that is no longer kept."""
        ...

    def watch(self, kind: Kind[K], options: WatchOptions = ALL_CHANGES) -> AsyncGenerator[WatchEvent[K], None]:
        """Changes from a version on, in order, none missing, until the server ends the watch or it is closed.

        Raises Gone where the version is no longer kept: list again, and watch from there. Raises Unreachable where the
        watch broke off: watch again from the last version seen. Whoever stops before the end closes it with `aclose`,
        best through `contextlib.aclosing`. `dray.client.watching` goes on for ever.
        """
        ...

    async def create(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        """Store a new object, or post to a subresource (`binding`, `eviction`, `token`) of the object it names.

        `kind` is that of `thing`: a pod is bound with `create(BINDING, binding, subresource="binding")`; `find_parent`
        knows whose subresource it is. Raises AlreadyExists, Invalid, Forbidden.
        """
        ...

    async def update(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        """Replace an object, or its status. Raises Conflict if it was changed since `thing` was read."""
        ...

    async def patch(
        self,
        kind: Kind[K],
        name: ObjectName,
        patch: Patch,
        options: WriteOptions = PLAIN,
        *,
        subresource: str = "",
    ) -> K:
        """Change a part of an object; with `PatchType.APPLY`, create it if it is not there."""
        ...

    async def delete(self, kind: Kind[K], name: ObjectName, options: DeleteOptions | None = None) -> K | None:
        """Ask for an object to go. Returns it if it is still there for a while or was returned, else None."""
        ...


class ContainerAddress(Struct, frozen=True):
    """Which container of which pod on which node. The uid tells a pod from one of the same name before it."""

    node: str
    """Empty for whichever node of those that are asked has the pod."""
    namespace: str
    pod: str
    pod_uid: str
    container: str
    """Of any sort: init and ephemeral containers too."""


class LogOptions(Struct, frozen=True):
    """Which part of a log, and whether to go on with what is still to come."""

    follow: bool = False
    """Go on until the container ends."""
    previous: bool = False
    """Of the container's last life before this one."""
    timestamps: bool = False
    """Begin each line with its time, RFC 3339 with nanoseconds, and a blank."""
    tail_lines: int | None = None
    """At most so many lines of the end; 0 is none of what is there."""
    since_seconds: int | None = None
    since_time: Time | None = None
    """Of the two, at most one is given."""
    limit_bytes: int | None = None
    """End after so many bytes, in the middle of a line if need be."""


class Command(Struct, frozen=True):
    """What to run in a container, and which of its streams to connect."""

    words: tuple[str, ...]
    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    """Never with a terminal: there, both outputs are one."""
    tty: bool = False


class Channel(IntEnum):
    """The streams of a command, by their numbers on the wire."""

    STDIN = 0
    STDOUT = 1
    STDERR = 2
    OUTCOME = 3
    RESIZE = 4


class Output(Struct, frozen=True):
    """A piece of what a command writes."""

    channel: Channel
    """STDOUT or STDERR."""
    body: bytes


class Execution(Protocol):
    """A command that runs in a container. Whoever started it closes it, which kills it if it still runs."""

    def output(self) -> AsyncGenerator[Output, None]:
        """What it writes to the streams that were asked for, as it comes, until it has ended. Asked for once."""
        ...

    async def send(self, piece: bytes) -> None:
        """Write to its stdin; waits while it does not read. What it can no longer read is dropped."""
        ...

    async def end_input(self) -> None:
        """Close its stdin. May be repeated."""
        ...

    async def resize(self, width: int, height: int) -> None:
        """Tell its terminal how large it is, in characters."""
        ...

    async def wait(self) -> int:
        """Its exit code, once it has ended and all it wrote was taken. Raises ApiError where it could not be run."""
        ...

    async def aclose(self) -> None:
        """Give it up. May be repeated."""
        ...


class NodeStreams(Protocol):
    """The containers of one or more nodes. A node agent answers it, in this process or through its HTTPS endpoint."""

    def serves(self, node: str) -> bool:
        """Whether the containers of this node are reached here."""
        ...

    async def open_log(self, container: ContainerAddress, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """A log, in pieces of any length; whoever stops before its end closes it.

        Refuses before the first piece: BadRequest for a container that has not started yet, or that had no life before
        this one; NotFound for a pod that is not there.
        """
        ...

    async def start(self, container: ContainerAddress, command: Command) -> Execution:
        """Run a command in a running container. Raises NotFound, or BadRequest where nothing can be run in it."""
        ...


def is_retryable(error: ApiError) -> bool:
    """Whether the same request may succeed if it is made again a little later."""
    return error.code in (429, 500, 502, 503, 504)


def get_retry_after_seconds(error: ApiError) -> int:
    """How long the server asks to wait before the request is made again; 0 where it does not say."""
    seconds: int = getattr(error, "retry_after_seconds", 0)
    return seconds


def find_parent(kind: AnyKind, subresource: str, registry: Iterable[AnyKind] = SERVED) -> AnyKind:
    """The kind whose subresource takes bodies of `kind`: Pod for a Binding posted to `binding`.

    That is `kind` itself wherever the body is the object. Raises ValueError where no kind has such a subresource.
    """
    if subresource in (each.name for each in kind.subresources):
        return kind
    for parent in registry:
        for each in parent.subresources:
            if each.name == subresource and each.kind == kind.name and (each.group or parent.group) == kind.group:
                return parent
    raise ValueError(f"no subresource {subresource!r} takes a {kind.name}")

"""What is read from containers and run in them. The node agent does it; where there is none, the answer says so."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from dray.api.core.kinds import NODE, POD
from dray.api.core.pod import Pod
from dray.client.nodeendpoint import read_log_options
from dray.client.port import Command, ContainerAddress, Execution, LogOptions, NodeStreams, Output
from dray.errors import ApiError, BadRequest, FieldError, Invalid, NotFound, ObjectRef, forbidden, invalid, required
from dray.server.desk import Desk, missing
from dray.server.endpoints import Target
from dray.server.http import Reply
from dray.server.options import Query, is_flag_set
from dray.values.fieldpath import ROOT

__all__ = ["read_log", "refuse_stream", "start_command"]

_NO_AGENT: Final = "no preferred addresses found; known addresses: []"
"""What the API server says where it knows no address of a node."""
_UPGRADE: Final = "Upgrade request required"
_SPDY: Final = "streams are served over WebSocket alone, which kubectl speaks since 1.30"


async def read_log(desk: Desk, target: Target, query: Query) -> Reply:
    """The log of a container. Empty, with 204, for a pod that is on no node."""
    options = read_log_options(query)
    faults = _check_options(options)
    if faults:
        raise Invalid(ObjectRef(kind="PodLogOptions", name=target.name), faults)
    container = _find_container(desk, target, query)
    if not container.node:
        return Reply(204, media_type="")
    pieces = await _find_streams(desk, container.node).open_log(container, options)
    return Reply(200, b"", "text/plain", stream=pieces)


async def start_command(desk: Desk, target: Target, query: Query) -> tuple[Command, Execution]:
    """Run a command in a container.

    What the node refuses is told as the outcome of the command: a refused WebSocket makes kubectl ask again over SPDY,
    and show the answer to that.
    """
    if target.subresource != "exec":
        raise refuse_stream(desk, target, query)
    command = read_command(query)
    faults = _check_command(command)
    if faults:
        raise Invalid(ObjectRef(kind="PodExecOptions", name=target.name), faults)
    container = _find_container(desk, target, query)
    if not container.node:
        raise _without_host(target)
    streams = _find_streams(desk, container.node)
    try:
        return command, await streams.start(container, command)
    except ApiError as refusal:
        return command, _Refused(refusal)


def read_command(query: Query) -> Command:
    """The parameters of a request to run a command."""
    return Command(
        tuple(query.get("command", ())),
        stdin=is_flag_set(query, "stdin"),
        stdout=is_flag_set(query, "stdout"),
        stderr=is_flag_set(query, "stderr"),
        tty=is_flag_set(query, "tty"),
    )


def refuse_stream(desk: Desk, target: Target, query: Query, upgrade: str = "") -> ApiError:
    """Why nothing can be run in a container, or reached behind an object, by what was asked with this `Upgrade`."""
    try:
        if target.endpoint.kind is not POD:
            return missing(target) if desk.view.record(target.key) is None else ApiError(_NO_AGENT)
        container = _find_container(desk, target, query if target.subresource != "portforward" else None)
        if not container.node:
            return _without_host(target)
        _find_streams(desk, container.node)
    except ApiError as refusal:
        return refusal
    if target.subresource != "exec":
        return BadRequest(f"{target.subresource} is not served")
    return BadRequest(_SPDY if upgrade.lower().startswith("spdy/") else _UPGRADE)


def _check_options(options: LogOptions) -> list[FieldError]:
    faults: list[FieldError] = []
    if options.tail_lines is not None and options.tail_lines < 0:
        faults.append(invalid(ROOT / "tailLines", options.tail_lines, "must be greater than or equal to 0"))
    if options.limit_bytes is not None and options.limit_bytes < 1:
        faults.append(invalid(ROOT / "limitBytes", options.limit_bytes, "must be greater than 0"))
    if options.since_seconds is not None and options.since_time is not None:
        faults.append(forbidden(ROOT, "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif options.since_seconds is not None and options.since_seconds < 1:
        faults.append(invalid(ROOT / "sinceSeconds", options.since_seconds, "must be greater than 0"))
    return faults


def _check_command(command: Command) -> list[FieldError]:
    if not command.words:
        return [required(ROOT / "command")]
    if not (command.stdin or command.stdout or command.stderr):
        return [required(ROOT, "at least one of stdin, stdout, stderr must be true")]
    if command.tty and command.stderr:
        return [forbidden(ROOT / "stderr", "has no stream of its own where there is a terminal")]
    return []


def _find_container(desk: Desk, target: Target, query: Query | None) -> ContainerAddress:
    """Where a container is; the container is none where `query` does not matter. Raises NotFound and BadRequest."""
    _, pod = desk.find(target._replace(subresource=""))
    assert isinstance(pod, Pod)
    name = "" if query is None else _choose_container(pod, next(iter(query.get("container", ())), ""))
    meta = pod.metadata
    return ContainerAddress(pod.spec.node_name or "", meta.namespace, meta.name, meta.uid, name)


def _choose_container(pod: Pod, name: str) -> str:
    spec = pod.spec
    regular, init = [each.name for each in spec.containers], [each.name for each in spec.init_containers]
    if name:
        if name not in (*regular, *init, *(each.name for each in spec.ephemeral_containers)):
            raise BadRequest(f"container {name} is not valid for pod {pod.metadata.name}")
        return name
    if len(regular) == 1:
        return regular[0]
    text = f"a container name must be specified for pod {pod.metadata.name}, choose one of: {_listed(regular)}"
    raise BadRequest(text + (f" or one of the init containers: {_listed(init)}" if init else ""))


def _listed(names: Sequence[str]) -> str:
    return f"[{' '.join(names)}]"


def _find_streams(desk: Desk, node: str) -> NodeStreams:
    """Who reaches the containers of a node. Raises NotFound for an unknown node, ApiError where nobody does."""
    streams = desk.nodes.find(node)
    if streams is not None:
        return streams
    if desk.view.find(NODE, "", node) is None:
        raise NotFound(f'nodes "{node}" not found', desk.routes.find_endpoint(NODE).ref("", node))
    raise ApiError(_NO_AGENT)


def _without_host(target: Target) -> BadRequest:
    return BadRequest(f"pod {target.name} does not have a host assigned")


class _Refused:
    """An `Execution` of what was never run."""

    def __init__(self, refusal: ApiError) -> None:
        self._refusal = refusal

    async def output(self) -> AsyncGenerator[Output, None]:
        pieces: Sequence[Output] = ()
        for piece in pieces:
            yield piece

    async def send(self, piece: bytes) -> None:
        """Nobody reads it."""

    async def end_input(self) -> None:
        """Nobody reads it."""

    async def resize(self, width: int, height: int) -> None:
        """There is no terminal."""

    async def wait(self) -> int:
        raise self._refusal

    async def aclose(self) -> None:
        """Nothing runs."""

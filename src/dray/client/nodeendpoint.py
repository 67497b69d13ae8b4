"""How an API server asks a node agent that runs apart: the paths and parameters of a kubelet, over HTTPS.

The endpoint is where the Node says: an address of its status, and the port of `daemonEndpoints.kubeletEndpoint`. The
server shows a client certificate of the cluster's authority for the user `SERVER_USER`, and the agent answers nobody
else. The agent shows the certificate that the Node carries in the annotation `SERVING_CERTIFICATE`, which the node
alone may write; without it, one that the cluster's authority signed for the address. A log is the body of a GET; a
command is a WebSocket that speaks `dray.client.channels`. A refusal is a Status.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote, unquote, urlencode

from dray.client.port import Command, ContainerAddress, LogOptions
from dray.errors import BadRequest, NotFound
from dray.values.quoting import quote as quote_text
from dray.values.times import TimeError, parse_time

__all__ = [
    "SERVER_USER",
    "SERVING_CERTIFICATE",
    "format_command_url",
    "format_log_url",
    "parse_command_url",
    "parse_log_url",
    "read_log_options",
]

SERVER_USER: Final = "kube-apiserver-kubelet-client"
SERVING_CERTIFICATE: Final = "dray.dev/serving-certificate"
"""Annotation of a Node: the certificate of its agent's endpoint, in PEM."""

_LOGS: Final = "containerLogs"
_EXEC: Final = "exec"
_FALSE: Final = frozenset({"false", "0", "False", "no"})
_MAX_DIGITS: Final = 18
"""Of numbers that surely fit into 64 bits."""

Query = Mapping[str, Sequence[str]]


def format_log_url(container: ContainerAddress, options: LogOptions) -> str:
    """Path and query that ask for a log."""
    asked: dict[str, object] = {
        "follow": "true" if options.follow else None,
        "previous": "true" if options.previous else None,
        "timestamps": "true" if options.timestamps else None,
        "tailLines": options.tail_lines,
        "sinceSeconds": options.since_seconds,
        "sinceTime": options.since_time,
        "limitBytes": options.limit_bytes,
    }
    query = urlencode({name: str(value) for name, value in asked.items() if value is not None})
    path = "/".join(quote(each, safe="") for each in (container.namespace, container.pod, container.container))
    return f"/{_LOGS}/{path}{'?' if query else ''}{query}"


def parse_log_url(path: str, query: Query, node: str = "") -> tuple[ContainerAddress, LogOptions]:
    """The inverse, for agents, or that of one node; the path is as it was sent. Raises NotFound for another path."""
    parts = [unquote(each) for each in path.split("/")[1:]]
    if len(parts) != 4 or parts[0] != _LOGS:
        raise NotFound(f"nothing is served at {path}")
    _, namespace, pod, container = parts
    return ContainerAddress(node, namespace, pod, "", container), read_log_options(query)


def read_log_options(query: Query) -> LogOptions:
    """The parameters of a request for a log. Raises BadRequest for a number or a time that is none."""
    since = _first(query, "sinceTime")
    try:
        since_time = parse_time(since) if since else None
    except TimeError as fault:
        raise BadRequest(f'parsing time "{since}" failed') from fault
    return LogOptions(
        follow=_is_set(query, "follow"),
        previous=_is_set(query, "previous"),
        timestamps=_is_set(query, "timestamps"),
        tail_lines=_number(query, "tailLines"),
        since_seconds=_number(query, "sinceSeconds"),
        since_time=since_time,
        limit_bytes=_number(query, "limitBytes"),
    )


def format_command_url(container: ContainerAddress, command: Command) -> str:
    """Path and query that ask to run a command."""
    asked = [("command", word) for word in command.words]
    flags = {"input": command.stdin, "output": command.stdout, "error": command.stderr, "tty": command.tty}
    asked += [(name, "1") for name, is_set in flags.items() if is_set]
    names = (container.namespace, container.pod, container.pod_uid, container.container)
    return f"/{_EXEC}/{'/'.join(quote(each, safe='') for each in names if each)}?{urlencode(asked)}"


def parse_command_url(path: str, query: Query, node: str = "") -> tuple[ContainerAddress, Command]:
    """The inverse, for agents, or that of one node; the path is as it was sent. Raises NotFound for another path."""
    parts = [unquote(each) for each in path.split("/")[1:]]
    if len(parts) not in (4, 5) or parts[0] != _EXEC:
        raise NotFound(f"nothing is served at {path}")
    uid = parts.pop(3) if len(parts) == 5 else ""
    _, namespace, pod, container = parts
    command = Command(
        tuple(query.get("command", ())),
        stdin=_is_set(query, "input"),
        stdout=_is_set(query, "output"),
        stderr=_is_set(query, "error"),
        tty=_is_set(query, "tty"),
    )
    return ContainerAddress(node, namespace, pod, uid, container), command


def _first(query: Query, name: str) -> str:
    return next(iter(query.get(name, ())), "")


def _is_set(query: Query, name: str) -> bool:
    values = query.get(name, ())
    return bool(values) and values[0] not in _FALSE


def _number(query: Query, name: str) -> int | None:
    text = _first(query, name)
    if not text:
        return None
    digits = text[1:] if text[0] in "+-" else text
    if not (digits.isascii() and digits.isdigit()):
        raise BadRequest(f"strconv.ParseInt: parsing {quote_text(text)}: invalid syntax")
    if len(digits) > _MAX_DIGITS:
        raise BadRequest(f"strconv.ParseInt: parsing {quote_text(text)}: value out of range")
    return int(text)

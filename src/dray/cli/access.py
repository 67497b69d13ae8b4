"""How verbs reach a cluster, and how they leave when they cannot."""

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from dray.app.settings import system_environment
from dray.cli.printing import render_error
from dray.cli.progress import show_progress
from dray.cli.session import get_session, is_debugging
from dray.client.port import Client, Unreachable
from dray.errors import DrayError, Forbidden, NotFound, Unauthorized

if TYPE_CHECKING:
    from dray.client.untyped import UntypedClient

__all__ = [
    "Access",
    "AllNamespaces",
    "Context",
    "Kubeconfig",
    "Namespace",
    "complain",
    "fail_with",
    "find_connected",
    "refuse",
    "run_connected",
    "run_untyped",
]

T = TypeVar("T")

Kubeconfig = Annotated[
    Path | None, typer.Option("--kubeconfig", metavar="FILE", help="How to reach the API server; else as kubectl.")
]
Context = Annotated[str, typer.Option("--context", metavar="NAME", help="Which context of the kubeconfig to use.")]
Namespace = Annotated[
    str, typer.Option("--namespace", "-n", metavar="NAME", help="Which namespace; else that of the context.")
]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="Look in every namespace.")]

_HINTS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (Unreachable, "dray up, which starts a cluster and says where its kubeconfig is; or name another by --kubeconfig"),
    (Unauthorized, "a kubeconfig with valid credentials, by --kubeconfig or KUBECONFIG"),
    (NotFound, "dray get KIND --all-namespaces, which shows what there is"),
    (Forbidden, "a user who may do this: kubectl auth can-i --list shows what yours may"),
    (OSError, "a path that is there, and that may be read and written"),
)


@dataclass(frozen=True, slots=True)
class Access:
    """Which cluster to speak to: as kubectl would, unless told otherwise."""

    kubeconfig: Path | None = None
    context: str = ""
    namespace: str = ""
    """Which namespace is meant where none is named; empty for that of the context."""


def run_connected(ctx: typer.Context, access: Access, work: Callable[[Client], Awaitable[T]], *, title: str = "") -> T:
    """Do something with a client. Leaves the command, with what is wrong and a hint, where that fails.

    With a `title` a bar of that name moves meanwhile.
    """
    from dray.app.clientwire import wire_client  # noqa: PLC0415  # verbs without a cluster start faster without HTTP

    async def connect() -> T:
        connection = wire_client(
            system_environment(), get_session(ctx).clock, kubeconfig=access.kubeconfig, context=access.context
        )
        async with connection as client:
            with show_progress(title) if title else nullcontext():
                return await work(client)

    return _run(ctx, connect())


def find_connected(ctx: typer.Context, work: Callable[[Client], Awaitable[T]], *, patience_seconds: float) -> T | None:
    """Do something with the cluster that kubectl would speak to, if it is at hand; None if it is not.

    That there is no kubeconfig is no news. A cluster that does not answer in time, or refuses, is told on standard
    error, and the command goes on.
    """
    from dray.app.clientwire import is_cluster_named, wire_client  # noqa: PLC0415  # as above

    async def connect() -> T:
        async with asyncio.timeout(patience_seconds), wire_client(environment, get_session(ctx).clock) as client:
            return await work(client)

    environment = system_environment()
    try:
        return asyncio.run(connect()) if is_cluster_named(environment) else None
    except TimeoutError:
        told = f"it does not answer within {patience_seconds:g} s"
    except DrayError as fault:
        told = str(fault)
    typer.echo(f"no cluster at hand: {told}", err=True)
    return None


def _run(ctx: typer.Context, work: Coroutine[None, None, T]) -> T:
    try:
        return asyncio.run(work)
    except DrayError as fault:
        raise fail_with(fault) from fault


def run_untyped(ctx: typer.Context, access: Access, work: "Callable[[UntypedClient, str], Awaitable[T]]") -> T:
    """The same for objects of any kind. `work` gets the namespace that is meant, too."""
    from dray.app.clientwire import wire_connected_client, wire_connection  # noqa: PLC0415  # as above
    from dray.client.untyped import UntypedClient  # noqa: PLC0415

    async def connect() -> T:
        connection = wire_connection(
            environment, kubeconfig=access.kubeconfig, context=access.context, namespace=access.namespace
        )
        async with wire_connected_client(connection, environment, get_session(ctx).clock) as client:
            return await work(UntypedClient(client), connection.namespace)

    environment = system_environment()
    return _run(ctx, connect())


def fail_with(fault: Exception, *, hint: str = "") -> typer.Exit:
    """What to raise when something could not be done: one sentence and a hint are printed, the trace if asked."""
    complain(fault, hint=hint)
    return typer.Exit(2)


def complain(fault: Exception, *, place: str = "", hint: str = "") -> None:
    """Say what could not be done, where the rest goes on. `place` is where it was asked for: `pod.yaml:3`."""
    known = next((text for kind, text in _HINTS if isinstance(fault, kind)), "")
    own = str(getattr(fault, "hint", "") or "")
    message = _describe(fault).removesuffix(f"; {own}")
    refuse(f"{place}: {message}" if place else message, hint=hint or own or known, fault=fault)


def _describe(fault: Exception) -> str:
    """What is wrong; of files, without the system's number for it."""
    if isinstance(fault, OSError) and fault.strerror:
        return f"{fault.filename}: {fault.strerror}" if fault.filename else fault.strerror
    return str(fault)


def refuse(message: str, *, hint: str = "", fault: BaseException | None = None) -> typer.Exit:
    """What to raise when the command cannot be carried out as given: it is said, with what to do instead.

    What is behind it, the fault or the exception that is being handled, is printed with its trace if asked.
    """
    behind = fault or sys.exception()
    if behind is not None and is_debugging():
        traceback.print_exception(behind, file=sys.stderr)
    typer.echo(render_error(message, hint=hint or None), nl=False, err=True)
    return typer.Exit(2)

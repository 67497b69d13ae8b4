"""How verbs reach a cluster, and how they leave when they cannot."""

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from dray.app.settings import system_environment
from dray.cli.printing import render_error
from dray.cli.session import get_session
from dray.client.port import Client, Unreachable
from dray.errors import DrayError, Forbidden, Unauthorized

__all__ = ["Access", "Context", "Kubeconfig", "fail_with", "refuse", "run_connected"]

T = TypeVar("T")

Kubeconfig = Annotated[
    Path | None, typer.Option("--kubeconfig", metavar="FILE", help="How to reach the API server; else as kubectl.")
]
Context = Annotated[str, typer.Option("--context", metavar="NAME", help="Which context of the kubeconfig to use.")]

_HINTS: Final[tuple[tuple[type[DrayError], str], ...]] = (
    (Unreachable, "dray up, which starts a cluster and says where its kubeconfig is; or name another by --kubeconfig"),
    (Unauthorized, "a kubeconfig with valid credentials, by --kubeconfig or KUBECONFIG"),
    (Forbidden, "a user who may do this: kubectl auth can-i --list shows what yours may"),
)


@dataclass(frozen=True, slots=True)
class Access:
    """Which cluster to speak to: as kubectl would, unless told otherwise."""

    kubeconfig: Path | None = None
    context: str = ""


def run_connected(ctx: typer.Context, access: Access, work: Callable[[Client], Awaitable[T]]) -> T:
    """Do something with a client. Leaves the command, with what is wrong and a hint, where that fails."""
    from dray.app.clientwire import wire_client  # noqa: PLC0415  # verbs without a cluster start faster without HTTP

    async def connect() -> T:
        connection = wire_client(
            system_environment(), get_session(ctx).clock, kubeconfig=access.kubeconfig, context=access.context
        )
        async with connection as client:
            return await work(client)

    try:
        return asyncio.run(connect())
    except DrayError as fault:
        raise fail_with(ctx, fault) from fault


def fail_with(ctx: typer.Context, fault: Exception, *, hint: str = "") -> typer.Exit:
    """What to raise when something could not be done: one sentence and a hint are printed, the trace if asked."""
    if get_session(ctx).is_debugging:
        traceback.print_exception(fault, file=sys.stderr)
    known = next((text for kind, text in _HINTS if isinstance(fault, kind)), "")
    own = str(getattr(fault, "hint", "") or "")
    return refuse(str(fault).removesuffix(f"; {own}"), hint=hint or own or known)


def refuse(message: str, *, hint: str = "") -> typer.Exit:
    """What to raise when the command cannot be carried out as given: it is said, with what to do instead."""
    typer.echo(render_error(message, hint=hint or None), nl=False, err=True)
    return typer.Exit(2)

"""`dray device`: see devices, and have simulated ones fail and heal."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from dray.api.resource.request import TaintEffect
from dray.app.settings import system_environment
from dray.cli.printing import Output, render_columns, render_error, render_json
from dray.cli.session import get_session
from dray.client.port import Client
from dray.drivers.sim.commanding import PlaceError, fail_device, heal_devices, list_device_rows, parse_place
from dray.drivers.sim.faults import Fault
from dray.errors import DrayError
from dray.values.names import label_value_faults

__all__ = ["device"]

T = TypeVar("T")

Kubeconfig = Annotated[
    Path | None, typer.Option("--kubeconfig", metavar="FILE", help="How to reach the API server; else as kubectl.")
]
Place = Annotated[str, typer.Argument(metavar="NODE/DEVICE", help="Which device.")]

device = typer.Typer(help="See devices; have simulated ones fail and heal.", no_args_is_help=True)


@device.command("list")
def list_devices(
    ctx: typer.Context,
    node: Annotated[str, typer.Argument(metavar="[NODE]", help="Only devices of this node.")] = "",
    kubeconfig: Kubeconfig = None,
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")] = Output.TEXT,
) -> None:
    """Print every published device, the claims that have it, and whether it is well.

    Devices that several nodes reach belong to none, and are listed first.
    """
    rows = _run(ctx, kubeconfig, lambda client: list_device_rows(client, node))
    if output is Output.JSON:
        typer.echo(render_json(rows), nl=False)
        return
    lines = [(each.node or "-", each.driver, each.device, ", ".join(each.claims) or "-", each.state) for each in rows]
    typer.echo(render_columns(("node", "driver", "device", "claims", "state"), lines), nl=False)


@device.command("fail")
def fail(
    ctx: typer.Context,
    place: Place,
    effect: Annotated[
        TaintEffect, typer.Option("--effect", help="What the taint does; NoExecute evicts the pods that have it.")
    ] = TaintEffect.NO_EXECUTE,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why: for NVIDIA the number of an XID, or lost.")
    ] = "",
    kubeconfig: Kubeconfig = None,
) -> None:
    """Have a simulated device fail: its driver taints it and reports it unhealthy.

    Only annotates the node. MIG devices and other parts fail with their card.
    """
    if label_value_faults(reason):
        raise _refuse(f"--reason {reason!r} must be a label value: letters, digits, dashes, dots; at most 63")
    where = parse_place(place)
    drivers = _run(ctx, kubeconfig, lambda client: fail_device(client, where, Fault(effect, reason)))
    typer.echo(f"{where} fails with {effect} ({', '.join(drivers)})\n  try: dray device heal {where}")


@device.command("heal")
def heal(
    ctx: typer.Context,
    place: Annotated[str, typer.Argument(metavar="NODE[/DEVICE]", help="Which device, or all of a node.")],
    kubeconfig: Kubeconfig = None,
) -> None:
    """Have a simulated device work again, or all of a node."""
    where = parse_place(place)
    healed = _run(ctx, kubeconfig, lambda client: heal_devices(client, where))
    for name in healed:
        typer.echo(f"{where.node}/{name} works again")
    if not healed:
        typer.echo(f"{where} had not failed")


def _run(ctx: typer.Context, kubeconfig: Path | None, work: Callable[[Client], Awaitable[T]]) -> T:
    """Do something with a client. Leaves the command, with a hint if there is one, where that fails."""
    from dray.app.clientwire import wire_client  # noqa: PLC0415  # other verbs start faster without HTTP

    async def connect() -> T:
        async with wire_client(system_environment(), get_session(ctx).clock, kubeconfig=kubeconfig) as client:
            return await work(client)

    try:
        return asyncio.run(connect())
    except DrayError as fault:
        hint = fault.hint if isinstance(fault, PlaceError) and fault.hint else None
        raise _refuse(str(fault), hint=hint) from fault


def _refuse(message: str, *, hint: str | None = None) -> typer.Exit:
    typer.echo(render_error(message, hint=hint), nl=False, err=True)
    return typer.Exit(2)

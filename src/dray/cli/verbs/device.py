"""`dray device`: see devices, and have simulated ones fail and heal."""

from typing import Annotated

import typer

from dray.api.resource.request import TaintEffect
from dray.cli.access import Access, Context, Kubeconfig, refuse, run_connected
from dray.cli.printing import Output, render_columns, render_json
from dray.drivers.sim.commanding import fail_device, heal_devices, list_device_rows, parse_place
from dray.drivers.sim.faults import Fault
from dray.values.names import label_value_faults

__all__ = ["device"]

Place = Annotated[str, typer.Argument(metavar="NODE/DEVICE", help="Which device.")]

device = typer.Typer(help="See devices; have simulated ones fail and heal.", no_args_is_help=True)


@device.command("list")
def list_devices(
    ctx: typer.Context,
    node: Annotated[str, typer.Argument(metavar="[NODE]", help="Only devices of this node.")] = "",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")] = Output.TEXT,
) -> None:
    """Print every published device, the claims that have it, and whether it is well.

    Devices that several nodes reach belong to none, and are listed first.
    """
    rows = run_connected(ctx, Access(kubeconfig, context), lambda client: list_device_rows(client, node))
    if output is Output.JSON:
        typer.echo(render_json(rows), nl=False)
        return
    lines = [(each.node or "-", each.driver, each.device, ", ".join(each.claims) or "-", each.state) for each in rows]
    typer.echo(render_columns(("node", "driver", "device", "claims", "state"), lines), nl=False)


@device.command("fail")
def fail(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    place: Place,
    effect: Annotated[
        TaintEffect, typer.Option("--effect", help="What the taint does; NoExecute evicts the pods that have it.")
    ] = TaintEffect.NO_EXECUTE,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why: for NVIDIA the number of an XID, or lost.")
    ] = "",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Have a simulated device fail: its driver taints it and reports it unhealthy.

    Only annotates the node. MIG devices and other parts fail with their card.
    """
    if label_value_faults(reason):
        raise refuse(f"--reason {reason!r} must be a label value: letters, digits, dashes, dots; at most 63")
    where = parse_place(place)
    drivers = run_connected(
        ctx, Access(kubeconfig, context), lambda client: fail_device(client, where, Fault(effect, reason))
    )
    typer.echo(f"{where} fails with {effect} ({', '.join(drivers)})\n  try: dray device heal {where}")


@device.command("heal")
def heal(
    ctx: typer.Context,
    place: Annotated[str, typer.Argument(metavar="NODE[/DEVICE]", help="Which device, or all of a node.")],
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Have a simulated device work again, or all of a node."""
    where = parse_place(place)
    healed = run_connected(ctx, Access(kubeconfig, context), lambda client: heal_devices(client, where))
    for name in healed:
        typer.echo(f"{where.node}/{name} works again")
    if not healed:
        typer.echo(f"{where} had not failed")

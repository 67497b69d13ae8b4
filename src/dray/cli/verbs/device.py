"""`dray device`: have simulated devices fail and heal."""

from typing import Annotated

import typer

from dray.api.resource.request import TaintEffect
from dray.cli.access import Access, Context, Kubeconfig, refuse, run_connected
from dray.drivers.sim.commanding import fail_device, heal_devices, parse_place
from dray.drivers.sim.faults import Fault
from dray.values.names import label_value_faults

__all__ = ["device"]

Place = Annotated[str, typer.Argument(metavar="NODE/DEVICE", help="Which device.")]

device = typer.Typer(help="Have simulated devices fail and heal.", no_args_is_help=True)


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

    \b
      dray device fail dgx-h100-0/gpu-3                        whoever has it is evicted
      dray device fail dgx-h100-0/gpu-3 --effect NoSchedule    nobody new gets it
      dray device fail t4-vm-0/gpu-0 --reason 79               for the reason that a driver gives: XID 79

    Exit codes: 0 it fails from now on, 2 there is no such device.
    """  # noqa: D301  # the mark of lines that are kept as they are
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
    """Have a simulated device work again, or all of a node.

    \b
      dray device heal dgx-h100-0/gpu-3   one device
      dray device heal dgx-h100-0         all of a node

    Exit codes: 0 it works, 2 there is no such device.
    """  # noqa: D301  # the mark of lines that are kept as they are
    where = parse_place(place)
    healed = run_connected(ctx, Access(kubeconfig, context), lambda client: heal_devices(client, where))
    for name in healed:
        typer.echo(f"{where.node}/{name} works again")
    if not healed:
        typer.echo(f"{where} had not failed")

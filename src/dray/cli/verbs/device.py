"""`dray device`: have simulated devices fail, heal and be busy; look at them as their own tools would."""

from collections.abc import Iterator
from typing import Annotated, Final

import typer

from dray.api.resource.request import TaintEffect
from dray.cli.access import Access, Context, Kubeconfig, refuse, run_connected
from dray.cli.printing import Output, render_columns, render_json
from dray.drivers.sim.commanding import (
    GpuSight,
    fail_device,
    heal_devices,
    hold_gpu,
    look_at_gpus,
    parse_place,
    release_gpus,
)
from dray.drivers.sim.faults import Fault
from dray.values.names import label_value_faults

__all__ = ["device"]

Place = Annotated[str, typer.Argument(metavar="NODE/DEVICE", help="Which device.")]
Places = Annotated[str, typer.Argument(metavar="NODE[/DEVICE]", help="Which device, or all of a node.")]

_TITLE: Final = "asking the cluster"
_HEADER: Final = ("gpu", "driver", "compute mode", "time slice", "mig", "mps daemons", "held by")

device = typer.Typer(help="Have simulated devices fail, heal and be busy; look at GPUs.", no_args_is_help=True)


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
    """Have a simulated device fail.

    Its driver taints it and reports it unhealthy. Only annotates the node. MIG devices and other parts fail with their
    card.

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
        ctx, Access(kubeconfig, context), lambda client: fail_device(client, where, Fault(effect, reason)), title=_TITLE
    )
    typer.echo(f"{where} fails with {effect} ({', '.join(drivers)})\n  try: dray device heal {where}")


@device.command("heal")
def heal(
    ctx: typer.Context,
    place: Places,
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
    healed = run_connected(ctx, Access(kubeconfig, context), lambda client: heal_devices(client, where), title=_TITLE)
    for name in healed:
        typer.echo(f"{where.node}/{name} works again")
    if not healed:
        typer.echo(f"{where} had not failed")


@device.command("show")
def show(
    ctx: typer.Context,
    place: Places,
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")] = Output.TEXT,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Look at simulated NVIDIA GPUs as nvidia-smi would show them.

    What claims have made of them stands in annotations of the node, for each GPU that is not at rest.

    \b
      dray device show dgx-h100-0           all of a node
      dray device show dgx-h100-0/gpu-3     one
      dray device show dgx-h100-0 -o json   MIG devices by name and UUID, too

    Exit codes: 0 shown, 2 there is no such node or GPU.
    """  # noqa: D301  # the mark of lines that are kept as they are
    where = parse_place(place)
    sights = run_connected(ctx, Access(kubeconfig, context), lambda client: look_at_gpus(client, where), title=_TITLE)
    if output is Output.JSON:
        typer.echo(render_json(list(map(_list_facts, sights))), nl=False)
    elif sights:
        typer.echo(render_columns(_HEADER, map(tuple, map(_describe, sights))), nl=False)
    else:
        typer.echo("no simulated NVIDIA GPUs there", err=True)


def _list_facts(sight: GpuSight) -> dict[str, object]:
    state = sight.state
    return {
        "node": sight.node,
        "gpu": sight.gpu,
        "kernelDriver": state.kernel_driver,
        "computeMode": state.compute_mode,
        "timeSlice": state.time_slice,
        "migMode": state.mig_mode,
        "instances": state.instances,
        "mpsDaemons": state.mps_daemons,
        "heldBy": sight.held_by,
    }


def _describe(sight: GpuSight) -> Iterator[str]:
    state = sight.state
    made = f": {', '.join(state.instances)}" if state.instances else ""
    yield from (sight.gpu, state.kernel_driver, str(state.compute_mode), str(state.time_slice))
    yield f"on{made}" if state.mig_mode else "off"
    yield ", ".join(state.mps_daemons)
    yield sight.held_by


@device.command("hold")
def hold(
    ctx: typer.Context,
    place: Place,
    by: Annotated[str, typer.Option("--by", metavar="TEXT", help="Who has it open, for the message.")] = "a program",
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Have a program that is no pod keep a simulated GPU open.

    Only annotates the node. The driver does not pass the GPU through to a virtual machine before it is released: it
    waits, 60 s or as long as the option busy-wait of the profile says, gives up, and is asked again.

    \b
      dray device hold dgx-h100-0/gpu-3                     it is busy from now on
      dray device hold dgx-h100-0/gpu-3 --by 'xorg (812)'   and the pod is told by whom

    Exit codes: 0 it is held from now on, 2 there is no such GPU.
    """  # noqa: D301  # the mark of lines that are kept as they are
    where = parse_place(place)
    run_connected(ctx, Access(kubeconfig, context), lambda client: hold_gpu(client, where, by), title=_TITLE)
    typer.echo(f"{where} is held by {by}\n  try: dray device release {where}")


@device.command("release")
def release(ctx: typer.Context, place: Places, kubeconfig: Kubeconfig = None, context: Context = "") -> None:
    """Have the program end that keeps a simulated GPU open.

    \b
      dray device release dgx-h100-0/gpu-3   one GPU
      dray device release dgx-h100-0         all of a node

    Exit codes: 0 it is released, 2 there is no such node.
    """  # noqa: D301  # the mark of lines that are kept as they are
    where = parse_place(place)
    released = run_connected(ctx, Access(kubeconfig, context), lambda client: release_gpus(client, where), title=_TITLE)
    for name in released:
        typer.echo(f"{where.node}/{name} is released")
    if not released:
        typer.echo(f"{where} was not held")

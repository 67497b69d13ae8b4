"""`dray devices`: who holds what."""

import sys
from typing import Annotated, Final

import msgspec
import typer

from dray.allocator.inventory import DeviceEntry
from dray.app.deviceview import DeviceChoice, DeviceView, follow_devices, read_devices
from dray.cli.access import Access, Context, Kubeconfig, refuse, run_connected
from dray.cli.colours import paint
from dray.cli.devicetree import MOST_TREES, Line, Tone, list_nodes, render_changes, render_nodes, render_tree
from dray.cli.objecttext import render_yaml
from dray.cli.printing import Listing, render_json
from dray.cli.progress import show_progress
from dray.cli.session import get_session
from dray.client.port import Client

__all__ = ["show_devices"]

_COLOURS: Final = {Tone.HEADING: "bright_black", Tone.IN_USE: "yellow", Tone.TROUBLE: "red"}
_CLEAR: Final = "\x1b[H\x1b[2J\x1b[3J"


def show_devices(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    node: Annotated[str, typer.Argument(metavar="[NODE]", help="Only devices that this node reaches.")] = "",
    driver: Annotated[str, typer.Option("--driver", metavar="NAME", help="Only devices of this driver.")] = "",
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="Only devices of pools of this name.")] = "",
    claim: Annotated[
        str,
        typer.Option(
            "--claim", metavar="NAMESPACE/NAME", help="Only devices that this claim has; '*/*' stands for all claims."
        ),
    ] = "",
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show changes: anew on a terminal, else line by line.")
    ] = False,
    output: Annotated[Listing, typer.Option("--output", "-o", help="How to print the answer.")] = Listing.TABLE,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Show who holds which device, and what ails it.

    Each node is a tree, with the claims and pods that have its devices. Of more than 20 nodes a line each is shown,
    unless NODE is given. Parts of cards that nobody has are counted; -o wide shows each, with pools and capacities.

    \b
      dray devices                              every node, device by device
      dray devices dgx-h100-0 -o wide           one node, with every part of its cards
      dray devices --claim 'demo/*'             only what the claims of a namespace have
      dray devices --driver gpu.nvidia.com -w   the devices of a driver, and every change

    Exit codes: 0 they are shown, 2 they could not be read.
    """  # noqa: D301  # the mark of lines that are kept as they are
    access = Access(kubeconfig, context)
    if claim and claim.count("/") != 1:
        raise refuse(f"{claim!r} names no claim", hint="--claim NAMESPACE/NAME")
    choice = DeviceChoice(node, driver, pool, claim)
    if not watch:
        with show_progress("reading devices"):
            view = run_connected(ctx, access, lambda client: read_devices(client, choice))
        _warn(view)
        _print(view, output, choice)
        return
    _watch(ctx, access, choice, output)


def _watch(ctx: typer.Context, access: Access, choice: DeviceChoice, output: Listing) -> None:
    session = get_session(ctx)
    writer = _Redraw(output, choice) if _is_terminal() and _is_text(output) else _Append(output)

    async def follow(client: Client) -> None:
        await follow_devices(client, choice, writer.show, clock=session.clock, log=session.log)

    run_connected(ctx, access, follow)


class _Redraw:
    """Fills the screen anew with each change."""

    def __init__(self, output: Listing, choice: DeviceChoice) -> None:
        self._output = output
        self._choice = choice

    def show(self, view: DeviceView) -> None:
        typer.echo(_CLEAR, nl=False)
        _print(view, self._output, self._choice)


class _Append:
    """Writes all devices once, then those that changed, a line each."""

    def __init__(self, output: Listing) -> None:
        self._output = output
        self._known: dict[str, DeviceEntry] = {}
        self._is_first = True

    def show(self, view: DeviceView) -> None:
        devices = {each.path: each for each in view.inventory.devices}
        changed = [each for path, each in devices.items() if self._known.get(path) != each]
        gone = [path for path in self._known if path not in devices]
        self._known = devices
        if self._output is Listing.NAME:
            typer.echo("".join(f"{each.path}\n" for each in changed), nl=False)
        elif self._output is Listing.JSON:
            for each in changed:
                typer.echo(msgspec.json.encode(each, enc_hook=str).decode())
        elif self._output is Listing.YAML:
            typer.echo("".join(f"---\n{_yaml(each)}" for each in changed), nl=False)
        else:
            _echo(render_changes(changed, with_header=self._is_first))
            typer.echo("".join(f"{path} is gone\n" for path in gone), nl=False)
        sys.stdout.flush()
        self._is_first = False


def _print(view: DeviceView, output: Listing, choice: DeviceChoice) -> None:
    devices = view.inventory.devices
    if output is Listing.JSON:
        typer.echo(render_json(view.inventory), nl=False)
    elif output is Listing.YAML:
        typer.echo(_yaml(view.inventory), nl=False)
    elif output is Listing.NAME:
        typer.echo("".join(f"{each.path}\n" for each in devices), nl=False)
    elif not devices:
        typer.echo("no devices found", err=True)
    elif len(list_nodes(devices)) > MOST_TREES and not choice.node:
        _echo(render_nodes(devices))
    else:
        _echo(render_tree(devices, is_wide=output is Listing.WIDE, has_sums=not choice.claim))


def _warn(view: DeviceView) -> None:
    for each in view.unread:
        typer.echo(f"warning: {each} may not be read; shown without", err=True)
    for each in view.inventory.incomplete:
        typer.echo(f"warning: pool {each} is being updated; it may have more devices", err=True)


def _echo(lines: list[Line]) -> None:
    for line in lines:
        typer.echo(paint(line.text, colour=_COLOURS[line.tone]) if line.tone in _COLOURS else line.text)


def _yaml(thing: object) -> str:
    return render_yaml(msgspec.to_builtins(thing, enc_hook=str))


def _is_text(output: Listing) -> bool:
    return output in (Listing.TABLE, Listing.WIDE)


def _is_terminal() -> bool:
    return sys.stdout.isatty()

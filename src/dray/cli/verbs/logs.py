"""`dray logs`: what a container writes."""

import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

import typer

from dray.cli.access import Access, Context, Kubeconfig, Namespace, refuse, run_untyped
from dray.cli.progress import show_progress
from dray.scheduler.durations import parse_seconds

if TYPE_CHECKING:
    from dray.client.untyped import UntypedClient

__all__ = ["show_logs"]


def show_logs(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    pod: Annotated[str, typer.Argument(metavar="POD", help="web, or pod/web.")],
    namespace: Namespace = "",
    container: Annotated[
        str, typer.Option("--container", "-c", metavar="NAME", help="Which container of the pod, if it has several.")
    ] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the container ends.")] = False,
    previous: Annotated[bool, typer.Option("--previous", "-p", help="Of the container's run before this one.")] = False,
    tail: Annotated[int | None, typer.Option("--tail", metavar="LINES", min=0, help="Only the last lines.")] = None,
    since: Annotated[
        str, typer.Option("--since", metavar="DURATION", help="Only what was written within 30s, 5m or 1h30m.")
    ] = "",
    timestamps: Annotated[bool, typer.Option("--timestamps", help="Begin each line with its time.")] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Print the log of a container of a pod.

    \b
      dray logs web                        all of it
      dray logs web -c sidecar -f          of one of several containers, on and on
      dray logs web --tail 20 --since 5m   only what is new

    Exit codes: 0 it is printed, 2 it could not be read.
    """  # noqa: D301  # the mark of lines that are kept as they are
    kind, _, name = pod.rpartition("/")
    if not name or kind not in ("", "pod", "pods", "po"):
        raise refuse(f"{pod} is no pod", hint="dray logs POD; dray get pods lists them")
    query = {
        "container": container,
        "follow": "true" if follow else "",
        "previous": "true" if previous else "",
        "tailLines": "" if tail is None else str(tail),
        "sinceSeconds": str(_parse_since(since)) if since else "",
        "timestamps": "true" if timestamps else "",
    }

    async def work(client: "UntypedClient", default: str) -> None:
        async with aclosing(client.open_log(default, name, query)) as pieces:
            with show_progress("waiting for the log"):
                first = await anext(pieces, b"")
            sys.stdout.buffer.write(first)
            sys.stdout.buffer.flush()
            async for piece in pieces:
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()

    run_untyped(ctx, Access(kubeconfig, context, namespace), work)


def _parse_since(text: str) -> int:
    try:
        seconds = parse_seconds(text)
    except ValueError as fault:
        raise refuse(f"--since {text} is no duration", hint="--since 5m") from fault
    if seconds <= 0:
        raise refuse("--since is longer than nothing", hint="--since 5m")
    return max(1, round(seconds))

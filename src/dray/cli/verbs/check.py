"""`dray check`: what an API server would say of these manifests."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from dray.app.offline import Report, check_offline
from dray.app.wire import wire_offline_context, wire_registry
from dray.cli.access import refuse
from dray.cli.manifests import Manifest, ManifestError, read_manifests
from dray.cli.printing import Output, render_json, render_report, render_summary
from dray.cli.progress import show_progress
from dray.cli.session import get_session

__all__ = ["check_files"]


def check_files(
    ctx: typer.Context,
    files: Annotated[
        list[str], typer.Option("--filename", "-f", metavar="FILE", help="YAML or JSON; - is standard input.")
    ],
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")] = Output.TEXT,
) -> None:
    """Check objects as an API server would, without one.

    Prints every fault of each. Fields are read strictly, defaults are filled in, then all rules are applied. What
    only a cluster knows is taken to be in order: other objects, permissions, labels of namespaces.

    \b
      dray check -f claim.yaml -f pod.yaml    several files
      kustomize build . | dray check -f -     whatever comes on standard input
      dray check -f claim.yaml -o json        for machines

    Exit codes: 0 all are valid, 1 one has faults or is none, 2 a file could not be read.
    """  # noqa: D301  # the mark of lines that are kept as they are
    session = get_session(ctx)
    registry, context = wire_registry(), wire_offline_context(session.clock)
    checked: list[tuple[Manifest, Report]] = []
    manifests = [manifest for file in files for manifest in _read(file)]
    with show_progress("checking", len(manifests)) as advance:
        for done, manifest in enumerate(manifests):
            advance(done)
            report = check_offline(manifest.json, registry, context)
            checked.append((manifest, report))
            session.log.debug("object checked", object=report.title, place=manifest.place, faults=len(report.findings))
    if output is Output.JSON:
        answer = [{"file": manifest.source, "line": manifest.line, "object": report} for manifest, report in checked]
        typer.echo(render_json(answer), nl=False)
    else:
        for manifest, report in checked:
            typer.echo(render_report(report, manifest.place), nl=False)
        typer.echo(render_summary([report for _, report in checked]), nl=False)
    if any(report.findings for _, report in checked):
        raise typer.Exit(1)


def _read(file: str) -> list[Manifest]:
    """The objects of one file. Leaves the command if there are none to be had."""
    try:
        if file == "-":
            return read_manifests(sys.stdin.buffer.read().decode(), "standard input")
        return read_manifests(Path(file).read_text(encoding="utf-8"), file)
    except OSError as fault:
        raise _refuse(f"cannot read {file}: {fault.strerror}", "check the path; - is standard input", code=2) from fault
    except UnicodeDecodeError as fault:
        raise _refuse(f"{file} is not text in UTF-8", "a file with YAML or JSON", code=1) from fault
    except ManifestError as fault:
        hint = f"dray lint -f {file}, which looks closer"
        raise _refuse(str(fault), hint, code=1) from fault


def _refuse(message: str, hint: str, *, code: int) -> typer.Exit:
    refuse(message, hint=hint)
    return typer.Exit(code)

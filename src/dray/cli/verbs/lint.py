"""`dray lint`: everything that is wrong with manifests, of whichever version."""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Annotated, Final

import typer

from dray.app.linting import OfflineJudge, ask_cluster, know_profiles
from dray.app.wire import wire_offline_context, wire_registry
from dray.authoring.findings import RULES, Finding, Severity
from dray.authoring.judging import Present, Yardstick
from dray.authoring.linting import lint
from dray.authoring.spelling import suggest
from dray.cli.access import Access, Context, Kubeconfig, find_connected, refuse, run_connected
from dray.cli.drafts import DraftFiles, read_drafts
from dray.cli.findingtext import render_findings
from dray.cli.manifestfiles import Recursive
from dray.cli.printing import render_json
from dray.cli.progress import show_progress
from dray.cli.sarif import make_sarif
from dray.cli.session import get_session

__all__ = ["lint_files"]

PATIENCE_SECONDS: Final = 3.0
"""How long a cluster may take that nobody asked for by name."""


class Form(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def lint_files(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    files: DraftFiles,
    recursive: Recursive = False,
    output: Annotated[Form, typer.Option("--output", "-o", help="How to print the findings.")] = Form.TEXT,
    cluster: Annotated[
        bool | None,
        typer.Option(
            "--cluster/--no-cluster",
            help="Ask the cluster what is published, and what is there to refer to; else only if it is at hand.",
            show_default=False,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="RULE", help="Leave the findings of a rule out.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Count warnings as faults.")] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Find all that is wrong with manifests of any version of DRA.

    What is merely worth knowing is noted too. What is known of devices comes from slices in the input and from the
    cluster that kubectl would speak to, and of drivers that neither has, from the simulated profiles.
    docs/lint-rules.md explains each rule.

    \b
      dray lint -f pod.yaml                  a file
      dray lint -f deploy/ -R --strict       a folder of folders, where warnings are faults
      dray lint -f deploy/ -o sarif          for a code host

    Exit codes: 0 no errors; 1 errors, with --strict warnings; 2 something could not be read.
    """  # noqa: D301  # the mark of lines that are kept as they are
    ignored = _check_rules(ignore or ())
    manuscripts = read_drafts(files, recursive=recursive)
    registry = wire_registry()
    judge = OfflineJudge(registry, wire_offline_context(get_session(ctx).clock))
    if cluster is None and kubeconfig is None and not context:
        with show_progress("asking the cluster"):
            answer = find_connected(ctx, ask_cluster, patience_seconds=PATIENCE_SECONDS)
    elif cluster is False:
        answer = None
    else:
        answer = run_connected(ctx, Access(kubeconfig, context), ask_cluster, title="asking the cluster")
    knowledge, present = answer or (know_profiles(), Present())
    with show_progress("reading manifests closely"):
        found = lint(manuscripts, registry, Yardstick(knowledge, judge, present))
    findings = [each for each in found if each.rule not in ignored]
    typer.echo(_render(findings, output, sum(len(list(each.drafts())) for each in manuscripts)), nl=False)
    counted = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    if any(each.severity in counted for each in findings):
        raise typer.Exit(1)


def _check_rules(names: Sequence[str]) -> Collection[str]:
    """The rules to leave out. Leaves the command for one that there is not."""
    known = [rule.name for rule in RULES]
    for name in names:
        if name not in known:
            near = suggest(name, known, cutoff=0.5)
            raise refuse(f"there is no rule {name}", hint=f"--ignore {near}" if near else "docs/lint-rules.md has all")
    return frozenset(names)


def _render(findings: Sequence[Finding], form: Form, objects: int) -> str:
    match form:
        case Form.JSON:
            return render_json(findings)
        case Form.SARIF:
            return render_json(make_sarif(findings))
        case Form.TEXT:
            return render_findings(findings, objects)

"""`dray lint`: everything that is wrong with manifests, of whichever version."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from dray.app.linting import OfflineJudge, ask_cluster, know_profiles
from dray.app.wire import wire_offline_context, wire_registry
from dray.authoring.findings import Finding, Severity
from dray.authoring.judging import Present, Yardstick
from dray.authoring.linting import lint
from dray.cli.access import Access, Context, Kubeconfig, run_connected
from dray.cli.drafts import DraftFiles, read_drafts
from dray.cli.findingtext import render_findings
from dray.cli.printing import render_json
from dray.cli.sarif import make_sarif
from dray.cli.session import get_session

__all__ = ["lint_files"]


class Form(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def lint_files(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    files: DraftFiles,
    output: Annotated[Form, typer.Option("--output", "-o", help="How to print the findings.")] = Form.TEXT,
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Ask the cluster what is published, and what is there to refer to.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Count warnings as faults.")] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Find everything that is wrong with manifests of any version of DRA, or worth knowing, in one go.

    What is known of devices comes from slices in the input and from the simulated profiles; from a cluster instead with
    --cluster, --kubeconfig or --context. docs/lint-rules.md explains each rule. Ends in 1 if there are errors, with
    --strict if there are warnings.
    """
    manuscripts = read_drafts(files)
    registry = wire_registry()
    judge = OfflineJudge(registry, wire_offline_context(get_session(ctx).clock))
    if cluster or kubeconfig is not None or context:
        knowledge, present = run_connected(ctx, Access(kubeconfig, context), ask_cluster)
    else:
        knowledge, present = know_profiles(), Present()
    findings = lint(manuscripts, registry, Yardstick(knowledge, judge, present))
    typer.echo(_render(findings, output, sum(len(list(each.drafts())) for each in manuscripts)), nl=False)
    counted = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    if any(each.severity in counted for each in findings):
        raise typer.Exit(1)


def _render(findings: Sequence[Finding], form: Form, objects: int) -> str:
    match form:
        case Form.JSON:
            return render_json(findings)
        case Form.SARIF:
            return render_json(make_sarif(findings))
        case Form.TEXT:
            return render_findings(findings, objects)

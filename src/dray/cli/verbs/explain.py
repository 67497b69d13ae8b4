"""`dray explain`: why a pod or a claim waits, or where it would go."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated, Final

import msgspec
import typer

from dray.api.core.kinds import POD
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.app.clientwire import wire_connection
from dray.app.explaining import Answer, Subject, explain_manifests, explain_subject
from dray.app.offline import check_offline, complete_offline
from dray.app.settings import system_environment
from dray.app.wire import wire_offline_context, wire_registry
from dray.cli.access import Access, Context, Kubeconfig, Namespace, refuse, run_connected
from dray.cli.accounts import render_account
from dray.cli.manifestfiles import load_manifests
from dray.cli.manifests import Manifest
from dray.cli.objecttext import render_yaml
from dray.cli.printing import render_json, render_report
from dray.cli.progress import show_progress
from dray.cli.session import get_session
from dray.client.port import Client, ObjectName

__all__ = ["explain"]

_NAMES: Final[dict[str, AnyKind]] = {
    "pod": POD,
    "pods": POD,
    "po": POD,
    "claim": RESOURCE_CLAIM,
    "claims": RESOURCE_CLAIM,
    "resourceclaim": RESOURCE_CLAIM,
    "resourceclaims": RESOURCE_CLAIM,
}


class Form(StrEnum):
    """How an explanation is printed."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


def explain(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    what: Annotated[str, typer.Argument(metavar="[pod|claim]", help="What to explain.")] = "",
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Its name.")] = "",
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--filename", "-f", metavar="FILE", help="Explain pods and claims of manifests that are not applied."
        ),
    ] = None,
    namespace: Namespace = "",
    output: Annotated[Form, typer.Option("--output", "-o", help="How to print the answer.")] = Form.TEXT,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Say why a pod or a claim waits, and what would help.

    Of one that fits it says where it would go, and which devices it would get. Everything is read from the API
    server and decided in memory, as the scheduler would; nothing is written. Works on any cluster.
    docs/explain-codes.md lists the codes.

    \b
      dray explain pod web             why it waits, or what it has
      dray explain claim gpu -n demo   a claim by itself
      dray explain -f pod.yaml         where it would go if it were applied
      dray explain pod web -o json     for machines

    Exit codes: 0 it is placed, or would be; 1 something waits; 2 it could not be explained.
    """  # noqa: D301  # the mark of lines that are kept as they are
    access = Access(kubeconfig, context, namespace)
    if bool(files) == bool(what or name):
        raise refuse("nothing to explain" if not files else "either a name or -f", hint="dray explain pod NAME")
    if files:
        manifests = load_manifests(files)
        _check(ctx, manifests)
        work = _explain_files(ctx, access, manifests)
    else:
        kind, name = _read_subject(what, name)
        work = _explain_name(ctx, access, kind, name)
    with show_progress("reading the cluster"):
        answer = run_connected(ctx, access, work)
    for each in answer.unread:
        typer.echo(f"warning: {each} may not be read; explained as if there were none", err=True)
    _print(answer, output)
    if not all(each.is_well for each in answer.accounts):
        raise typer.Exit(1)


def _read_subject(what: str, name: str) -> tuple[AnyKind, str]:
    """`pod NAME` or `pod/NAME`."""
    if "/" in what and not name:
        what, _, name = what.partition("/")
    kind = _NAMES.get(what.lower())
    if kind is None:
        raise refuse(f"{what!r} is not explained", hint="dray explain pod NAME, or dray explain claim NAME")
    if not name:
        raise refuse(f"which {what}?", hint=f"dray explain {what} NAME")
    return kind, name


def _check(ctx: typer.Context, manifests: list[Manifest]) -> None:
    """Leave the command where an object would not be taken at all."""
    registry, offline = wire_registry(), wire_offline_context(get_session(ctx).clock)
    reports = [(check_offline(each.json, registry, offline), each.place) for each in manifests]
    broken = [render_report(report, place) for report, place in reports if report.findings]
    if broken:
        typer.echo("".join(broken), nl=False, err=True)
        raise typer.Exit(2)


Work = Callable[[Client], Awaitable[Answer]]


def _explain_name(ctx: typer.Context, access: Access, kind: AnyKind, name: str) -> Work:
    async def work(client: Client) -> Answer:
        subject = Subject(kind, ObjectName(name, _find_namespace(access)))
        return await explain_subject(client, subject, get_session(ctx).clock)

    return work


def _explain_files(ctx: typer.Context, access: Access, manifests: list[Manifest]) -> Work:
    async def work(client: Client) -> Answer:
        clock = get_session(ctx).clock
        registry, offline = wire_registry(), wire_offline_context(clock)
        default = _find_namespace(access)
        found = (complete_offline(each.json, registry, offline, default) for each in manifests)
        things: list[tuple[AnyKind, ApiObject]] = [each for each in found if each is not None]
        return await explain_manifests(client, things, clock)

    return work


def _find_namespace(access: Access) -> str:
    """The namespace that is meant."""
    connection = wire_connection(
        system_environment(), kubeconfig=access.kubeconfig, context=access.context, namespace=access.namespace
    )
    return connection.namespace


def _print(answer: Answer, output: Form) -> None:
    if output is Form.TEXT:
        typer.echo("\n".join(map(render_account, answer.accounts)), nl=False)
    elif output is Form.JSON:
        typer.echo(render_json(answer), nl=False)
    else:
        typer.echo(render_yaml(msgspec.to_builtins(answer)), nl=False)

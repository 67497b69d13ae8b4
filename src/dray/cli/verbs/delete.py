"""`dray delete`: have objects go, by manifest or by name."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from dray.api.meta import DeleteOptions
from dray.cli.access import Access, Context, Kubeconfig, Namespace, complain, refuse, run_untyped
from dray.cli.manifestfiles import ManifestHead, Recursive, load_manifests, read_head
from dray.cli.progress import show_progress
from dray.cli.targets import Target, parse_targets
from dray.errors import ApiError, DrayError, Forbidden, NotFound

if TYPE_CHECKING:
    from dray.client.resources import Resource, Resources
    from dray.client.untyped import Selection, UntypedClient

__all__ = ["delete_objects"]


def delete_objects(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    what: Annotated[list[str] | None, typer.Argument(metavar="[KIND NAME]...", help="pod web, or pod/web.")] = None,
    files: Annotated[
        list[str] | None,
        typer.Option("--filename", "-f", metavar="FILE", help="What these manifests name; - is standard input."),
    ] = None,
    recursive: Recursive = False,
    namespace: Namespace = "",
    labels: Annotated[
        str, typer.Option("--selector", "-l", metavar="LABELS", help="Of the kind, those with these labels.")
    ] = "",
    all_of_kind: Annotated[bool, typer.Option("--all", help="Of the kind, all in the namespace.")] = False,
    grace_period: Annotated[
        int | None, typer.Option("--grace-period", metavar="SECONDS", min=0, help="How long pods may take to end.")
    ] = None,
    ignore_not_found: Annotated[
        bool, typer.Option("--ignore-not-found", help="Be content where there is nothing to delete.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Whether to wait until they are gone.")] = True,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Delete objects by manifest or name; wait until they are gone.

    \b
      dray delete pod web                one by name
      dray delete -f pod.yaml            whatever a file names
      dray delete pods -l app=web        those with a label
      dray delete pods --all --no-wait   all of the namespace, without waiting

    Exit codes: 0 it is gone, or asked to go with --no-wait; 2 something is not.
    """  # noqa: D301  # the mark of lines that are kept as they are
    targets = parse_targets(what) if what else []
    is_many = all_of_kind or bool(labels)
    if bool(targets) == bool(files):
        raise refuse("what to delete is named, or in a file", hint="dray delete pod web, or dray delete -f FILE")
    if targets and is_many == any(each.names for each in targets):
        raise refuse("a kind alone is not deleted, nor names with a selector", hint="a name, or -l LABELS, or --all")
    heads = [read_head(each) for each in load_manifests(files or [], recursive=recursive)]
    options = DeleteOptions(grace_period_seconds=grace_period, propagation_policy="Background")
    deleting = _Deleting(targets, heads, labels, options, is_forgiving=ignore_not_found)

    async def work(client: "UntypedClient", default: str) -> None:
        deleted = await deleting.delete(client, default)
        if wait and deleted:
            await _wait_gone(client, deleted)

    run_untyped(ctx, Access(kubeconfig, context, namespace), work)
    if deleting.failures:
        raise typer.Exit(2)


@dataclass
class _Deleting:
    """One run: what is to go, and what came of it."""

    targets: Sequence[Target]
    heads: Sequence[ManifestHead]
    labels: str
    options: DeleteOptions
    is_forgiving: bool
    failures: int = 0
    _deleted: "list[tuple[Resource, Selection, str]]" = field(default_factory=list)
    _namespaces: set[str] = field(default_factory=set)
    """Those that go, with everything in them."""

    async def delete(self, client: "UntypedClient", default: str) -> "list[tuple[Resource, Selection, str]]":
        """Ask for everything to go, and say so; what was there, with its uids."""
        with show_progress("deleting") as advance:
            resources = await client.discover()
            for target in self.targets:
                resource = resources.find(target.word)
                names = target.names or await self._list_names(client, resource, default)
                for done, name in enumerate(names):
                    advance(done, len(names))
                    await self._delete_one(client, resource, default, name)
            for done, head in enumerate(self.heads):
                advance(done, len(self.heads))
                await self._delete_named(client, resources, default, head)
        return self._deleted

    async def _list_names(self, client: "UntypedClient", resource: "Resource", default: str) -> list[str]:
        from dray.client.untyped import Selection  # noqa: PLC0415  # help is printed without loading HTTP

        selection = Selection(namespace=default if resource.is_namespaced else "", labels=self.labels)
        names = [row.place.name for row in (await client.get_table(resource, selection)).rows]
        if not names:
            typer.echo("No resources found.", err=True)
        return names

    async def _delete_named(
        self, client: "UntypedClient", resources: "Resources", default: str, head: ManifestHead
    ) -> None:
        try:
            resource = resources.find_kind(head.api_version, head.kind)
        except DrayError as fault:
            self._fail(fault)
            return
        await self._delete_one(client, resource, head.metadata.namespace or default, head.metadata.name)

    async def _delete_one(self, client: "UntypedClient", resource: "Resource", namespace: str, name: str) -> None:
        from dray.client.untyped import Selection  # noqa: PLC0415  # as above

        try:
            place = await client.delete(resource.path(namespace, name), self.options, {})
        except (ApiError, DrayError) as fault:
            # What lay in a namespace that goes may be gone before its turn comes.
            is_gone_with_it = resource.is_namespaced and namespace in self._namespaces
            if isinstance(fault, NotFound) and is_gone_with_it:
                typer.echo(f"{resource.title}/{name} deleted")
            elif not (isinstance(fault, NotFound) and self.is_forgiving):
                self._fail(fault)
            return
        if resource.plural == "namespaces" and not resource.group:
            self._namespaces.add(name)
        selection = Selection(namespace=namespace if resource.is_namespaced else "", name=name)
        self._deleted.append((resource, selection, place.uid))
        typer.echo(f"{resource.title}/{name} deleted")

    def _fail(self, fault: DrayError) -> None:
        self.failures += 1
        complain(fault)


async def _wait_gone(client: "UntypedClient", deleted: "Sequence[tuple[Resource, Selection, str]]") -> None:
    with show_progress("waiting until all are gone", len(deleted)) as advance:
        for done, (resource, selection, uid) in enumerate(deleted):
            advance(done)
            try:
                await client.wait_gone(resource, selection, uid)
            except Forbidden:
                return  # who may delete but not look is content with having asked

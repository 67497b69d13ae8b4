"""`dray get`: objects as the server shows them."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from dray.cli.access import Access, AllNamespaces, Context, Kubeconfig, Namespace, refuse, run_untyped
from dray.cli.objecttext import ObjectOutput, TableText, render_names, render_objects
from dray.cli.printing import Listing
from dray.cli.progress import Advance, show_progress
from dray.cli.targets import Target, parse_targets

if TYPE_CHECKING:
    from dray.client.resources import Resource, Resources
    from dray.client.untyped import Selection, TableAnswer, UntypedClient

__all__ = ["get_objects"]

Labels = Annotated[str, typer.Option("--selector", "-l", metavar="LABELS", help="Only those with these labels.")]


def get_objects(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    what: Annotated[
        list[str], typer.Argument(metavar="KIND [NAME]...", help="pods, pod web, pod/web or pods,resourceclaims.")
    ],
    namespace: Namespace = "",
    all_namespaces: AllNamespaces = False,
    labels: Labels = "",
    fields: Annotated[
        str, typer.Option("--field-selector", metavar="FIELDS", help="Only those with these fields.")
    ] = "",
    output: Annotated[Listing, typer.Option("--output", "-o", help="How to print them.")] = Listing.TABLE,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on with every change.")] = False,
    no_headers: Annotated[bool, typer.Option("--no-headers", help="Leave the headings of tables out.")] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Print objects of any kind, as the server's tables or whole.

    \b
      dray get pods -A                          the pods of every namespace
      dray get pod web -o yaml                  one, whole
      dray get pods,resourceclaims -l app=web   of several kinds those with a label
      dray get resourceclaims -w                and every change from then on

    Exit codes: 0 it is printed, or there is nothing of the kind; 2 it could not be read.
    """  # noqa: D301  # the mark of lines that are kept as they are
    targets = parse_targets(what)
    is_one = len(targets) == 1 and len(targets[0].names) <= 1
    if watch and not (is_one and output in (Listing.TABLE, Listing.WIDE, Listing.NAME)):
        raise refuse("--watch shows one kind, or one object, as table, wide or name", hint="dray get pods --watch")
    if any(each.names for each in targets) and (all_namespaces or labels or fields):
        raise refuse("a name goes with one namespace and no selector", hint="leave the name out, or the selector")
    reading = _Reading(
        output, labels=labels, fields=fields, is_everywhere=all_namespaces, is_watching=watch, has_header=not no_headers
    )

    async def work(client: "UntypedClient", default: str) -> None:
        with show_progress("asking what there is"):
            resources = await client.discover()
        if output in (Listing.JSON, Listing.YAML):
            await reading.print_whole(client, resources, targets, default)
        else:
            await reading.print_tables(client, resources, targets, default)

    run_untyped(ctx, Access(kubeconfig, context, namespace), work)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How objects are chosen and shown."""

    output: Listing
    labels: str
    fields: str
    is_everywhere: bool
    is_watching: bool
    has_header: bool

    async def print_whole(
        self, client: "UntypedClient", resources: "Resources", targets: Sequence[Target], default: str
    ) -> None:
        """All objects as one text."""
        objects: list[tuple[Resource, bytes]] = []
        for target in targets:
            resource = resources.find(target.word)
            with show_progress(f"reading {resource.plural}") as advance:
                for selection in self._select(resource, target, default):
                    objects += [(resource, body) for body in await client.get_objects(resource, selection, advance)]
        is_one = len(targets) == 1 and len(targets[0].names) == 1
        typer.echo(render_objects(objects, ObjectOutput(self.output), as_list=not is_one), nl=False)

    async def print_tables(
        self, client: "UntypedClient", resources: "Resources", targets: Sequence[Target], default: str
    ) -> None:
        """A table for each kind; then changes, if asked."""
        has_printed = is_in_cluster = False
        for target in targets:
            resource = resources.find(target.word)
            is_in_cluster = is_in_cluster or not resource.is_namespaced
            selections = self._select(resource, target, default)
            with show_progress(f"reading {resource.plural}") as advance:
                table = await self._read(client, resource, selections, advance)
            if has_printed and table.rows and self.output is not Listing.NAME:
                typer.echo("")
            has_printed = has_printed or bool(table.rows)
            prefix = f"{resource.title}/" if len(targets) > 1 else ""
            text = self._print(resource, table, prefix)
            if self.is_watching:
                await self._follow(client, resource, selections[0], (table, text))
        if not has_printed and not self.is_watching:
            where = "" if self.is_everywhere or is_in_cluster else f" in {default} namespace"
            typer.echo(f"No resources found{where}.", err=True)

    def _select(self, resource: "Resource", target: Target, default: str) -> "list[Selection]":
        from dray.client.untyped import Selection  # noqa: PLC0415  # help is printed without loading HTTP

        namespace = "" if self.is_everywhere or not resource.is_namespaced else default
        if target.names:
            return [Selection(namespace=namespace, name=name) for name in target.names]
        return [Selection(namespace=namespace, labels=self.labels, fields=self.fields)]

    async def _read(
        self, client: "UntypedClient", resource: "Resource", selections: "Sequence[Selection]", advance: Advance
    ) -> "TableAnswer":
        first, *more = [await client.get_table(resource, selection, advance) for selection in selections]
        return replace(first, rows=(*first.rows, *(row for table in more for row in table.rows)))

    def _print(self, resource: "Resource", table: "TableAnswer", prefix: str) -> TableText:
        shows_namespace = self.is_everywhere and resource.is_namespaced
        is_wide = self.output is Listing.WIDE
        text = TableText(table, is_wide=is_wide, shows_namespace=shows_namespace, prefix=prefix)
        if self.output is Listing.NAME:
            typer.echo(render_names([(resource, row.place.name) for row in table.rows]), nl=False)
        elif table.rows or self.is_watching:
            header = text.header() if self.has_header else ""
            typer.echo(header + text.rows(table.rows), nl=False)
        return text

    async def _follow(
        self,
        client: "UntypedClient",
        resource: "Resource",
        selection: "Selection",
        shown: "tuple[TableAnswer, TableText]",
    ) -> None:
        """Print every change, until interrupted."""
        table, text = shown
        version = table.metadata.resource_version
        while True:
            async with aclosing(client.watch_table(resource, selection, version)) as events:
                async for event in events:
                    rows = event.table.rows
                    version = next((row.place.resource_version for row in rows), "") or version
                    named = [(resource, row.place.name) for row in rows]
                    typer.echo(render_names(named) if self.output is Listing.NAME else text.rows(rows), nl=False)

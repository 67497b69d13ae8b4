"""`dray apply`: have objects as manifests say, by the server's own merging."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from dray.cli.access import Access, Context, Kubeconfig, Namespace, complain, run_untyped
from dray.cli.manifestfiles import Filenames, ManifestHead, Recursive, load_manifests, read_head
from dray.cli.manifests import Manifest
from dray.cli.objecttext import ObjectOutput, render_objects
from dray.cli.progress import show_progress
from dray.errors import ApiError, Conflict, DrayError

if TYPE_CHECKING:
    from dray.client.resources import Resource, Resources
    from dray.client.untyped import UntypedClient

__all__ = ["apply_files"]


class _Misplaced(DrayError):
    """An object cannot be put where it is to go."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def apply_files(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    files: Filenames,
    recursive: Recursive = False,
    namespace: Namespace = "",
    force_conflicts: Annotated[
        bool, typer.Option("--force-conflicts", help="Take over fields that others have set.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Have everything checked, and nothing changed.")] = False,
    output: Annotated[
        ObjectOutput | None, typer.Option("--output", "-o", help="Print the objects as they are then.")
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Create objects, or change them to what manifests say.

    Objects come in the order in which they are written. Merging is the server's (server-side apply), with `dray` as
    the manager of fields. What fails is said, and the rest goes on.

    \b
      dray apply -f pod.yaml                       what a file says
      dray apply -f deploy/ -R -n demo             a folder of folders, in another namespace than the context's
      dray convert -f old.yaml | dray apply -f -   from standard input
      dray apply -f pod.yaml --dry-run -o yaml     as it would be, with all defaults

    Exit codes: 0 everything is applied, 2 something is not.
    """  # noqa: D301  # the mark of lines that are kept as they are
    manifests = [(each, read_head(each)) for each in load_manifests(files, recursive=recursive)]
    applying = _Applying(namespace, is_forced=force_conflicts, is_dry_run=dry_run, is_quiet=output is not None)

    async def work(client: "UntypedClient", default: str) -> None:
        with show_progress("applying", len(manifests)) as advance:
            resources = await client.discover()
            for done, (manifest, head) in enumerate(manifests):
                advance(done)
                await applying.apply(client, resources, default, (manifest, head))

    run_untyped(ctx, Access(kubeconfig, context, namespace), work)
    if output is not None and applying.applied:
        typer.echo(render_objects(applying.applied, output), nl=False)
    if applying.failures:
        raise typer.Exit(2)


@dataclass
class _Applying:
    """One run: how things are applied, and what came of it."""

    namespace: str
    """What the flag says: objects may not name another."""
    is_forced: bool
    is_dry_run: bool
    is_quiet: bool
    applied: "list[tuple[Resource, bytes]]" = field(default_factory=list)
    failures: int = 0

    async def apply(
        self, client: "UntypedClient", resources: "Resources", default: str, what: tuple[Manifest, ManifestHead]
    ) -> None:
        """Apply one object, and say so; `default` is the namespace of those that name none."""
        manifest, head = what
        try:
            resource = resources.find_kind(head.api_version, head.kind)
            path = self._find_path(resource, default, head)
            answer = await client.apply(path, manifest.json, self._query)
        except (ApiError, DrayError) as fault:
            self.failures += 1
            hint = "--force-conflicts, which takes the fields over" if isinstance(fault, Conflict) else ""
            complain(fault, place=manifest.place, hint=hint)
            return
        for warning in answer.warnings:
            typer.echo(f"warning: {warning}", err=True)
        self.applied.append((resource, answer.body))
        if not self.is_quiet:
            done = "created" if answer.is_new else "applied"
            typer.echo(f"{resource.title}/{head.metadata.name} {done}{' (dry run)' if self.is_dry_run else ''}")

    def _find_path(self, resource: "Resource", default: str, head: ManifestHead) -> str:
        meta = head.metadata
        if not meta.name:
            why = "with generateName every apply would make another" if meta.generate_name else "it has no name"
            raise _Misplaced(f"{head.kind} cannot be applied: {why}", "metadata.name")
        if self.namespace and meta.namespace not in ("", self.namespace) and resource.is_namespaced:
            text = f"{head.kind} {meta.name} belongs to namespace {meta.namespace}, not to {self.namespace}"
            raise _Misplaced(text, f"--namespace {meta.namespace}, or none")
        return resource.path(meta.namespace or default, meta.name)

    @property
    def _query(self) -> dict[str, str]:
        return {
            "fieldManager": "dray",
            "force": "true" if self.is_forced else "",
            "dryRun": "All" if self.is_dry_run else "",
        }

"""The table of verbs. A verb's module is loaded when the verb is used, so that each starts as fast as it can.

What `dray --help` says of a verb stands here, because it is printed without loading any; a test holds it to the first
sentence of the verb's own help.
"""

from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

__all__ = ["VERBS", "Verb", "VerbGroup", "load_verb"]


class Verb(NamedTuple):
    """Where a verb is: `module:name` below `dray.cli.verbs`, of a function or of a group. And what it does."""

    place: str
    help: str


VERBS: Final[dict[str, Verb]] = {
    "apply": Verb("apply:apply_files", "Create objects, or change them to what manifests say."),
    "backup": Verb("backup:write_backup", "Copy all objects into a file, while dray runs or not."),
    "bench": Verb("bench:bench", "Measure how fast dray is on this machine."),
    "check": Verb("check:check_files", "Check objects as an API server would, without one."),
    "config": Verb("config:config", "See the settings in force."),
    "convert": Verb("convert:convert_files", "Rewrite manifests of any version of DRA for v1."),
    "delete": Verb("delete:delete_objects", "Delete objects by manifest or name; wait until they are gone."),
    "demo": Verb("demo:run_demo", "Show what dray does, on clusters that come and go."),
    "device": Verb("device:device", "Have simulated devices fail, heal and be busy; look at GPUs."),
    "devices": Verb("devices:show_devices", "Show who holds which device, and what ails it."),
    "down": Verb("down:end", "End what runs on a data directory, in good order, and wait for it."),
    "driver": Verb("driver:driver", "Write drivers of devices."),
    "explain": Verb("explain:explain", "Say why a pod or a claim waits, and what would help."),
    "get": Verb("get:get_objects", "Print objects of any kind, as the server's tables or whole."),
    "lint": Verb("lint:lint_files", "Find all that is wrong with manifests of any version of DRA."),
    "logs": Verb("logs:show_logs", "Print the log of a container of a pod."),
    "restore": Verb("backup:restore_file", "Put a backup in the place of all objects; dray must not run."),
    "status": Verb("status:show_status", "Say what runs on a data directory, and what is in the cluster."),
    "up": Verb("up:run", "Run a cluster until interrupted, or in the background."),
    "version": Verb("version:show_version", "Say which version of dray this is, and which Kubernetes it follows."),
}


class VerbGroup(TyperGroup):
    """The root command: lists verbs from the table, and loads the one that is used."""

    def __init__(self, **attrs: Any) -> None:  # noqa: ANN401  # whatever typer hands to groups
        super().__init__(**attrs)
        for name, verb in VERBS.items():
            self.add_command(TyperCommand(name, help=verb.help, rich_markup_mode=None))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401  # typer keeps its types to itself
        """See `TyperGroup.resolve_command`; what comes out can be run."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_verb(name) if name in VERBS else command, rest


def load_verb(name: str) -> TyperCommand | TyperGroup:
    """A verb with all its options."""
    module, _, attribute = VERBS[name].place.partition(":")
    found = getattr(import_module(f"dray.cli.verbs.{module}"), attribute)
    around = typer.Typer(rich_markup_mode=None, add_completion=False)
    if isinstance(found, typer.Typer):
        around.add_typer(found, name=name)
    else:
        around.command(name)(found)
    command = get_group(around).commands[name]
    assert isinstance(command, TyperCommand | TyperGroup)
    return command

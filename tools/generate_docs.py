"""Write the pages of docs/reference from what the program itself declares: `make docs`."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from dray import errors
from dray.api.registry import SERVED, AnyKind
from dray.app.settings import FILE_VARIABLE, SETTINGS
from dray.cli.main import app
from dray.cli.verbtable import load_verb
from dray.driver import DriverOptions
from dray.drivers.sim.catalog import find_profile, list_profiles, parse_equipment
from dray.errors import ApiError, FieldError, FieldReason
from dray.values.fieldpath import ROOT

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
NOTE = "Written by `make docs`; edit what it is made from.\n"
FACES = {"COLUMNS": "100"}


def render_index() -> str:
    return (
        f"# Reference\n\n{NOTE}\n"
        "- [The command](cli.md): every verb with its options.\n"
        "- [Settings](settings.md): names, defaults, units, variables.\n"
        "- [Errors](errors.md): reasons and codes.\n"
        "- [Kinds](kinds.md): everything that can be read and checked.\n"
        "- [Profiles](profiles.md): machines that can be simulated, with their options.\n"
    )


def list_verbs() -> Iterator[list[str]]:
    """Every path of the command, groups before what is in them."""
    pending: list[tuple[list[str], object]] = [([], get_command(app))]
    while pending:
        path, command = pending.pop(0)
        yield path
        if isinstance(command, TyperGroup):
            pending += [([*path, name], each if path else load_verb(name)) for name, each in command.commands.items()]


def render_help(path: list[str]) -> str:
    """What `--help` prints, on a page of 100 columns."""
    return CliRunner().invoke(app, [*path, "--help"], prog_name="dray", env=FACES).output


def render_cli() -> str:
    verbs = (f"## {' '.join(['dray', *path])}\n\n```text\n{render_help(path).rstrip()}\n```\n" for path in list_verbs())
    return "\n".join([f"# The command\n\n{NOTE}", *verbs])


def render_settings() -> str:
    rows = "".join(
        f"| `{each.name}` | `{each.default}` | {each.unit} | `{each.variable}` | {each.description} |\n"
        for each in SETTINGS.values()
    )
    return (
        f"# Settings\n\n{NOTE}\n"
        "A value comes from the default, the settings file, the variable or a flag; the last that names it wins.\n"
        f"The file is YAML, named by `--config` or `{FILE_VARIABLE}`; a dot is a level: `log: {{level: debug}}`.\n"
        "`dray config show` prints the values in force and where each came from.\n\n"
        f"| Name | Default | Unit | Variable | Meaning |\n| --- | --- | --- | --- | --- |\n{rows}\n"
        f"{render_driver_options()}"
    )


def render_driver_options() -> str:
    """The flags and variables of programs made by `dray.driver.run`."""
    rows = ""
    for name, hint in get_type_hints(DriverOptions, include_extras=True).items():
        if not hasattr(hint, "__metadata__"):
            continue  # follows from the others
        meaning, _, variable = hint.__metadata__[0].description.rstrip("]").rpartition(" [")
        default = getattr(DriverOptions(), name)
        rows += (
            f"| `--{name.replace('_', '-')}` | `{variable}` | {f'`{default}`' if default != '' else ''} | {meaning} |\n"
        )
    return (
        "## Options of driver programs\n\n"
        "A driver made with `dray.driver.run` has these flags; each may also be given as a variable. A flag wins.\n\n"
        f"| Flag | Variable | Default | Meaning |\n| --- | --- | --- | --- |\n{rows}"
    )


def render_kind(kind: AnyKind) -> str:
    versions = ", ".join(
        f"{version.name} (deprecated)" if version.deprecation else version.name for version in kind.versions
    )
    scope = "namespaced" if kind.is_namespaced else "cluster"
    facts = {
        "API group": kind.group or "core",
        "Versions": versions,
        "Resource": f"`{kind.plural}`, {scope}",
        "Short names": ", ".join(kind.short_names),
        "Subresources": ", ".join(each.name for each in kind.subresources),
        "Columns": ", ".join(column.name for column in kind.columns),
        "Field selectors": ", ".join(f"`{name}`" for name in kind.field_selectors),
    }
    rows = "".join(f"| {name} | {value} |\n" for name, value in facts.items() if value)
    return f"## {kind.name}\n\n{inspect.cleandoc(kind.struct.__doc__ or '')}\n\n| | |\n| --- | --- |\n{rows}"


def render_kinds() -> str:
    return "\n".join([f"# Kinds\n\n{NOTE}", *(render_kind(kind) for kind in SERVED)])


def render_profile(name: str) -> str:
    """One profile: what a node of it has, and the options that change it."""
    profile = find_profile(name)
    equipment = parse_equipment(name)
    pools = [*equipment.pools("n"), *equipment.shared_pools()]
    offered = ", ".join(f"`{driver}` with {len(pool.devices)}" for driver, pool in pools)
    written = (option.replace("|", "\\|") for part in profile.parts for option in part.options())  # a cell of a table
    options = ", ".join(f"`{option}`" for option in written)
    together = f" Nodes that belong together: {profile.nodes}." if profile.nodes > 1 else ""
    doubts = f" Not confirmed by a primary source: {'; '.join(profile.unconfirmed)}." if profile.unconfirmed else ""
    return (
        f"## {name}\n\n{profile.title}.{together}\n\n| | |\n| --- | --- |\n"
        + (f"| Drivers and their devices | {offered} |\n" if offered else "")
        + (f"| Options | {options} |\n" if options else "")
        + f"| Classes | {', '.join(f'`{each.metadata.name}`' for each in equipment.classes()) or 'none'} |\n"
        + (f"\n{doubts.strip()}\n" if doubts else "")
    )


def render_profiles() -> str:
    return "\n".join(
        [
            f"# Profiles\n\n{NOTE}\n"
            "What `dray up --nodes` simulates. Options follow a colon, joined by commas; several profiles on one\n"
            "node are joined by `+`; a number at the end counts nodes: `dgx-h100:mig+rdma-nic:4`. `control-plane` is\n"
            "a node without devices that pods keep away from.\n",
            *(render_profile(name) for name in list_profiles()),
        ]
    )


def list_api_errors() -> list[type[ApiError]]:
    """Every error a request may end in, by code."""
    exported = [getattr(errors, name) for name in errors.__all__]
    found = [each for each in exported if isinstance(each, type) and issubclass(each, ApiError)]
    found.remove(ApiError)
    return sorted(found, key=lambda each: (each.code, each.reason))


def render_errors() -> str:
    faults = "".join(f"| `{reason}` | {FieldError(reason, ROOT).body} |\n" for reason in FieldReason)
    requests = "".join(
        f"| {each.code} | `{each.reason}` | {inspect.cleandoc(each.__doc__ or '').splitlines()[0]} |\n"
        for each in list_api_errors()
    )
    return (
        f"# Errors\n\n{NOTE}\n"
        "## Faults of fields\n\n"
        "The reason is stable; a message begins as shown. Hints are dray's own and may change.\n\n"
        f"| Reason | Message begins |\n| --- | --- |\n{faults}"
        "\n`dray check` adds `UnknownField` and `DuplicateField`, `BadRequest` for what cannot be read, and\n"
        "`NotFound` for an unknown kind.\n\n"
        "## Failed requests\n\n"
        f"| Code | Reason | Meaning |\n| --- | --- | --- |\n{requests}"
    )


def render_pages() -> dict[str, str]:
    """The text of every page by its file name."""
    return {
        "README.md": render_index(),
        "cli.md": render_cli(),
        "errors.md": render_errors(),
        "kinds.md": render_kinds(),
        "profiles.md": render_profiles(),
        "settings.md": render_settings(),
    }


def main() -> None:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in render_pages().items():
        REFERENCE.joinpath(name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

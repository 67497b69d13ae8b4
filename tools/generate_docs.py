"""Write the pages of docs/reference from what the program itself declares: `make docs`."""

import inspect
from collections.abc import Iterator
from pathlib import Path

from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from dray.api.registry import SERVED, AnyKind
from dray.app.settings import FILE_VARIABLE, SETTINGS
from dray.cli.main import app

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
NOTE = "Written by `make docs`; edit what it is made from.\n"
FACES = {"COLUMNS": "100"}


def render_index() -> str:
    return (
        f"# Reference\n\n{NOTE}\n"
        "- [The command](cli.md): every verb with its options.\n"
        "- [Settings](settings.md): names, defaults, units, variables.\n"
        "- [Kinds](kinds.md): everything that can be read and checked.\n"
    )


def list_verbs() -> Iterator[list[str]]:
    """Every path of the command, groups before what is in them."""
    pending: list[tuple[list[str], object]] = [([], get_command(app))]
    while pending:
        path, command = pending.pop(0)
        yield path
        if isinstance(command, TyperGroup):
            pending += [([*path, name], each) for name, each in command.commands.items()]


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
        f"| Name | Default | Unit | Variable | Meaning |\n| --- | --- | --- | --- | --- |\n{rows}"
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


def render_pages() -> dict[str, str]:
    """The text of every page by its file name."""
    return {
        "README.md": render_index(),
        "cli.md": render_cli(),
        "kinds.md": render_kinds(),
        "settings.md": render_settings(),
    }


def main() -> None:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in render_pages().items():
        REFERENCE.joinpath(name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

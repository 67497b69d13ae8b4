"""Every setting, its default, and where its value came from.

One tree of Structs declares them; a leaf has a default, a unit and one sentence. A value comes from the default, the
settings file, a `DRAY_*` variable or a flag, and the last of these wins. This module alone reads the environment;
`wire` hands each part only its branch.
"""

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, get_type_hints

import msgspec
from msgspec import Meta, Struct

from dray.effects.level import Level
from dray.errors import DrayError

__all__ = [
    "FILE_VARIABLE",
    "SETTINGS",
    "LogFormat",
    "LogSettings",
    "NodeSettings",
    "Setting",
    "Settings",
    "SettingsError",
    "SettingsView",
    "load_settings",
    "system_environment",
]

FILE_VARIABLE: Final = "DRAY_CONFIG"
"""Names the settings file where no flag does."""


class SettingsError(DrayError):
    """A setting is unknown or has a value it cannot have; the message says which, where, and what it may be."""


class LogFormat(StrEnum):
    """How a log line is written."""

    TEXT = "text"
    JSON = "json"


class LogSettings(Struct, frozen=True):
    """How dray tells what it does, on standard error."""

    level: Annotated[
        Level,
        Meta(description="The least a line must matter to be written.", extra={"unit": "debug, info or error"}),
    ] = Level.INFO
    format: Annotated[
        LogFormat,
        Meta(description="Lines for people, or one JSON object a line.", extra={"unit": "text or json"}),
    ] = LogFormat.TEXT


class NodeSettings(Struct, frozen=True):
    """How the agents of nodes go about their pods."""

    prepare_retry_seconds: Annotated[
        float,
        Meta(
            description="Wait before a driver that could not prepare a claim is asked again; up to half is added.",
            gt=0,
            extra={"unit": "seconds above 0"},
        ),
    ] = 60.0


class Settings(Struct, frozen=True):
    """The whole tree; each branch belongs to the part that is named like it."""

    log: LogSettings = LogSettings()
    node: NodeSettings = NodeSettings()


@dataclass(frozen=True, slots=True)
class Setting:
    """One leaf as declared."""

    name: str
    """Dotted: `log.level`."""
    type: object
    """With what it must keep to, such as a least value."""
    default: object
    unit: str
    description: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it: `DRAY_LOG_LEVEL`."""
        return f"DRAY_{self.name.replace('.', '_').upper()}"


@dataclass(frozen=True, slots=True)
class SettingsView:
    """The values in force, and the origin of each by its dotted name: `default`, a file, a variable or `flag`."""

    settings: Settings
    values: Mapping[str, object]
    origins: Mapping[str, str]


def _declared(branch: type[Struct], prefix: str = "") -> Iterator[Setting]:
    plain, annotated = get_type_hints(branch), get_type_hints(branch, include_extras=True)
    for field in msgspec.structs.fields(branch):
        name, kind = f"{prefix}{field.name}", plain[field.name]
        if issubclass(kind, Struct):
            yield from _declared(kind, f"{name}.")
            continue
        (meta,) = annotated[field.name].__metadata__
        yield Setting(name, annotated[field.name], field.default, meta.extra["unit"], meta.description)


SETTINGS: Final[Mapping[str, Setting]] = {setting.name: setting for setting in _declared(Settings)}
"""All settings by dotted name, in the order they are declared."""


def system_environment() -> Mapping[str, str]:
    """The variables of this process."""
    return os.environ


def load_settings(
    environment: Mapping[str, str], *, file: Path | None = None, flags: Mapping[str, str] | None = None
) -> SettingsView:
    """Lay file, environment and flags over the defaults. Refuses unknown names and impossible values."""
    values: dict[str, object] = {name: setting.default for name, setting in SETTINGS.items()}
    origins = dict.fromkeys(values, "default")
    if file is None and environment.get(FILE_VARIABLE):
        file = Path(environment[FILE_VARIABLE])
    given: list[tuple[str, str, object]] = []
    if file is not None:
        given += [(str(file), name, value) for name, value in _read_file(file)]
    for name, setting in SETTINGS.items():
        if setting.variable in environment:
            given.append((setting.variable, name, environment[setting.variable]))
    given += [("flag", name, text) for name, text in (flags or {}).items()]
    for origin, name, value in given:
        values[name] = _convert(name, value, origin)
        origins[name] = origin
    return SettingsView(_assemble(values), values, origins)


def _convert(name: str, value: object, origin: str) -> object:
    if name not in SETTINGS:
        closest = difflib.get_close_matches(name, SETTINGS, n=1)
        hint = f"; did you mean {closest[0]}?" if closest else f"; there are {', '.join(SETTINGS)}"
        raise SettingsError(f"{origin}: no setting is called {name}{hint}")
    setting = SETTINGS[name]
    try:
        return msgspec.convert(value, setting.type, strict=False)
    except msgspec.ValidationError as fault:
        raise SettingsError(f"{origin}: {name} is {setting.unit}, not {value!r}") from fault


def _assemble(values: Mapping[str, object]) -> Settings:
    tree: dict[str, dict[str, object]] = {}
    for name, value in values.items():
        branch, leaf = name.split(".")
        tree.setdefault(branch, {})[leaf] = value
    return msgspec.convert(tree, Settings)


def _read_file(file: Path) -> list[tuple[str, object]]:
    """Dotted names and values of a YAML file."""
    # Most runs have no such file, and start faster without.
    from dray.api.yamltext import YamlError, parse_yaml_documents  # noqa: PLC0415

    try:
        documents = list(parse_yaml_documents(file.read_text(encoding="utf-8")))
    except OSError as fault:
        raise SettingsError(f"cannot read settings file {file}: {fault.strerror}") from fault
    except UnicodeDecodeError as fault:
        raise SettingsError(f"settings file {file} is not text in UTF-8") from fault
    except YamlError as fault:
        raise SettingsError(f"settings file {file}, line {fault.line}: {fault.message}") from fault
    tree = msgspec.json.decode(documents[0].json) if documents else {}
    if not isinstance(tree, dict) or len(documents) > 1:
        raise SettingsError(f"settings file {file} must hold a map such as `log: {{level: debug}}`")
    return list(_flatten(tree))


def _flatten(tree: Mapping[object, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value

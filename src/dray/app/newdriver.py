"""A new driver project: from the name of a driver to files that work, with tests."""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from msgspec import Struct

from dray.errors import DrayError
from dray.values.names import DRIVER_NAME_MAX_LENGTH, dns_subdomain_faults

__all__ = ["DriverProject", "ProjectRefused", "plan_project", "write_project"]

_TEMPLATE: Final = "driverproject"
_SUFFIX: Final = ".tmpl"
_PLACEHOLDER: Final = re.compile("@([A-Z]+)@")


class ProjectRefused(DrayError):
    """The project cannot be written as asked; `hint` says what to do instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class DriverProject(Struct, frozen=True):
    """What will be written: texts by path within the project's folder."""

    title: str
    package: str
    texts: Mapping[str, str]


def plan_project(driver: str) -> DriverProject:
    """The project of a driver, named after the first word of its name. Raises ProjectRefused."""
    faults = [*dns_subdomain_faults(driver)]
    if len(driver) > DRIVER_NAME_MAX_LENGTH:
        faults.append(f"must be no more than {DRIVER_NAME_MAX_LENGTH} characters")
    if "." not in driver:
        faults.append("must have a domain, which tells it from the drivers of others")
    if faults:
        raise ProjectRefused(f"driver name {driver!r}: {'; '.join(faults)}", "dray driver new gpu.example.com")
    noun = driver.partition(".")[0]
    # What begins with a digit is no name to Python.
    word = re.sub("[^a-z0-9]", "_", noun if noun[0].isalpha() else f"device-{noun}")
    facts = {
        "DRIVER": driver,
        "NOUN": noun,
        "PROJECT": f"{noun}-driver",
        "PACKAGE": f"{word}_driver",
        "CLASS": "".join(part.capitalize() for part in word.split("_")),
        "VARIABLE": word.upper(),
    }
    folders = {"package": facts["PACKAGE"], "first": f"{noun}-0", "second": f"{noun}-1"}
    texts: dict[str, str] = {}
    for parts, template in _walk(files("dray.app") / _TEMPLATE, ()):
        path = "/".join(folders.get(part, part) for part in parts).removesuffix(_SUFFIX)
        texts[path] = _PLACEHOLDER.sub(lambda found: facts[found[1]], template.read_text(encoding="utf-8"))
    return DriverProject(facts["PROJECT"], facts["PACKAGE"], texts)


def _walk(folder: Traversable, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    for each in sorted(folder.iterdir(), key=lambda one: one.name):
        if each.is_dir():
            yield from _walk(each, (*above, each.name))
        elif each.name.endswith(_SUFFIX):
            yield (*above, each.name), each


def write_project(project: DriverProject, folder: Path) -> None:
    """Write a project into a folder that is new or empty. Raises ProjectRefused."""
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise ProjectRefused(f"{folder} is not empty", "another folder, by --folder")
        for path, text in project.texts.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as fault:
        place, why = fault.filename or folder, fault.strerror or fault
        raise ProjectRefused(f"{place} cannot be written: {why}", "another folder, by --folder") from fault

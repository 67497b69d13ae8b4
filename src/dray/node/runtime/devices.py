"""Where runtimes of our own look up CDI devices: in the folders of the machine, or in the memory of drivers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec
import yaml

from dray.driver.cdi import CdiSpec, ContainerEdits
from dray.driver.cdifiles import CdiError, decode_cdi_spec
from dray.effects.log import Log
from dray.node.core.cdi import index_specs, resolve_edits

__all__ = ["CDI_FOLDERS", "CdiDevices", "CdiFolders", "CdiSpecs"]

CDI_FOLDERS: Final = (Path("/etc/cdi"), Path("/var/run/cdi"))
"""In rising order of priority."""


class CdiDevices(Protocol):
    """Looks up what devices do to a container."""

    def find_edits(self, names: Sequence[str]) -> ContainerEdits:
        """The edits of some devices together. Raises UnresolvableDevices."""
        ...


class CdiSpecs:
    """Devices of files in memory, such as those of simulated drivers; `specs` is asked at every look-up."""

    def __init__(self, specs: Callable[[], Iterable[CdiSpec]]) -> None:
        self._specs = specs

    def find_edits(self, names: Sequence[str]) -> ContainerEdits:
        """See `CdiDevices.find_edits`."""
        return resolve_edits(names, index_specs([self._specs()])) if names else ContainerEdits()


class CdiFolders:
    """Devices of the files in some folders, read again when a container asks for devices.

    A file that cannot be read is left out, and said so once for as long as it stays as it is.
    """

    def __init__(self, folders: Sequence[Path], log: Log) -> None:
        self._folders = folders
        self._log = log
        self._complaints: dict[Path, str] = {}

    def find_edits(self, names: Sequence[str]) -> ContainerEdits:
        """See `CdiDevices.find_edits`."""
        if not names:
            return ContainerEdits()
        return resolve_edits(names, index_specs([list(self._read(folder)) for folder in self._folders]))

    def _read(self, folder: Path) -> Iterable[CdiSpec]:
        for file in sorted(folder.glob("*")) if folder.is_dir() else ():
            if file.suffix not in (".json", ".yaml") or not file.is_file():
                continue
            try:
                yield _decode(file)
            except (CdiError, msgspec.DecodeError, yaml.YAMLError, OSError) as fault:
                if self._complaints.get(file) != str(fault):
                    self._complaints[file] = str(fault)
                    self._log.error("CDI file is not readable", file=str(file), err=fault)


def _decode(file: Path) -> CdiSpec:
    text = file.read_bytes()
    if file.suffix == ".yaml":
        tree: Mapping[str, object] = yaml.safe_load(text)
        text = msgspec.json.encode(tree)
    return decode_cdi_spec(text)

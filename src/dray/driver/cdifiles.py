"""CDI files: reading and writing them, and where a driver keeps those of its claims.

`CdiStore` is the port: `CdiFolder` keeps files for container runtimes, `CdiMemory` keeps the same without any, for
simulated nodes. A file comes and goes as a whole; runtimes never see half of one.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import msgspec

from dray.driver.cdi import CdiSpec
from dray.driver.cdirules import check_cdi_spec
from dray.driver.files import write_atomically
from dray.errors import DrayError, FieldError

__all__ = ["CdiError", "CdiFolder", "CdiMemory", "CdiStore", "decode_cdi_spec", "encode_cdi_spec"]

_SUFFIX: Final = ".json"
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(CdiSpec)


class CdiError(DrayError):
    """A CDI file is not one: `faults` say where."""

    def __init__(self, what: str, faults: list[FieldError]) -> None:
        super().__init__(f"{what}: " + "; ".join(map(str, faults)))
        self.faults = faults


def encode_cdi_spec(spec: CdiSpec) -> bytes:
    """Write a file's text. Raises CdiError where it would be invalid."""
    if faults := check_cdi_spec(spec):
        raise CdiError(f"CDI spec {spec.kind}", faults)
    return msgspec.json.format(_ENCODER.encode(spec), indent=2) + b"\n"


def decode_cdi_spec(text: bytes) -> CdiSpec:
    """Read a JSON file's text. Raises CdiError, or msgspec.DecodeError where it has another shape."""
    spec = _DECODER.decode(text)
    if faults := check_cdi_spec(spec):
        raise CdiError(f"CDI spec {spec.kind}", faults)
    return spec


class CdiStore(Protocol):
    """Where CDI files are. Names have no suffix; writing replaces, and removing what is not there is no error."""

    def write(self, name: str, spec: CdiSpec) -> None:
        """Put a file there. Raises CdiError for one that would be invalid."""
        ...

    def remove(self, name: str) -> None:
        """Take a file away."""
        ...

    def holds(self, name: str, spec: CdiSpec) -> bool:
        """Whether exactly this file is there."""
        ...

    def names(self, prefix: str) -> list[str]:
        """The files whose names begin so, sorted."""
        ...


class CdiFolder:
    """Files in a folder that container runtimes watch."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, spec: CdiSpec) -> None:
        """Write a file beside its place and move it there; the folder is made if it is missing."""
        text = encode_cdi_spec(spec)
        self._folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        # Not forced to disk: these folders are emptied by reboots, and a missing file is written anew.
        write_atomically(self._folder / f"{name}{_SUFFIX}", text, mode=0o644, durable=False)

    def remove(self, name: str) -> None:
        """Delete a file."""
        with suppress(FileNotFoundError):
            os.unlink(self._folder / f"{name}{_SUFFIX}")

    def holds(self, name: str, spec: CdiSpec) -> bool:
        """Compare with what is on disk: after a reboot the folder is often empty."""
        try:
            return (self._folder / f"{name}{_SUFFIX}").read_bytes() == encode_cdi_spec(spec)
        except FileNotFoundError:
            return False

    def names(self, prefix: str) -> list[str]:
        """The files there now."""
        return sorted(each.stem for each in self._folder.glob(f"*{_SUFFIX}") if each.name.startswith(prefix))


class CdiMemory:
    """Specs in memory, with the same checks. A simulated node reads `specs`."""

    def __init__(self) -> None:
        self.specs: dict[str, CdiSpec] = {}

    def write(self, name: str, spec: CdiSpec) -> None:
        """Keep a spec."""
        if faults := check_cdi_spec(spec):
            raise CdiError(f"CDI spec {spec.kind}", faults)
        self.specs[name] = spec

    def remove(self, name: str) -> None:
        """Forget a spec."""
        self.specs.pop(name, None)

    def holds(self, name: str, spec: CdiSpec) -> bool:
        """Whether the spec is kept as it is."""
        return self.specs.get(name) == spec

    def names(self, prefix: str) -> list[str]:
        """The specs kept now."""
        return sorted(name for name in self.specs if name.startswith(prefix))

"""What a cluster consisted of when it ran last, so that the next start on the same data continues with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from dray.app.wishes import RuntimeChoice
from dray.driver.files import write_atomically
from dray.errors import DrayError

__all__ = ["ClusterShape", "ShapeUnreadable", "find_shape", "write_shape"]

_FILE: Final = "cluster.json"
_DEFAULT_NODES: Final = ("dgx-h100:2",)


class ShapeUnreadable(DrayError):
    """The file that says what the cluster consists of is damaged."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"{file} cannot be read")
        self.hint = f"delete {file}, and say what nodes there are by --nodes"


class ClusterShape(Struct, frozen=True):
    """The groups of nodes as they were asked for, and what came of them."""

    nodes: tuple[str, ...] = _DEFAULT_NODES
    runtime: RuntimeChoice = RuntimeChoice.SIMULATED
    names: tuple[str, ...] = ()
    """Every node that may have been registered, and has not been removed since."""

    def change(self, nodes: Sequence[str], runtime: RuntimeChoice | None) -> "ClusterShape":
        """The same with other wishes, as far as there are any."""
        return ClusterShape(tuple(nodes) or self.nodes, runtime or self.runtime, self.names)

    def settle(self, names: Sequence[str]) -> "ClusterShape":
        """The same once these are its nodes, and no others."""
        return ClusterShape(self.nodes, self.runtime, tuple(names))


def find_shape(folder: Path) -> ClusterShape:
    """What the cluster of a data directory was; the default for a new one. Raises ShapeUnreadable, OSError."""
    file = folder / _FILE
    try:
        return msgspec.json.decode(file.read_bytes(), type=ClusterShape)
    except FileNotFoundError:
        return ClusterShape()
    except msgspec.DecodeError as fault:
        raise ShapeUnreadable(file) from fault


def write_shape(folder: Path, shape: ClusterShape) -> None:
    """Remember it."""
    write_atomically(folder / _FILE, msgspec.json.format(msgspec.json.encode(shape), indent=2) + b"\n", mode=0o600)

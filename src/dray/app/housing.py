"""Where the containers of nodes run and where a node keeps what it has: made up and in memory, or on this machine.

A house is one node's. What is in a simulated house is gone with the process; a house on this machine has the folders of
a kubelet, so that drivers register there as they would anywhere, and finds what it had when it is opened again.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from dray.driver.cdifiles import CdiFolder, CdiMemory, CdiStore
from dray.driver.checkpoint import Checkpoint as DriverCheckpoint
from dray.driver.checkpoint import CheckpointFile, CheckpointMemory
from dray.driver.files import FileLock
from dray.errors import DrayError
from dray.node.checkpoint import Checkpoint, FileCheckpoint, NoCheckpoint
from dray.node.runtime.devices import CDI_FOLDERS, CdiFolders, CdiSpecs
from dray.node.runtime.port import Runtime
from dray.node.runtime.process import ProcessRuntime
from dray.node.runtime.simulated import SimulatedNetwork, SimulatedRuntime
from dray.node.surroundings import Surroundings

__all__ = ["House", "Housing", "MachineHousing", "PathTooLong", "SimulatedHousing", "check_sockets"]

_MOST_PATH_BYTES: Final = 107
"""What fits into the address of a unix socket, beside the zero that ends it."""
_LONGEST_SOCKET: Final = "pod-resources/kubelet.sock"
"""Of those that a node makes itself."""


class PathTooLong(DrayError):
    """Sockets of a node do not fit below the folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is too long for a socket, which has {_MOST_PATH_BYTES} bytes at most")
        self.hint = "a --data-dir with a shorter path"


class House(Protocol):
    """One node's, for as long as its agent runs."""

    @property
    def runtime(self) -> Runtime:
        """Its containers."""
        ...

    @property
    def checkpoint(self) -> Checkpoint:
        """What the agent remembers."""
        ...

    @property
    def cdi(self) -> CdiStore:
        """Where drivers of this process say what devices do to containers."""
        ...

    @property
    def root(self) -> Path | None:
        """Where drivers of other processes register; None where they cannot."""
        ...

    def keep_driver(self, name: str) -> AbstractAsyncContextManager[DriverCheckpoint]:
        """What a driver of this process remembers."""
        ...


class Housing(Protocol):
    """Makes houses."""

    def open(self, node: str, around: Surroundings) -> AbstractAsyncContextManager[House]:
        """The house of a node."""
        ...


@dataclass(frozen=True, slots=True)
class _SimulatedHouse:
    runtime: SimulatedRuntime
    cdi: CdiMemory
    checkpoint: NoCheckpoint
    root: None = None

    def keep_driver(self, _name: str) -> AbstractAsyncContextManager[DriverCheckpoint]:
        return nullcontext(CheckpointMemory())


class SimulatedHousing:
    """Houses in memory. They share the addresses that their pods get."""

    def __init__(self) -> None:
        self._network = SimulatedNetwork()

    def open(self, _node: str, around: Surroundings) -> AbstractAsyncContextManager[House]:
        """See `Housing.open`."""
        cdi = CdiMemory()
        runtime = SimulatedRuntime(around.clock, around.timers, CdiSpecs(cdi.specs.values), self._network)
        return nullcontext(_SimulatedHouse(runtime, cdi, NoCheckpoint()))


@dataclass(frozen=True, slots=True)
class _MachineHouse:
    runtime: ProcessRuntime
    cdi: CdiFolder
    checkpoint: FileCheckpoint
    root: Path
    around: Surroundings

    @asynccontextmanager
    async def keep_driver(self, name: str) -> AsyncIterator[DriverCheckpoint]:
        folder = self.root / "plugins" / name
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        lock = FileLock(folder / "serialize.lock")
        file = CheckpointFile(folder / "checkpoint.json", lock, self.around.clock, is_shared=False)
        async with file.open():
            yield file


class MachineHousing:
    """Houses on this machine, each in a folder of its own below `folder`; containers are processes."""

    def __init__(self, folder: Path, host_ip: str = "127.0.0.1") -> None:
        self._folder = folder
        self._host_ip = host_ip

    @asynccontextmanager
    async def open(self, node: str, around: Surroundings) -> AsyncIterator[House]:
        """See `Housing.open`. Processes that an agent before this one left behind are ended."""
        root = self._folder / node
        cdi = root / "cdi"
        devices = CdiFolders((*CDI_FOLDERS, cdi), around.log)
        runtime = ProcessRuntime(root, devices, around.clock, around.tasks, self._host_ip)
        runtime.end_leftovers()
        checkpoint = FileCheckpoint(root)
        try:
            yield _MachineHouse(runtime, CdiFolder(cdi), checkpoint, root, around)
        finally:
            checkpoint.close()


def check_sockets(folder: Path, node: str) -> None:
    """Find out before anything runs whether the sockets of a node fit. Raises PathTooLong."""
    path = folder / node / _LONGEST_SOCKET
    if len(bytes(path)) > _MOST_PATH_BYTES:
        raise PathTooLong(path)

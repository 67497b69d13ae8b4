"""What runs containers: the port, in the steps of the container runtimes of Kubernetes (CRI).

A pod gets a sandbox, containers are started in it, stopped, and looked into; ends are reported as they happen. Devices
are handed over as names of CDI devices, which the runtime looks up itself.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from typing import Protocol

from msgspec import Struct

from dray.api.core.pod import Pod
from dray.api.core.probes import ExecAction
from dray.client.port import Command, Execution, LogOptions
from dray.driver.cdi import Mount
from dray.errors import DrayError
from dray.values.times import Time

__all__ = ["CannotStart", "ContainerEnd", "ContainerOrder", "FoundContainer", "Report", "Runtime"]


class CannotStart(DrayError):
    """A container cannot be made; `reason` is the one that stands in its status."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class ContainerOrder(Struct, frozen=True):
    """A container to start: all that a runtime needs, in values."""

    pod: Pod
    name: str
    attempt: int
    """How often the container was started before."""
    words: tuple[str, ...] = ()
    """Command and arguments; empty where the image's own are meant."""
    working_dir: str = ""
    env: dict[str, str] = {}
    mounts: tuple[Mount, ...] = ()
    cdi_ids: tuple[str, ...] = ()
    """Devices to add, by qualified name."""
    stop_signal: str = ""
    """Empty means SIGTERM."""


class ContainerEnd(Struct, frozen=True):
    """How a container ended."""

    exit_code: int
    finished_at: Time
    signal: int = 0
    message: str = ""


class FoundContainer(Struct, frozen=True):
    """A container that runs already when the agent begins."""

    name: str
    container_id: str
    started_at: Time
    notes: tuple[tuple[str, str], ...] = ()
    """Reason and text of what a user should be told about how it runs."""


Report = Callable[[ContainerEnd], None]
"""Takes the end of one container, once."""


class Runtime(Protocol):
    """Containers of one or more nodes. Container ids are `<runtime>://<unique>`."""

    @property
    def version(self) -> str:
        """Name and version, as `process://0.1.0`."""
        ...

    @property
    def can_probe(self) -> bool:
        """Whether its containers do something that a probe could look at; if not, they are ready at once."""
        ...

    async def open_sandbox(self, pod: Pod) -> tuple[str, ...]:
        """Make a place for the containers of a pod; its addresses. Repeating it is a no-op. Raises CannotStart."""
        ...

    async def close_sandbox(self, pod: Pod) -> None:
        """Give up the place; logs stay. Repeating it is a no-op."""
        ...

    async def forget(self, pod: Pod) -> None:
        """Keep nothing of the pod any more, logs included: it is no longer in the API server."""
        ...

    async def forget_others(self, known: Collection[str]) -> None:
        """Keep nothing of pods but of those with these uids: the others went while no agent ran."""
        ...

    async def start(self, order: ContainerOrder, report: Report) -> FoundContainer:
        """Start a container; its end will be reported. Raises CannotStart."""
        ...

    async def stop(self, container_id: str, grace_seconds: float) -> None:
        """Ask a container to end, and kill it after a while. Its end is reported as any other.

        Returns once it has ended. May be called again, with less time, while it waits. Unknown ids are a no-op.
        """
        ...

    async def find_running(self, pod: Pod, report: Callable[[str, ContainerEnd], None]) -> Sequence[FoundContainer]:
        """Containers of the pod that run from before the agent's time; their ends will be reported, by container."""
        ...

    async def run_probe(self, container_id: str, action: ExecAction) -> tuple[bool, str]:
        """Run a command in a container: whether it succeeded, and what it said. Unknown ids have failed."""
        ...

    async def open_log(self, pod: Pod, container: str, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """The log of a container. Raises BadRequest where there is none."""
        ...

    async def execute(self, container_id: str, command: Command) -> Execution:
        """Run a command in a container. Raises BadRequest where nothing can be run."""
        ...

"""How far a pod is on its node: the state of its claims and containers, and the events that move it."""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from dray.api.core.containerstatus import ContainerStateTerminated
from dray.values.times import MicroTime, Time

__all__ = [
    "ClaimsEvent",
    "ClaimsPhase",
    "DeletionAsked",
    "Event",
    "Exited",
    "PodState",
    "ProbeKind",
    "Probed",
    "Run",
    "RunPhase",
    "SandboxReady",
    "StartFailed",
    "Started",
]


class ClaimsPhase(Enum):
    """Where the devices of a pod are."""

    WANTED = "not asked for yet, or to be asked for again"
    PREPARING = "drivers are at work"
    READY = "prepared; also where the pod has no claims"
    RELEASING = "drivers take them back"
    RELEASED = "nothing is held for the pod any more"


class RunPhase(Enum):
    """Where a container is."""

    WAITING = "has not been started, or waits to be started again"
    STARTING = "the runtime is at it"
    RUNNING = "runs"
    STOPPING = "was told to stop"
    ENDED = "has ended and stays so, unless its policy starts it again"


class Run(Struct, frozen=True):
    """One container of the pod, and its run of the moment."""

    phase: RunPhase = RunPhase.WAITING
    container_id: str = ""
    started_at: Time | None = None
    ended: ContainerStateTerminated | None = None
    """How the run ended."""
    last: ContainerStateTerminated | None = None
    """How the run before it ended."""
    restarts: int = 0
    has_started: bool = False
    """Whether the startup probe, if there is one, has succeeded in this run."""
    is_condemned: bool = False
    """Whether a probe wants this run ended."""
    is_ready: bool = False
    """Whether the readiness probe, if there is one, succeeds."""
    waiting_reason: str = ""
    """Why it does not start; empty for a reason that follows from the pod."""
    waiting_message: str = ""
    backoff_seconds: int = 0
    """How long after an end the next run begins; 0 for the first restart."""
    last_restart: MicroTime | None = None
    retry_at: MicroTime | None = None
    """When it may be started again."""

    @property
    def is_alive(self) -> bool:
        """Whether something of it runs, or is about to."""
        return self.phase in (RunPhase.STARTING, RunPhase.RUNNING, RunPhase.STOPPING)

    @property
    def is_running(self) -> bool:
        """Whether it runs; also when it was told to stop."""
        return self.phase in (RunPhase.RUNNING, RunPhase.STOPPING)

    @property
    def has_succeeded(self) -> bool:
        """Whether it ended well."""
        return self.phase is RunPhase.ENDED and self.ended is not None and self.ended.exit_code == 0


class PodState(Struct, frozen=True):
    """Everything the agent knows of one pod's course. Owned by its pod task; replaced, not mutated."""

    runs: Mapping[str, Run]
    """By container."""
    claims: ClaimsPhase
    claims_retry_at: MicroTime | None = None
    has_sandbox: bool = False
    sandbox_is_starting: bool = False
    pod_ips: tuple[str, ...] = ()
    is_initialized: bool = False
    """Whether all init containers have once succeeded."""
    start_time: Time | None = None
    """When the agent took the pod over."""
    is_deleted: bool = False
    """Whether somebody wants the pod gone."""
    kill_at: MicroTime | None = None
    """When what still runs then is killed."""
    failure: tuple[str, str] | None = None
    """Reason and message of a pod that is ended as a whole."""
    is_done: bool = False
    """Whether nothing runs or is held any more, and nothing will."""

    def run(self, name: str) -> Run:
        """The run of a container; a new one if it has none."""
        return self.runs.get(name, _FRESH)

    @property
    def is_ending(self) -> bool:
        """Whether the pod is ended from outside."""
        return self.is_deleted or self.failure is not None


_FRESH = Run()


class ProbeKind(Enum):
    """What a probe decides."""

    STARTUP = "startupProbe"
    READINESS = "readinessProbe"
    LIVENESS = "livenessProbe"


class ClaimsEvent(Struct, frozen=True):
    """Drivers have answered. `retry_at` says when to try what failed again."""

    phase: ClaimsPhase
    retry_at: MicroTime | None = None


class SandboxReady(Struct, frozen=True):
    """There is a place for containers to run in; without addresses there was a failure, and it is tried again."""

    pod_ips: tuple[str, ...] = ()
    retry_at: MicroTime | None = None


class Started(Struct, frozen=True):
    """A container runs."""

    name: str
    container_id: str
    at: Time


class StartFailed(Struct, frozen=True):
    """A container could not be made or started; it waits, and is tried again."""

    name: str
    reason: str
    message: str
    at: MicroTime


class Exited(Struct, frozen=True):
    """A container has ended."""

    name: str
    how: ContainerStateTerminated


class Probed(Struct, frozen=True):
    """A probe came to another result, as often in a row as it takes."""

    name: str
    kind: ProbeKind
    is_good: bool
    container_id: str
    """Of the run that was probed: a late answer says nothing about the next one."""


class DeletionAsked(Struct, frozen=True):
    """Somebody wants the pod gone by then. May come again with less time."""

    kill_at: MicroTime


Event = ClaimsEvent | SandboxReady | Started | StartFailed | Exited | Probed | DeletionAsked

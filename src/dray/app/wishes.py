"""What somebody wishes `dray up` to run, and what is said once it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from dray.app.running import RunRecord
from dray.app.settings import NodeSettings
from dray.effects.clock import Clock
from dray.effects.log import Log

__all__ = ["PartName", "RuntimeChoice", "Surroundings", "UpReport", "Wish"]


class RuntimeChoice(StrEnum):
    """What containers of nodes are."""

    SIMULATED = "simulated"
    PROCESS = "process"


class PartName(StrEnum):
    """What can be run by itself."""

    API_SERVER = "apiserver"
    SCHEDULER = "scheduler"
    CONTROLLERS = "controllers"
    NODE = "node"


class Wish(Struct, frozen=True, kw_only=True):
    """What to run. What is absent is left to the cluster as it was, or to defaults."""

    data_dir: Path
    nodes: tuple[str, ...] = ()
    runtime: RuntimeChoice | None = None
    host: str | None = None
    port: int | None = None
    kubeconfig_out: Path | None = None
    kubeconfig: Path | None = None
    context: str = ""
    scheduler_config: Path | None = None
    checks_itself: bool = False
    controllers: str = "*"
    elects: bool | None = None
    metrics_port: int | None = None


class UpReport(Struct, frozen=True, kw_only=True):
    """What runs now."""

    part: str = ""
    """Empty for a whole cluster."""
    url: str
    kubeconfig: str = ""
    data_dir: str = ""
    is_continued: bool = False
    """Whether the data were there before."""
    nodes: tuple[str, ...] = ()
    nodes_of_processes: int = 0
    """On how many of the nodes containers are processes."""
    scheduler_names: tuple[str, ...] = ()
    """Whose pods a scheduler places."""
    lease: str = ""
    """By which one of several processes is chosen; empty where none is."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the process is given. `announce` is told once that everything is ready."""

    clock: Clock
    log: Log
    environment: Mapping[str, str]
    announce: Callable[[UpReport], None]
    log_file: Path | None = None
    """Where it writes, if it is in the background."""
    nodes: NodeSettings = field(default_factory=NodeSettings)
    """How agents go about their pods."""

    def describe(self, part: str = "") -> RunRecord:
        """What others are told of this process."""
        since = str(self.clock.now().to_time())
        return RunRecord(since=since, part=part, log=str(self.log_file.absolute()) if self.log_file else "")

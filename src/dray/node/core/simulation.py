"""The life of a simulated container, as annotations of its pod tell it.

    sim.dray.dev/run-seconds: "5"          ends by itself after so long; without it, runs until it is stopped
    sim.dray.dev/exit-code: "1"            ... with this code
    sim.dray.dev/fail-runs: "2"            the first runs end with exit code 1, whatever exit-code says
    sim.dray.dev/start-seconds: "0.5"      how long it takes to start
    sim.dray.dev/start-error: "no image"   never starts, for this reason
    sim.dray.dev/stop-seconds: "3"         how long it takes to stop when it is told to

One container alone is meant by its name at the end: `sim.dray.dev/run-seconds.main`. An init container that is not told
otherwise succeeds at once.
"""

from typing import Final

from msgspec import Struct

from dray.api.core.pod import Pod
from dray.api.core.podresources import is_sidecar

__all__ = ["ANNOTATIONS", "Life", "plan_life"]

_PREFIX: Final = "sim.dray.dev/"
ANNOTATIONS: Final = ("run-seconds", "exit-code", "fail-runs", "start-seconds", "start-error", "stop-seconds")
"""The names after the prefix."""
_MOST_SECONDS: Final = 10 * 365 * 86_400.0


class Life(Struct, frozen=True):
    """One run of a simulated container."""

    run_seconds: float | None = None
    """None: until it is stopped."""
    exit_code: int = 0
    start_seconds: float = 0.0
    start_error: str = ""
    stop_seconds: float = 0.0


def plan_life(pod: Pod, container: str, attempt: int) -> Life:
    """The life of a container's run number `attempt` (from 0). What is no number counts as not said."""
    annotations = pod.metadata.annotations

    def read(name: str) -> str:
        return annotations.get(f"{_PREFIX}{name}.{container}", annotations.get(f"{_PREFIX}{name}", ""))

    run_seconds = _number(read("run-seconds"))
    if any(each.name == container and not is_sidecar(each) for each in pod.spec.init_containers):
        # What is said of all containers is meant for those that do the pod's work.
        own = annotations.get(f"{_PREFIX}run-seconds.{container}", "")
        run_seconds = _number(own) or 0.0
    exit_code = int(_number(read("exit-code")) or 0)
    if attempt < int(_number(read("fail-runs")) or 0):
        exit_code = 1
        run_seconds = 0.0 if run_seconds is None else run_seconds
    return Life(
        run_seconds=run_seconds,
        exit_code=exit_code % 256,
        start_seconds=_number(read("start-seconds")) or 0.0,
        start_error=read("start-error"),
        stop_seconds=_number(read("stop-seconds")) or 0.0,
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= _MOST_SECONDS else None

"""The row of a pod: how many containers are ready, and the one word that says how it is doing.

The word is found the way the API server finds it: the phase to begin with, then whatever holds the init containers up,
then the first container in the list that has something to say, then deletion.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from dray.api.columns import AGE, NAME, Column, RowCondition
from dray.api.core.containerstatus import ContainerStateTerminated, ContainerStatus
from dray.api.core.pod import Pod
from dray.api.core.podresources import is_sidecar
from dray.values.times import Time, format_age

__all__ = ["POD_COLUMNS", "PodSummary", "pod_row_conditions", "summarize_pod"]

_NONE = "<none>"
_INITIALIZING = "PodInitializing"
_FINAL_PHASES = ("Succeeded", "Failed")


def pod_row_conditions(pod: Pod) -> tuple[RowCondition, ...]:
    """The mark of a row whose pod has ended, by which clients can hide it."""
    message = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}.get(pod.status.phase)
    if message is None:
        return ()
    return (RowCondition(type="Completed", status="True", reason=pod.status.phase, message=message),)


@dataclass(slots=True)
class PodSummary:
    """What a table says of a pod."""

    status: str
    ready: int = 0
    total: int = 0
    restarts: int = 0
    last_restart: Time | None = None

    def restarts_cell(self, now: Time) -> str:
        """`5 (101m ago)`."""
        if self.restarts and self.last_restart is not None:
            return f"{self.restarts} ({format_age(now.seconds_since(self.last_restart))} ago)"
        return str(self.restarts)


def summarize_pod(pod: Pod) -> PodSummary:
    """Everything the table needs, in one walk over the container statuses."""
    summary = PodSummary(pod.status.reason or pod.status.phase, total=_count_lasting(pod))
    if any(each.type == "PodScheduled" and each.reason == "SchedulingGated" for each in pod.status.conditions):
        summary.status = "SchedulingGated"
    sidecars = PodSummary("")
    blocked = _walk_init_containers(pod, summary, sidecars)
    if not blocked or _has_condition(pod, "Initialized"):
        summary.restarts, summary.last_restart = sidecars.restarts, sidecars.last_restart
        _walk_containers(pod, summary)
    if pod.metadata.deletion_timestamp is not None:
        if pod.status.reason == "NodeLost":
            summary.status = "Unknown"
        elif pod.status.phase not in _FINAL_PHASES:
            summary.status = "Terminating"
    return summary


def _count_lasting(pod: Pod) -> int:
    return len(pod.spec.containers) + sum(map(is_sidecar, pod.spec.init_containers))


def _has_condition(pod: Pod, kind: str) -> bool:
    return any(each.type == kind and each.status == "True" for each in pod.status.conditions)


def _count_restarts(summary: PodSummary, status: ContainerStatus) -> None:
    summary.restarts += status.restart_count
    ended = status.last_state.terminated
    if ended is not None and ended.finished_at is not None:
        last = summary.last_restart
        summary.last_restart = ended.finished_at if last is None else max(last, ended.finished_at)


def _walk_init_containers(pod: Pod, summary: PodSummary, sidecars: PodSummary) -> bool:
    """Whether an init container holds the pod up; its trouble is the status then."""
    lasting = {each.name for each in pod.spec.init_containers if is_sidecar(each)}
    for index, status in enumerate(pod.status.init_container_statuses):
        _count_restarts(summary, status)
        if status.name in lasting:
            _count_restarts(sidecars, status)
        if status.name in lasting and status.started:
            summary.ready += status.ready
            continue
        ended, waiting = status.state.terminated, status.state.waiting
        if ended is not None and ended.exit_code == 0:
            continue
        if ended is not None:
            summary.status = f"Init:{_describe_end(ended)}"
        elif waiting is not None and waiting.reason and waiting.reason != _INITIALIZING:
            summary.status = f"Init:{waiting.reason}"
        else:
            summary.status = f"Init:{index}/{len(pod.spec.init_containers)}"
        return True
    return False


def _describe_end(ended: ContainerStateTerminated) -> str:
    if ended.reason:
        return ended.reason
    return f"Signal:{ended.signal}" if ended.signal else f"ExitCode:{ended.exit_code}"


def _walk_containers(pod: Pod, summary: PodSummary) -> None:
    is_running, failure = False, ""
    for status in reversed(pod.status.container_statuses):
        _count_restarts(summary, status)
        ended, waiting = status.state.terminated, status.state.waiting
        if waiting is not None and waiting.reason:
            summary.status = waiting.reason
        elif ended is not None:
            summary.status = _describe_end(ended)
            if ended.exit_code != 0:
                failure = summary.status
        elif status.ready and status.state.running is not None:
            is_running = True
            summary.ready += 1
    if summary.status == "Completed":
        if is_running:
            summary.status = "Running" if _has_condition(pod, "Ready") else failure or "NotReady"
        elif failure:
            summary.status = failure


def _ready(pod: Pod, now: Time) -> str:
    summary = summarize_pod(pod)
    return f"{summary.ready}/{summary.total}"


def _readiness_gates(pod: Pod, now: Time) -> str:
    gates = pod.spec.readiness_gates
    if not gates:
        return _NONE
    held = sum(_has_condition(pod, gate.condition_type) for gate in gates)
    return f"{held}/{len(gates)}"


def _addresses(pod: Pod) -> Iterator[str]:
    yield from (each.ip for each in pod.status.pod_ips)
    yield pod.status.pod_ip


POD_COLUMNS: tuple[Column[Pod], ...] = (
    NAME,
    Column("Ready", _ready, description="Containers that are ready, of those that keep running."),
    Column("Status", lambda pod, now: summarize_pod(pod).status, description="How the pod is doing, in one word."),
    Column(
        "Restarts",
        lambda pod, now: summarize_pod(pod).restarts_cell(now),
        description="How often containers have been restarted, and when the last time was.",
    ),
    AGE,
    Column(
        "IP",
        lambda pod, now: next(_addresses(pod)) or _NONE,
        description="Address of the pod.",
        priority=1,
    ),
    Column("Node", lambda pod, now: pod.spec.node_name or _NONE, description="Node the pod is bound to.", priority=1),
    Column(
        "Nominated Node",
        lambda pod, now: pod.status.nominated_node_name or _NONE,
        description="Node that is being cleared for the pod.",
        priority=1,
    ),
    Column(
        "Readiness Gates",
        _readiness_gates,
        description="Conditions outside the containers that are True, of those the pod waits for.",
        priority=1,
    ),
)

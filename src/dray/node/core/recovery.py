"""Where a pod stands when an agent begins: from what its status says and from what was found to run."""

from collections.abc import Collection
from typing import Final

from dray.api.core.containerstatus import ContainerStateTerminated, ContainerStatus
from dray.api.core.pod import Pod
from dray.node.core.podplan import ContainerPlan, PodPlan, Role
from dray.node.core.podstate import ClaimsPhase, PodState, Run, RunPhase
from dray.values.times import Time

__all__ = ["recover"]

_LOST_CODE: Final = 137
_LOST_REASON: Final = "ContainerStatusUnknown"
_LOST_MESSAGE: Final = "The container could not be located when the pod was terminated"
_TERMINAL: Final = ("Succeeded", "Failed")


def recover(pod: Pod, plan: PodPlan, running: Collection[str], now: Time, *, holds_claims: bool = True) -> PodState:
    """The state to begin with. `running` are the containers that run; their starts are told as events afterwards.

    For a new pod that is the beginning of its course. A pod that has ended stays so; what it may still hold is
    released. Where nothing remembers the claims of a pod that runs, `holds_claims` is False: they are prepared anew,
    while its containers go on.
    """
    statuses = {
        each.name: each
        for each in (
            *pod.status.init_container_statuses,
            *pod.status.container_statuses,
            *pod.status.ephemeral_container_statuses,
        )
    }
    has_ended = pod.status.phase in _TERMINAL
    runs = {
        container.name: _recover_run(container, statuses[container.name], running, now)
        for container in plan.containers
        if container.name in statuses
    }
    needs_claims = plan.has_claims and not has_ended and not (running and holds_claims)
    is_initialized = any(
        each.type == "Initialized" and each.status == "True" for each in pod.status.conditions
    ) and bool(running or has_ended or any(each.ended for each in runs.values()))
    failure = (pod.status.reason, pod.status.message) if pod.status.phase == "Failed" else None
    return PodState(
        runs=runs,
        claims=ClaimsPhase.WANTED if needs_claims else ClaimsPhase.READY,
        has_sandbox=bool(running),
        pod_ips=tuple(each.ip for each in pod.status.pod_ips) if running or has_ended else (),
        is_initialized=is_initialized and bool(plan.select(Role.REGULAR)),
        start_time=pod.status.start_time or now,
        failure=failure,
    )


def _recover_run(container: ContainerPlan, status: ContainerStatus, running: Collection[str], now: Time) -> Run:
    last = status.last_state.terminated
    if status.state.terminated is not None:
        return Run(phase=RunPhase.ENDED, ended=status.state.terminated, last=last, restarts=status.restart_count)
    if container.name in running:
        # Its start is told anew; until then it is on its way.
        return Run(phase=RunPhase.STARTING, last=last, restarts=status.restart_count)
    if status.state.running is not None:
        lost = ContainerStateTerminated(
            exit_code=_LOST_CODE,
            reason=_LOST_REASON,
            message=_LOST_MESSAGE,
            started_at=status.state.running.started_at,
            finished_at=now,
            container_id=status.container_id,
        )
        return Run(phase=RunPhase.ENDED, ended=lost, last=last, restarts=status.restart_count)
    if last is not None:
        return Run(phase=RunPhase.ENDED, ended=last, restarts=status.restart_count)
    return Run()

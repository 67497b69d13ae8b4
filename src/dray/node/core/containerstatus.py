"""The status of one container, as the API shows it."""

from collections.abc import Mapping

from msgspec import Struct

from dray.api.core.containerstatus import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    ResourceStatus,
    VolumeMountStatus,
)
from dray.api.core.pod import Pod
from dray.api.core.resources import ResourceRequirements
from dray.node.core.podplan import ContainerPlan, Role
from dray.node.core.podstate import PodState, Run, RunPhase
from dray.values.times import Time

__all__ = ["Surroundings", "describe_exit", "render_container"]


class Surroundings(Struct, frozen=True):
    """The pod around a container."""

    pod: Pod
    state: PodState
    health: Mapping[str, tuple[ResourceStatus, ...]]
    """By container: how its devices fare."""


def describe_exit(
    exit_code: int, started_at: Time | None, finished_at: Time, *, container_id: str = "", message: str = ""
) -> ContainerStateTerminated:
    """How a run ended, with the reason that Kubernetes gives it."""
    return ContainerStateTerminated(
        exit_code=exit_code,
        reason="Completed" if exit_code == 0 else "Error",
        message=message,
        started_at=started_at,
        finished_at=finished_at,
        container_id=container_id,
    )


def render_container(container: ContainerPlan, surroundings: Surroundings) -> ContainerStatus:
    """What the container does now, and what became of the run before."""
    run = surroundings.state.run(container.name)
    state, last = _render_states(container, run, surroundings)
    container_id = run.container_id
    if not container_id:
        ended = run.ended or run.last
        container_id = ended.container_id if ended is not None else ""
    return ContainerStatus(
        name=container.name,
        state=state,
        last_state=ContainerState(terminated=last) if last is not None else ContainerState(),
        ready=_is_ready(container, run),
        restart_count=run.restarts,
        image=container.spec.image,
        image_id=container.spec.image if container_id else "",
        container_id=container_id,
        started=run.phase is RunPhase.RUNNING and run.has_started,
        allocated_resources=container.spec.resources.requests if run.is_running else {},
        resources=_render_amounts(container.spec.resources) if run.is_running else None,
        volume_mounts=tuple(
            VolumeMountStatus(
                name=each.name,
                mount_path=each.mount_path,
                read_only=each.read_only,
                recursive_read_only="Disabled" if each.read_only else None,
            )
            for each in container.spec.volume_mounts
        ),
        allocated_resources_status=surroundings.health.get(container.name, ()),
    )


def _render_states(
    container: ContainerPlan, run: Run, surroundings: Surroundings
) -> tuple[ContainerState, ContainerStateTerminated | None]:
    if run.is_running:
        return ContainerState(running=ContainerStateRunning(started_at=run.started_at)), run.last
    if run.phase is RunPhase.ENDED and run.ended is not None:
        if _waits_for_restart(container, run, surroundings.state):
            return ContainerState(waiting=_explain_backoff(container, run, surroundings.pod)), run.ended
        return ContainerState(terminated=run.ended), run.last
    return ContainerState(waiting=_explain_waiting(run, surroundings.pod)), run.last


def _waits_for_restart(container: ContainerPlan, run: Run, state: PodState) -> bool:
    if run.ended is None or state.is_ending or state.is_done or run.backoff_seconds == 0:
        return False
    if container.role is Role.INIT and state.is_initialized:
        return False
    return container.restarts_after(run.ended.exit_code)


def _explain_backoff(container: ContainerPlan, run: Run, pod: Pod) -> ContainerStateWaiting:
    meta = pod.metadata
    text = _format_seconds(run.backoff_seconds)
    message = (
        f"back-off {text} restarting failed container={container.name} pod={meta.name}_{meta.namespace}({meta.uid})"
    )
    return ContainerStateWaiting(reason="CrashLoopBackOff", message=message)


def _format_seconds(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _explain_waiting(run: Run, pod: Pod) -> ContainerStateWaiting:
    if run.waiting_reason:
        return ContainerStateWaiting(reason=run.waiting_reason, message=run.waiting_message)
    return ContainerStateWaiting(reason="PodInitializing" if pod.spec.init_containers else "ContainerCreating")


def _is_ready(container: ContainerPlan, run: Run) -> bool:
    if container.role is Role.INIT:
        return run.has_succeeded
    return run.phase is RunPhase.RUNNING and run.is_ready and container.role is not Role.EPHEMERAL


def _render_amounts(resources: ResourceRequirements) -> ResourceRequirements:
    return ResourceRequirements(limits=resources.limits, requests=resources.requests)

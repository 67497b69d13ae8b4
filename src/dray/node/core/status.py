"""The status of a pod, as the API shows it, from the state of its containers.

Only the agent's part is written anew; what scheduler and controllers wrote (`PodScheduled`, names of claims) stays.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dray.api.core.containerstatus import ResourceStatus
from dray.api.core.pod import Pod
from dray.api.core.podstatus import HostIP, PodCondition, PodIP, PodStatus
from dray.node.core.containerstatus import Surroundings, render_container
from dray.node.core.podplan import PodPlan, Role
from dray.node.core.podstate import PodState, RunPhase
from dray.values.times import Time

__all__ = ["StatusFrame", "find_phase", "render_status"]

_TERMINAL: Final = ("Succeeded", "Failed")
_ORDER: Final = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
"""In which the agent's conditions stand, where they are new."""


class StatusFrame(Struct, frozen=True):
    """What a status needs to know besides the pod."""

    now: Time
    host_ip: str
    health: Mapping[str, tuple[ResourceStatus, ...]] = {}
    """By container: how its devices fare."""


def find_phase(plan: PodPlan, state: PodState) -> str:
    """Pending, Running, Succeeded or Failed."""
    if state.failure is not None and state.is_done:
        return "Failed"
    regular = [(each, state.run(each.name)) for each in plan.select(Role.REGULAR)]
    for container in plan.select(Role.INIT):
        ended = state.run(container.name).ended
        if not state.is_initialized and ended is not None and not container.restarts_after(ended.exit_code):
            return "Failed" if ended.exit_code else "Pending"
    if not state.is_initialized or any(
        run.phase in (RunPhase.WAITING, RunPhase.STARTING) and run.ended is None and run.last is None
        for _, run in regular
    ):
        return "Failed" if state.is_done and state.is_ending else "Pending"
    ended_for_good = [
        run.ended
        for container, run in regular
        if run.phase is RunPhase.ENDED
        and run.ended is not None
        and (state.is_ending or not container.restarts_after(run.ended.exit_code))
    ]
    if len(ended_for_good) < len(regular):
        return "Running"
    return "Succeeded" if all(each.exit_code == 0 for each in ended_for_good) else "Failed"


def render_status(pod: Pod, plan: PodPlan, state: PodState, frame: StatusFrame) -> PodStatus:
    """The pod's status now. A phase that ends the pod is shown only once its devices were given back."""
    phase = find_phase(plan, state)
    if phase in _TERMINAL and not state.is_done:
        phase = pod.status.phase if pod.status.phase in ("Pending", "Running") else "Pending"
    surroundings = Surroundings(pod, state, frame.health)
    init = tuple(render_container(each, surroundings) for each in plan.select(Role.INIT, Role.SIDECAR))
    regular = tuple(render_container(each, surroundings) for each in plan.select(Role.REGULAR))
    ephemeral = tuple(render_container(each, surroundings) for each in plan.select(Role.EPHEMERAL))
    reason, message = state.failure if state.failure is not None else ("", "")
    return replace(
        pod.status,
        phase=phase,
        conditions=_render_conditions(pod, state, _judge(plan, state, phase), frame.now),
        reason=reason,
        message=message,
        host_ip=frame.host_ip,
        host_ips=(HostIP(ip=frame.host_ip),),
        pod_ip=state.pod_ips[0] if state.pod_ips else "",
        pod_ips=tuple(PodIP(ip=each) for each in state.pod_ips),
        start_time=state.start_time,
        init_container_statuses=init,
        container_statuses=regular,
        ephemeral_container_statuses=ephemeral,
        observed_generation=pod.metadata.generation,
    )


class _Verdict(Struct, frozen=True):
    """One condition, without its times."""

    type: str
    is_true: bool
    reason: str = ""
    message: str = ""


def _judge(plan: PodPlan, state: PodState, phase: str) -> list[_Verdict]:
    return [
        _Verdict("PodReadyToStartContainers", state.has_sandbox and phase not in _TERMINAL),
        _judge_initialized(plan, state, phase),
        *_judge_readiness(plan, state, phase),
    ]


def _judge_initialized(plan: PodPlan, state: PodState, phase: str) -> _Verdict:
    if phase == "Succeeded":
        return _Verdict("Initialized", True, "PodCompleted")
    open_ones = [
        each.name
        for each in plan.select(Role.INIT, Role.SIDECAR)
        if not (state.run(each.name).has_succeeded or (each.role is Role.SIDECAR and state.run(each.name).has_started))
    ]
    if state.is_initialized or not open_ones:
        return _Verdict("Initialized", True)
    text = f"containers with incomplete status: [{' '.join(open_ones)}]"
    return _Verdict("Initialized", False, "ContainersNotInitialized", text)


def _judge_readiness(plan: PodPlan, state: PodState, phase: str) -> list[_Verdict]:
    types = ("Ready", "ContainersReady")
    if phase == "Succeeded":
        return [_Verdict(each, False, "PodCompleted") for each in types]
    if phase == "Failed":
        return [_Verdict(each, False, "PodFailed") for each in types]
    unready = [
        each.name
        for each in plan.select(Role.SIDECAR, Role.REGULAR)
        if not (state.run(each.name).phase is RunPhase.RUNNING and state.run(each.name).is_ready)
    ]
    if not unready:
        return [_Verdict(each, True) for each in types]
    text = f"containers with unready status: [{' '.join(unready)}]"
    return [_Verdict(each, False, "ContainersNotReady", text) for each in types]


def _render_conditions(pod: Pod, state: PodState, verdicts: list[_Verdict], now: Time) -> tuple[PodCondition, ...]:
    old = {each.type: each for each in pod.status.conditions}
    verdicts = [_apply_gates(pod, each, old) if each.type == "Ready" else each for each in verdicts]
    mine = {each.type: _render_condition(pod, each, old.get(each.type), now) for each in verdicts}
    if "PodScheduled" not in old:
        # A pod that was bound without a scheduler is scheduled all the same.
        mine["PodScheduled"] = _render_condition(pod, _Verdict("PodScheduled", True), None, now)
    others = [each for each in pod.status.conditions if each.type not in _ORDER]
    return (*others, *(mine[each] if each in mine else old[each] for each in _ORDER))


def _apply_gates(pod: Pod, ready: _Verdict, conditions: dict[str, PodCondition]) -> _Verdict:
    """A pod whose containers are ready may still wait for conditions that others set."""
    if not ready.is_true:
        return ready
    missing = [
        f'corresponding condition of pod readiness gate "{gate.condition_type}" does not exist.'
        if gate.condition_type not in conditions
        else f'the status of pod readiness gate "{gate.condition_type}" is not "True", but '
        f"{conditions[gate.condition_type].status}"
        for gate in pod.spec.readiness_gates
        if gate.condition_type not in conditions or conditions[gate.condition_type].status != "True"
    ]
    return _Verdict("Ready", False, "ReadinessGatesNotReady", ", ".join(missing)) if missing else ready


def _render_condition(pod: Pod, verdict: _Verdict, old: PodCondition | None, now: Time) -> PodCondition:
    status = "True" if verdict.is_true else "False"
    is_same = old is not None and old.status == status
    return PodCondition(
        type=verdict.type,
        status=status,
        last_transition_time=old.last_transition_time if old is not None and is_same else now,
        reason=verdict.reason,
        message=verdict.message,
        observed_generation=pod.metadata.generation,
    )

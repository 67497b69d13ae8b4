"""What an event does to a pod's state. Nothing is decided here; `core.desired` does that."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from dray.node.core.podplan import PodPlan
from dray.node.core.podstate import (
    ClaimsEvent,
    DeletionAsked,
    Event,
    Exited,
    PodState,
    Probed,
    ProbeKind,
    Run,
    RunPhase,
    SandboxReady,
    Started,
    StartFailed,
)
from dray.values.times import MicroTime

__all__ = ["fold"]

_FIRST_BACKOFF_SECONDS: Final = 10
_LONGEST_BACKOFF_SECONDS: Final = 300
_CALM_SECONDS: Final = 2 * _LONGEST_BACKOFF_SECONDS
"""A container that was last restarted so long ago is restarted at once again."""
_START_RETRY_SECONDS: Final = 10


def fold(plan: PodPlan, state: PodState, event: Event) -> PodState:
    """The state after an event. Events about runs that are over change nothing: they may come late, or twice."""
    return _FOLDS[type(event)](plan, state, event)


def _note_claims(plan: PodPlan, state: PodState, event: ClaimsEvent) -> PodState:
    return replace(state, claims=event.phase, claims_retry_at=event.retry_at)


def _note_sandbox(plan: PodPlan, state: PodState, event: SandboxReady) -> PodState:
    is_there = event.retry_at is None
    return replace(
        state,
        has_sandbox=is_there,
        sandbox_is_starting=False,
        pod_ips=event.pod_ips or state.pod_ips,
        claims_retry_at=event.retry_at,
    )


def _note_started(plan: PodPlan, state: PodState, event: Started) -> PodState:
    container = plan.get(event.name).spec
    has_started = container.startup_probe is None
    run = replace(
        state.run(event.name),
        phase=RunPhase.RUNNING,
        container_id=event.container_id,
        started_at=event.at,
        ended=None,
        has_started=has_started,
        is_condemned=False,
        is_ready=has_started and container.readiness_probe is None,
        waiting_reason="",
        waiting_message="",
    )
    return _put(state, event.name, run)


def _note_start_failed(plan: PodPlan, state: PodState, event: StartFailed) -> PodState:
    old = state.run(event.name)
    # What ended last stays what is known of the last run; the failed start was none.
    run = replace(
        old,
        phase=RunPhase.WAITING,
        waiting_reason=event.reason,
        waiting_message=event.message,
        retry_at=event.at.plus_seconds(_START_RETRY_SECONDS),
    )
    return _put(state, event.name, run)


def _note_exited(plan: PodPlan, state: PodState, event: Exited) -> PodState:
    old = state.run(event.name)
    if not old.is_alive or (event.how.container_id and old.container_id not in ("", event.how.container_id)):
        return state
    finished = (event.how.finished_at or state.start_time or _EPOCH).to_micro_time()
    is_calm = old.last_restart is None or finished.seconds_since(old.last_restart) > _CALM_SECONDS
    backoff = 0 if is_calm else min(max(old.backoff_seconds * 2, _FIRST_BACKOFF_SECONDS), _LONGEST_BACKOFF_SECONDS)
    run = replace(
        old,
        phase=RunPhase.ENDED,
        ended=event.how,
        has_started=False,
        is_ready=False,
        backoff_seconds=backoff,
        retry_at=finished.plus_seconds(backoff),
    )
    return _put(state, event.name, run)


def _note_probed(plan: PodPlan, state: PodState, event: Probed) -> PodState:
    old = state.run(event.name)
    if old.phase is not RunPhase.RUNNING or old.container_id != event.container_id:
        return state
    if event.kind is ProbeKind.READINESS:
        return _put(state, event.name, replace(old, is_ready=event.is_good and old.has_started))
    if event.kind is ProbeKind.STARTUP and event.is_good:
        has_readiness = plan.get(event.name).spec.readiness_probe is not None
        return _put(state, event.name, replace(old, has_started=True, is_ready=not has_readiness))
    return state if event.is_good else _put(state, event.name, replace(old, is_condemned=True))


def _note_deletion(plan: PodPlan, state: PodState, event: DeletionAsked) -> PodState:
    if state.kill_at is not None and event.kill_at >= state.kill_at:
        return replace(state, is_deleted=True)
    # What is stopping already has less time now, so it is told again.
    runs = {
        name: replace(run, phase=RunPhase.RUNNING) if run.phase is RunPhase.STOPPING else run
        for name, run in state.runs.items()
    }
    return replace(state, is_deleted=True, kill_at=event.kill_at, runs=runs)


def _put(state: PodState, name: str, run: Run) -> PodState:
    return replace(state, runs={**state.runs, name: run})


_EPOCH: Final = MicroTime(0).to_time()
_FOLDS: Final[Mapping[type, Callable[[PodPlan, PodState, Any], PodState]]] = {
    ClaimsEvent: _note_claims,
    SandboxReady: _note_sandbox,
    Started: _note_started,
    StartFailed: _note_start_failed,
    Exited: _note_exited,
    Probed: _note_probed,
    DeletionAsked: _note_deletion,
}

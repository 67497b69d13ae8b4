"""What should happen next for a pod: from its plan and its state to actions, and the moment to look again.

The decision is made from the state alone, never from the event that led to it. An action that is decided is marked in
the state that comes back (a container to start is then STARTING), so that deciding again does not repeat it.
"""

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from dray.node.core.podplan import ContainerPlan, PodPlan, Role
from dray.node.core.podstate import (
    ClaimsEvent,
    ClaimsPhase,
    Event,
    PodState,
    Run,
    RunPhase,
    SandboxReady,
    StartFailed,
)
from dray.values.times import MicroTime

__all__ = ["Action", "Advance", "Verb", "advance", "plan_retry"]

_RETRY_SECONDS = 10.0
_DEADLINE_REASON = "DeadlineExceeded"
_DEADLINE_MESSAGE = "Pod was active on the node longer than the specified deadline"


class Verb(Enum):
    """What to do."""

    PREPARE = "have the devices of the pod's claims made ready"
    OPEN_SANDBOX = "make a place for containers to run in"
    START = "start a container"
    STOP = "stop a container, and kill it if it does not"
    RELEASE = "have the devices taken back"


class Action(Struct, frozen=True, order=True):
    """One thing to do. `container` and `grace_seconds` are for containers."""

    verb: Verb
    container: str = ""
    grace_seconds: float = 0.0


class Advance(Struct, frozen=True):
    """A decision: the state in which its actions are under way, and when to decide again at the latest."""

    state: PodState
    actions: tuple[Action, ...] = ()
    wake_at: MicroTime | None = None


class _Draft:
    """A decision while it is made."""

    def __init__(self, plan: PodPlan, state: PodState, now: MicroTime) -> None:
        self.plan = plan
        self.state = state
        self.now = now
        self.actions: list[Action] = []
        self.wake_at: MicroTime | None = None

    def wake(self, at: MicroTime) -> None:
        """Decide again then, if not before."""
        if self.wake_at is None or at < self.wake_at:
            self.wake_at = at

    def is_due(self, at: MicroTime | None) -> bool:
        """Whether a moment has come; if not, wake at it."""
        if at is None or at <= self.now:
            return True
        self.wake(at)
        return False

    def put(self, name: str, run: Run) -> None:
        self.state = replace(self.state, runs={**self.state.runs, name: run})


def advance(plan: PodPlan, state: PodState, now: MicroTime) -> Advance:
    """Decide. Without a change of state or time, deciding again yields no action."""
    draft = _Draft(plan, state, now)
    if not state.is_done:
        _check_deadline(draft)
        if draft.state.is_ending or _is_over(plan, draft.state):
            _wind_down(draft)
        else:
            _build_up(draft)
    return Advance(draft.state, tuple(draft.actions), draft.wake_at)


def plan_retry(action: Action, fault: str, now: MicroTime) -> Event | None:
    """What becomes of a pod one of whose actions broke off, for a reason that nobody foresaw: it is tried again."""
    later = now.plus_seconds(_RETRY_SECONDS)
    if action.verb is Verb.PREPARE:
        return ClaimsEvent(ClaimsPhase.WANTED, later)
    if action.verb is Verb.RELEASE:
        return ClaimsEvent(ClaimsPhase.READY, later)
    if action.verb is Verb.OPEN_SANDBOX:
        return SandboxReady(retry_at=later)
    return StartFailed(action.container, "CreateContainerError", fault, now) if action.verb is Verb.START else None


def _check_deadline(draft: _Draft) -> None:
    plan, state = draft.plan, draft.state
    if plan.deadline_seconds is None or state.start_time is None or state.is_ending:
        return
    if draft.is_due(state.start_time.plus_seconds(plan.deadline_seconds).to_micro_time()):
        kill_at = draft.now.plus_seconds(plan.grace_seconds)
        draft.state = replace(state, failure=(_DEADLINE_REASON, _DEADLINE_MESSAGE), kill_at=kill_at)


def _is_over(plan: PodPlan, state: PodState) -> bool:
    """Whether the pod has come to its own end: no regular container runs, and none will."""
    if not state.is_initialized:
        return any(_has_failed_for_good(each, state.run(each.name)) for each in plan.select(Role.INIT))
    return all(_is_final(each, state.run(each.name)) for each in plan.select(Role.REGULAR))


def _is_final(container: ContainerPlan, run: Run) -> bool:
    return run.phase is RunPhase.ENDED and run.ended is not None and not container.restarts_after(run.ended.exit_code)


def _has_failed_for_good(container: ContainerPlan, run: Run) -> bool:
    return _is_final(container, run) and not run.has_succeeded


def _build_up(draft: _Draft) -> None:
    """Towards all containers running: devices first, then the sandbox, then containers in their order."""
    state = draft.state
    if state.claims is ClaimsPhase.WANTED and draft.is_due(state.claims_retry_at):
        draft.state = replace(state, claims=ClaimsPhase.PREPARING, claims_retry_at=None)
        draft.actions.append(Action(Verb.PREPARE))
    if draft.state.claims is not ClaimsPhase.READY:
        return
    if not state.has_sandbox:
        if not state.sandbox_is_starting and draft.is_due(state.claims_retry_at):
            draft.state = replace(draft.state, sandbox_is_starting=True)
            draft.actions.append(Action(Verb.OPEN_SANDBOX))
        return
    _stop_condemned(draft)
    if _initialize(draft):
        for container in draft.plan.select(Role.REGULAR):
            _start_if_due(draft, container)
    for container in draft.plan.select(Role.EPHEMERAL):
        if draft.state.run(container.name).phase is RunPhase.WAITING:
            _start_if_due(draft, container)


def _stop_condemned(draft: _Draft) -> None:
    """End what a probe wants ended; its policy then starts it again."""
    for container in draft.plan.containers:
        run = draft.state.run(container.name)
        if run.is_condemned and run.phase is RunPhase.RUNNING:
            draft.put(container.name, replace(run, phase=RunPhase.STOPPING, is_ready=False))
            draft.actions.append(Action(Verb.STOP, container.name, _probe_grace_seconds(draft.plan, container)))


def _probe_grace_seconds(plan: PodPlan, container: ContainerPlan) -> float:
    probe = container.spec.liveness_probe or container.spec.startup_probe
    own = probe.termination_grace_period_seconds if probe is not None else None
    return plan.grace_seconds if own is None else own


def _initialize(draft: _Draft) -> bool:
    """Work off init containers and sidecars, one after the other; True once all are behind us."""
    for container in draft.plan.select(Role.INIT, Role.SIDECAR):
        run = draft.state.run(container.name)
        if container.role is Role.SIDECAR:
            _start_if_due(draft, container)
            if not draft.state.is_initialized and not (run.phase is RunPhase.RUNNING and run.has_started):
                return False
        elif not draft.state.is_initialized and not run.has_succeeded:
            _start_if_due(draft, container)
            return False
    if not draft.state.is_initialized:
        draft.state = replace(draft.state, is_initialized=True)
    return True


def _start_if_due(draft: _Draft, container: ContainerPlan) -> None:
    """Start a container that does not run, if it should and may by now."""
    run = draft.state.run(container.name)
    if run.is_alive or _is_final(container, run):
        return
    if not draft.is_due(run.retry_at):
        return
    is_restart = run.phase is RunPhase.ENDED
    draft.put(
        container.name,
        replace(
            run,
            phase=RunPhase.STARTING,
            container_id="",
            ended=None,
            last=run.ended if is_restart else run.last,
            restarts=run.restarts + is_restart,
            last_restart=draft.now if is_restart else run.last_restart,
            retry_at=None,
        ),
    )
    draft.actions.append(Action(Verb.START, container.name))


def _wind_down(draft: _Draft) -> None:
    """Towards nothing running and nothing held: regular containers, then sidecars, last one first, then devices."""
    plan = draft.plan
    if draft.state.kill_at is None:
        draft.state = replace(draft.state, kill_at=draft.now.plus_seconds(plan.grace_seconds))
    for container in plan.select(Role.INIT, Role.REGULAR, Role.EPHEMERAL):
        _stop(draft, container.name)
    if _is_any_alive(draft, Role.INIT, Role.REGULAR, Role.EPHEMERAL):
        return
    for container in reversed(plan.select(Role.SIDECAR)):
        _stop(draft, container.name)
        if draft.state.run(container.name).is_alive:
            return
    _release(draft)


def _is_any_alive(draft: _Draft, *roles: Role) -> bool:
    return any(draft.state.run(each.name).is_alive for each in draft.plan.select(*roles))


def _stop(draft: _Draft, name: str) -> None:
    """Stop a container that runs. One that is just starting is stopped as soon as it has started."""
    run = draft.state.run(name)
    if run.phase is not RunPhase.RUNNING:
        return
    kill_at = draft.state.kill_at or draft.now
    draft.put(name, replace(run, phase=RunPhase.STOPPING, is_ready=False))
    draft.actions.append(Action(Verb.STOP, name, max(0.0, kill_at.seconds_since(draft.now))))


def _release(draft: _Draft) -> None:
    """Give the devices back, once nothing runs; with that the pod is done."""
    state = draft.state
    if state.claims in (ClaimsPhase.PREPARING, ClaimsPhase.RELEASING) or state.sandbox_is_starting:
        return
    if state.claims is ClaimsPhase.RELEASED:
        draft.state = replace(state, is_done=True)
        return
    # A failed attempt to prepare is no reason to wait: what it left behind is given back at once.
    if state.claims is ClaimsPhase.WANTED or draft.is_due(state.claims_retry_at):
        draft.state = replace(state, claims=ClaimsPhase.RELEASING, claims_retry_at=None)
        draft.actions.append(Action(Verb.RELEASE))

"""A pod's course without a node: what is decided, step by step, and what happens in between."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from dray.api.codec import get_codec
from dray.api.core.containerstatus import ContainerStateTerminated
from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodStatus
from dray.node.core.containerstatus import describe_exit
from dray.node.core.desired import Action, Verb, advance
from dray.node.core.podplan import plan_pod
from dray.node.core.podstate import (
    ClaimsEvent,
    ClaimsPhase,
    DeletionAsked,
    Event,
    Exited,
    PodState,
    Probed,
    ProbeKind,
    Run,
    SandboxReady,
    Started,
)
from dray.node.core.recovery import recover
from dray.node.core.status import StatusFrame, render_status
from dray.node.core.transitions import fold
from dray.values.times import MicroTime

__all__ = ["Course", "make_pod"]

BEGIN = MicroTime(1_767_225_600_000_000)
"""2026-01-01T00:00:00Z."""


def make_pod(*containers: str | dict[str, Any], init: Any = (), **more: Any) -> Pod:
    """A pod of containers by name, or as they are written; `more` is of the spec."""
    spec = {
        "containers": [_container(each) for each in containers],
        "initContainers": [_container(each) for each in init],
        "nodeName": "node-a",
    } | more
    meta = {"name": "p", "namespace": "default", "uid": "u"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    return get_codec(POD, "v1").decode(msgspec.json.encode(body))


def _container(each: str | dict[str, Any]) -> dict[str, Any]:
    return {"image": "example/app:1"} | ({"name": each} if isinstance(each, str) else each)


@dataclass
class Course:
    """One pod. Every method lets something happen, and returns what is decided then."""

    pod: Pod
    now: MicroTime = BEGIN
    wake_at: MicroTime | None = None
    state: PodState = field(init=False)

    def __post_init__(self) -> None:
        self.plan = plan_pod(self.pod)
        self.state = recover(self.pod, self.plan, (), self.now.to_time())

    def step(self, *events: Event) -> list[str]:
        """Decide after some events; deciding again must decide nothing more."""
        for event in events:
            self.state = fold(self.plan, self.state, event)
        decision = advance(self.plan, self.state, self.now)
        self.state, self.wake_at = decision.state, decision.wake_at
        again = advance(self.plan, self.state, self.now)
        assert again.actions == ()
        assert again.state == self.state
        self.pod = replace(self.pod, status=self.status)
        return [_write(each) for each in decision.actions]

    def later(self, seconds: float) -> list[str]:
        """Time passes."""
        self.now = self.now.plus_seconds(seconds)
        return self.step()

    def prepared(self) -> list[str]:
        return self.step(ClaimsEvent(ClaimsPhase.READY))

    def not_prepared(self, retry_seconds: float = 60) -> list[str]:
        return self.step(ClaimsEvent(ClaimsPhase.WANTED, self.now.plus_seconds(retry_seconds)))

    def released(self) -> list[str]:
        return self.step(ClaimsEvent(ClaimsPhase.RELEASED))

    def not_released(self, retry_seconds: float = 10) -> list[str]:
        return self.step(ClaimsEvent(ClaimsPhase.READY, self.now.plus_seconds(retry_seconds)))

    def sandbox(self) -> list[str]:
        return self.step(SandboxReady(("10.0.0.1",)))

    def started(self, name: str) -> list[str]:
        """A container runs; one without probes is ready with that."""
        run = f"{name}-{self.run(name).restarts}"
        return self.step(Started(name, run, self.now.to_time()))

    def exited(self, name: str, code: int = 0) -> list[str]:
        return self.step(Exited(name, self._exit(name, code)))

    def _exit(self, name: str, code: int) -> ContainerStateTerminated:
        run = self.run(name)
        return describe_exit(code, run.started_at, self.now.to_time(), container_id=run.container_id)

    def probed(self, name: str, kind: ProbeKind, *, is_good: bool) -> list[str]:
        return self.step(Probed(name, kind, is_good=is_good, container_id=self.run(name).container_id))

    def deleted(self, grace_seconds: float = 30) -> list[str]:
        return self.step(DeletionAsked(self.now.plus_seconds(grace_seconds)))

    def up(self, *names: str) -> None:
        """From the beginning to containers that run, without claims."""
        self.step()
        self.sandbox()
        for name in names:
            self.started(name)

    def run(self, name: str) -> Run:
        return self.state.run(name)

    @property
    def wakes_in(self) -> float | None:
        return None if self.wake_at is None else self.wake_at.seconds_since(self.now)

    @property
    def phase(self) -> str:
        return self.status.phase

    @property
    def status(self) -> PodStatus:
        """The pod's status as the API shows it."""
        return render_status(self.pod, self.plan, self.state, StatusFrame(self.now.to_time(), "10.0.0.9"))

    def shown(self, name: str) -> str:
        """A container's state in a word, as kubectl has it."""
        every = (*self.status.init_container_statuses, *self.status.container_statuses)
        state = next(each.state for each in every if each.name == name)
        if state.waiting is not None:
            return state.waiting.reason
        return state.terminated.reason if state.terminated is not None else "Running"

    def conditions(self) -> dict[str, bool]:
        return {each.type: each.status == "True" for each in self.status.conditions}


def _write(action: Action) -> str:
    if action.verb is Verb.STOP:
        return f"stop {action.container} in {action.grace_seconds:g}"
    return " ".join(filter(None, (action.verb.name.lower(), action.container)))

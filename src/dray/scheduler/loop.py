"""The scheduler's loop: the one owner of its state. News in, decisions, orders out; nothing is awaited in deciding."""

import asyncio
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any, Final

from dray.api.core.kinds import NAMESPACE, NODE, POD, SERVICE
from dray.api.policy.kinds import POD_DISRUPTION_BUDGET
from dray.api.registry import AnyKind
from dray.api.resource.kinds import DEVICE_CLASS, DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.scheduling.kinds import POD_GROUP
from dray.audit.violations import Violation
from dray.client.changes import Change
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.errors import InternalError
from dray.scheduler.bind import Binder
from dray.scheduler.claimwrites import ClaimWrites
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.news import Bound, Changed, NotBound
from dray.scheduler.core.orders import Order
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.queue import DEFAULT_PACE, QueuePace
from dray.scheduler.core.reporting import next_report
from dray.scheduler.core.selfcheck import check_state
from dray.scheduler.core.settling import check_waiting, find_deadline
from dray.scheduler.core.state import SchedulerState
from dray.scheduler.core.step import schedule_next, step
from dray.scheduler.crew import Crew
from dray.scheduler.events import PodEvents
from dray.scheduler.inbox import Inbox
from dray.scheduler.observing import NO_OBSERVER, Observer

__all__ = ["KINDS", "Scheduler", "SchedulerEffects", "SchedulerOptions"]

KINDS: Final[Sequence[AnyKind]] = (
    NAMESPACE,
    DEVICE_CLASS,
    NODE,
    DEVICE_TAINT_RULE,
    RESOURCE_SLICE,
    RESOURCE_CLAIM,
    POD_GROUP,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    POD,
)
"""What the scheduler hears of, in the order in which it first hears of it: what pods are judged by before the pods."""

_SLICE_SECONDS: Final = 0.005
"""How long decisions are made before others in the process get their turn."""


@dataclass(frozen=True, slots=True)
class SchedulerEffects:
    """Time, chance and the log, as the scheduler is given them."""

    clock: Clock
    entropy: Entropy
    log: Log


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """How a scheduler works. `instance` names this process in events; with `self_check` every decision is audited."""

    profiles: Sequence[Profile] = (Profile(),)
    pace: QueuePace = DEFAULT_PACE
    instance: str = "dray"
    self_check: bool = False
    absent: Set[AnyKind] = frozenset()
    """Kinds that the API server does not serve, and that are not waited for."""

    @property
    def kinds(self) -> Sequence[AnyKind]:
        """What is heard of."""
        return [kind for kind in KINDS if kind not in self.absent]


class Scheduler:
    """Owns the state, and nothing else may hold it. Reads views of informers that someone else runs."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformers,
        options: SchedulerOptions,
        effects: SchedulerEffects,
        observer: Observer = NO_OBSERVER,
    ) -> None:
        self._informers = informers
        self._options = options
        self._effects = effects
        self._observer = observer
        self._state = SchedulerState(options.profiles, effects.entropy.uid, options.pace)
        self._inbox = Inbox(effects.clock)
        pace = Pace(effects.clock, effects.entropy)
        self._events = PodEvents(client, options.instance, pace, effects.log)
        claims = ClaimWrites(client, pace, observer)
        self._binder = Binder(client, claims, self._events, pace, effects.log)
        self._crew = Crew(self._perform)
        self._known_faults: set[Violation] = set()
        self._is_busy = True
        for kind in options.kinds:
            informers.get(kind)
        observer.watch(self._state)

    @property
    def is_idle(self) -> bool:
        """Whether everything that was heard of is decided, written and told."""
        return not self._is_busy and not len(self._inbox) and self._crew.is_idle and self._events.is_idle

    async def run(self) -> None:
        """Work until cancelled. Decides nothing before all kinds were heard of. Run it once."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._events.run(), name="scheduler events")
            tasks.create_task(self._crew.run(), name="scheduler orders")
            await self._informers.wait_synced(self._options.kinds)
            for kind in self._options.kinds:
                self._informers.get(kind).add_handler(self._hear)
            self._effects.log.info("scheduler is at work", profiles=",".join(self._state.profiles))
            while True:
                self._work()
                await asyncio.sleep(0)
                if not self._has_work:
                    self._is_busy = False
                    await self._inbox.wait(self._next_due(), tasks)
                    self._is_busy = True

    def _hear(self, change: Change[Any]) -> None:
        old = change.old if change.new is not None else change.latest
        self._inbox.put(Changed(old, change.new))

    async def _perform(self, order: Order) -> None:
        begun = self._effects.clock.monotonic()
        await self._binder.perform(order, self._inbox.put)
        self._observer.order_done(order, self._effects.clock.monotonic() - begun)

    @property
    def _has_work(self) -> bool:
        return bool(len(self._inbox) or self._state.queue.has_ready or self._state.reports)

    def _now(self) -> Moment:
        return Moment(self._effects.clock.monotonic(), self._effects.clock.now())

    def _work(self) -> None:
        """Take in all news, then decide for a while. Reports come when there is nothing to decide."""
        now = self._now()
        deadline = now.seconds + _SLICE_SECONDS
        self._take_news(now)
        if self._options.self_check:
            self._known_faults = set(check_state(self._state))
        if self._state.waiting:
            self._give(check_waiting(self._state, now))
        while now.seconds < deadline:
            before = self._state.counters.attempts.copy()
            orders = schedule_next(self._state, now)
            begun, now = now.seconds, self._now()
            if orders is None:
                self._tell(now)
                return
            self._observer.attempt_made(now.seconds - begun)
            for ending in (self._state.counters.attempts - before).elements():
                self._observer.attempt_ended(ending, now.seconds - begun)
            self._give(orders)
            if self._options.self_check:
                self._check()

    def _take_news(self, now: Moment) -> None:
        while (news := self._inbox.take()) is not None:
            if isinstance(news, Bound | NotBound):
                self._observer.binding_ended(news, now.seconds)
            self._give(step(self._state, news, now))

    def _tell(self, now: Moment) -> None:
        """One report at a time: an explanation may take a while."""
        report = next_report(self._state, now.seconds)
        if report is not None:
            self._crew.give(report)

    def _give(self, orders: Sequence[Order]) -> None:
        for order in orders:
            self._crew.give(order)

    def _next_due(self) -> float | None:
        now = self._now()
        due = self._state.queue.next_due(now.seconds)
        deadline = find_deadline(self._state)
        if deadline is None:
            return due
        ready_by = now.seconds + max(0.0, deadline.seconds_since(now.date)) + 0.001
        return ready_by if due is None else min(due, ready_by)

    def _check(self) -> None:
        """Have the state audited. A contradiction that a decision brought about is a fault of ours."""
        found = set(check_state(self._state))
        fresh = found - self._known_faults
        self._known_faults = found
        for violation in sorted(fresh, key=str):
            self._effects.log.error("state contradicts itself", violation=str(violation))
        if fresh:
            raise InternalError(f"after a decision: {'; '.join(sorted(map(str, fresh)))}")

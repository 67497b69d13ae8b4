"""What the scheduler counts, under Kubernetes' names, so that existing dashboards work; and a few of our own.

The one module of the scheduler that knows Prometheus. Whoever serves `/metrics` gives the registry. What can be read
from the state is read when somebody asks.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dray.allocator.bits import bits
from dray.api.meta import OwnerReference
from dray.api.resource.claim import ResourceClaim
from dray.effects.claimcreation import ClaimCreations
from dray.scheduler.core.counters import Ending
from dray.scheduler.core.entry import Entry
from dray.scheduler.core.news import Bound, NotBound
from dray.scheduler.core.orders import Evict, Order
from dray.scheduler.core.queue import Place
from dray.scheduler.core.state import DeviceWait, SchedulerState

__all__ = ["SchedulerMetrics"]

_SECONDS: Final = tuple(0.001 * 2**n for n in range(15))
_ATTEMPTS: Final = tuple(float(2**n) for n in range(5))
_SLI_SECONDS: Final = tuple(0.01 * 2**n for n in range(20))
_VICTIMS: Final = tuple(float(2**n) for n in range(7))
_WAIT_SECONDS: Final = tuple(0.1 * 2**n for n in range(14))


class SchedulerMetrics(Collector):
    """Watches one scheduler."""

    def __init__(self, registry: CollectorRegistry, creations: ClaimCreations | None = None) -> None:
        self._state: SchedulerState | None = None
        self._creations = creations or ClaimCreations(registry)
        self._decisions = Histogram(
            "scheduler_scheduling_algorithm_duration_seconds",
            "Time from taking a pod from the queue to the decision about it.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._attempts = Histogram(
            "scheduler_scheduling_attempt_duration_seconds",
            "Time from taking a pod from the queue until it is bound, or is not.",
            ("result", "profile"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._group_attempts = Histogram(
            "scheduler_podgroup_scheduling_attempt_duration_seconds",
            "Time from taking a group from the queue to the decision about it.",
            ("result", "profile"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._attempts_a_pod = Histogram(
            "scheduler_pod_scheduling_attempts",
            "How often pods were tried until they were placed.",
            buckets=_ATTEMPTS,
            registry=registry,
        )
        self._pods = Histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "Time from when a pod could be tried first to its binding.",
            ("attempts",),
            buckets=_SLI_SECONDS,
            registry=registry,
        )
        self._bindings = Histogram(
            "scheduler_binding_duration_seconds",
            "Time from the decision about a pod to its binding.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._victims = Histogram(
            "scheduler_preemption_victims",
            "How many pods were evicted for the sake of one.",
            buckets=_VICTIMS,
            registry=registry,
        )
        self._waits = Histogram(
            "scheduler_dra_bindingconditions_wait_duration_seconds",
            "Time that pods waited for devices to get ready, for each of their devices.",
            ("profile", "driver", "status"),
            buckets=_WAIT_SECONDS,
            registry=registry,
        )
        self._prepared = Counter(
            "scheduler_dra_bindingconditions_allocations",
            "Allocated devices that had to get ready.",
            ("profile", "driver", "status"),
            registry=registry,
        )
        self._claim_creates = Counter(
            "scheduler_resourceclaim_creates",
            "Claims that were made for extended resources, or could not be, as Kubernetes before 1.37 counts them.",
            ("status",),
            registry=registry,
        )
        registry.register(self)

    # What the scheduler tells

    def watch(self, state: SchedulerState) -> None:
        """See `Observer.watch`."""
        self._state = state

    def attempt_made(self, seconds: float) -> None:
        """See `Observer.attempt_made`."""
        self._decisions.observe(seconds)

    def attempt_ended(self, ending: Ending, seconds: float) -> None:
        """See `Observer.attempt_ended`."""
        histogram = self._group_attempts if ending.is_group else self._attempts
        histogram.labels(ending.result, ending.profile).observe(seconds)

    def binding_ended(self, news: Bound | NotBound, now: float) -> None:
        """See `Observer.binding_ended`."""
        assumed = None if self._state is None else self._state.assumed.get(news.pod_uid)
        if assumed is None:
            return
        profile, seconds = assumed.pod.spec.scheduler_name, now - assumed.since
        is_bound = isinstance(news, Bound) or assumed.is_seen
        self._attempts.labels("scheduled" if is_bound else "error", profile).observe(seconds)
        if is_bound:
            self._bindings.observe(seconds)
            self._note_placed(assumed.entry, now)
        if assumed.wait is not None:
            self._note_waited(assumed.wait, profile, assumed.claims)

    def order_done(self, order: Order, seconds: float) -> None:
        """See `Observer.order_done`."""
        if isinstance(order, Evict):
            self._victims.observe(len(order.victims))

    def claim_created(self, owner: OwnerReference, *, is_made: bool) -> None:
        """See `Observer.claim_created`."""
        self._creations.count(owner, is_made=is_made)
        self._claim_creates.labels("success" if is_made else "failure").inc()

    def _note_placed(self, entry: Entry, now: float) -> None:
        self._attempts_a_pod.observe(entry.attempts)
        shown = str(entry.attempts) if entry.attempts < 15 else "15+"
        self._pods.labels(shown).observe(now - entry.added)

    def _note_waited(self, wait: DeviceWait, profile: str, claims: Sequence[ResourceClaim]) -> None:
        for claim in claims:
            allocation = claim.status.allocation
            for result in () if allocation is None else allocation.devices.results:
                self._waits.labels(profile, result.driver, wait.status).observe(wait.seconds)
                if result.binding_conditions:
                    self._prepared.labels(profile, result.driver, wait.status).inc()

    # What is read when somebody asks

    def collect(self) -> Iterable[Metric]:
        """Figures of the state as it is."""
        state = self._state
        if state is None:
            return
        attempts, of_groups = _make_attempts("scheduler_schedule"), _make_attempts("scheduler_podgroup_schedule")
        for ending, number in sorted(state.counters.attempts.items()):
            (of_groups if ending.is_group else attempts).add_metric((ending.result, ending.profile), number)
        yield from (attempts, of_groups)
        yield from self._collect_queue(state)
        refused = GaugeMetricFamily(
            "scheduler_unschedulable_pods", "Pods that a plugin refused last.", labels=("plugin", "profile")
        )
        for (plugin, profile), pods in sorted(_count_refused(state).items()):
            refused.add_metric((plugin, profile), pods)
        yield refused
        yield from _collect_ours(state)

    def _collect_queue(self, state: SchedulerState) -> Iterable[Metric]:
        pending = GaugeMetricFamily("scheduler_pending_pods", "Pods that wait for a node.", labels=("queue",))
        for place, pods in state.queue.count().items():
            pending.add_metric((place.value,), pods)
        yield pending
        incoming = CounterMetricFamily(
            "scheduler_queue_incoming_pods", "Pods that came to a queue, by cause.", labels=("queue", "event")
        )
        for (place, cause), number in sorted(state.queue.incoming.items()):
            if place is not Place.TAKEN:
                incoming.add_metric((place.value, cause), number)
        yield incoming
        cache = GaugeMetricFamily("scheduler_cache_size", "What the scheduler knows of.", labels=("type",))
        cache.add_metric(("nodes",), state.snapshot.present.bit_count())
        cache.add_metric(("pods",), sum(len(state.snapshot.node(each).pods) for each in bits(state.snapshot.present)))
        cache.add_metric(("assumed_pods",), len(state.assumed))
        yield cache
        counters = state.counters
        searches = "How often it was looked for pods to evict."
        yield _total("scheduler_preemption_attempts", searches, counters.preemptions)
        broken = "Pods that were evicted although a disruption budget would have kept them."
        yield _total("scheduler_preemption_pdb_violations", broken, counters.violations)
        flushed = "Pods that were placed when they were tried for no reason but that they waited long."
        yield _total("scheduler_pod_scheduled_after_flush", flushed, counters.flushed)


def _make_attempts(prefix: str) -> CounterMetricFamily:
    return CounterMetricFamily(f"{prefix}_attempts", "Attempts by how they ended.", labels=("result", "profile"))


def _total(name: str, text: str, number: int) -> CounterMetricFamily:
    return CounterMetricFamily(name, text, value=number)


def _count_refused(state: SchedulerState) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for entry in state.queue.entries():
        if entry.place is Place.UNSCHEDULABLE:
            for plugin in entry.plugins:
                key = (plugin, entry.pod.spec.scheduler_name)
                counts[key] = counts.get(key, 0) + len(entry.pods)
    return counts


def _collect_ours(state: SchedulerState) -> Iterable[Metric]:
    counters = state.counters
    recalled = "Attempts answered from what was found out for a pod of the same likeness."
    yield _total("dray_scheduler_recalled_attempts", recalled, counters.recalled)
    yield _total("dray_scheduler_explanations", "Refusals that were explained.", counters.explanations)
    yield _total("dray_allocator_search_steps", "Choices that the search for devices looked at.", counters.steps)
    verdicts = CounterMetricFamily(
        "dray_allocator_verdicts", "Verdicts on classes of nodes, by whether one was known.", labels=("answer",)
    )
    verdicts.add_metric(("remembered",), max(0, state.cluster.plans.judged - state.cluster.plans.searched))
    verdicts.add_metric(("searched",), state.cluster.plans.searched)
    yield verdicts

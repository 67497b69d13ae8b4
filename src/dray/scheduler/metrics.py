"""What the scheduler counts, under Kubernetes' names, so that existing dashboards work; and a few of our own.

The one module of the scheduler that knows Prometheus. Whoever serves `/metrics` gives the registry. What can be read
from the state is read when somebody asks.
"""

from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dray.scheduler.core.orders import AbandonBinding, Bind, FinishBinding, Order
from dray.scheduler.core.queue import Place
from dray.scheduler.core.state import SchedulerState

__all__ = ["SchedulerMetrics"]

_SECONDS: Final = tuple(0.001 * 2**n for n in range(15))
_ATTEMPTS: Final = tuple(float(2**n) for n in range(5))
_SLI_SECONDS: Final = tuple(0.01 * 2**n for n in range(20))
_WAIT_SECONDS: Final = tuple(0.1 * 2**n for n in range(14))


class SchedulerMetrics(Collector):
    """Watches one scheduler."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._state: SchedulerState | None = None
        self.attempt_seconds = Histogram(
            "scheduler_scheduling_algorithm_duration_seconds",
            "Time from taking a pod from the queue to the decision about it.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.attempts_a_pod = Histogram(
            "scheduler_pod_scheduling_attempts",
            "How often pods were tried until they were placed.",
            buckets=_ATTEMPTS,
            registry=registry,
        )
        self.pod_seconds = Histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "Time from when a pod could be tried first to its binding.",
            ("attempts",),
            buckets=_SLI_SECONDS,
            registry=registry,
        )
        self.binding_seconds = Histogram(
            "scheduler_binding_duration_seconds",
            "Time from the decision about a pod to its binding.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.waiting_seconds = Histogram(
            "scheduler_dra_bindingconditions_wait_duration_seconds",
            "Time that pods waited for devices to get ready.",
            ("profile", "driver", "status"),
            buckets=_WAIT_SECONDS,
            registry=registry,
        )
        self.waits = Counter(
            "scheduler_dra_bindingconditions_allocations",
            "Allocated devices that had to get ready.",
            ("profile", "driver", "status"),
            registry=registry,
        )
        self.claim_creates = Counter(
            "dray_scheduler_resourceclaim_creates",
            "Claims that were made for extended resources, or could not be made.",
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
        self.attempt_seconds.observe(seconds)

    def order_done(self, order: Order, seconds: float) -> None:
        """See `Observer.order_done`."""
        match order:
            case Bind():
                self._note_bound(order, seconds)
            case FinishBinding() | AbandonBinding():
                self._note_waited(order)

    def claim_created(self, is_success: bool) -> None:
        """See `Observer.claim_created`."""
        self.claim_creates.labels("success" if is_success else "failure").inc()

    def _note_bound(self, order: Bind, seconds: float) -> None:
        self.binding_seconds.observe(seconds)
        assumed = None if self._state is None else self._state.assumed.get(order.pod.metadata.uid)
        if assumed is None:
            return
        entry = assumed.entry
        self.attempts_a_pod.observe(entry.attempts)
        shown = str(entry.attempts) if entry.attempts < 15 else "15+"
        self.pod_seconds.labels(shown).observe(assumed.since + seconds - entry.added)

    def _note_waited(self, order: FinishBinding | AbandonBinding) -> None:
        status = "success" if isinstance(order, FinishBinding) else _name_failure(order.message)
        for claim in order.claims:
            allocation = claim.status.allocation
            for result in () if allocation is None else allocation.devices.results:
                if result.binding_conditions:
                    self.waits.labels(order.bind.pod.spec.scheduler_name, result.driver, status).inc()

    # What is read when somebody asks

    def collect(self) -> Iterable[Metric]:
        """Figures of the state as it is."""
        state = self._state
        if state is None:
            return
        attempts = CounterMetricFamily(
            "scheduler_schedule_attempts", "Attempts by how they ended.", labels=("result", "profile")
        )
        for (result, profile), number in sorted(state.counters.attempts.items()):
            attempts.add_metric((result, profile), number)
        yield attempts
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
        cache.add_metric(("assumed_pods",), len(state.assumed))
        yield cache
        tries = CounterMetricFamily("scheduler_preemption_attempts", "Evictions that were decided on.")
        tries.add_metric((), state.counters.preemptions)
        yield tries


def _name_failure(message: str) -> str:
    if "device binding timeout" in message:
        return "timeout"
    return "failure" if "device binding failed" in message else "error"


def _count_refused(state: SchedulerState) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for entry in state.queue.entries():
        if entry.place is Place.UNSCHEDULABLE:
            for plugin in entry.plugins:
                key = (plugin, entry.pod.spec.scheduler_name)
                counts[key] = counts.get(key, 0) + len(entry.pods)
    return counts


def _collect_ours(state: SchedulerState) -> Iterable[Metric]:
    recalled = CounterMetricFamily(
        "dray_scheduler_recalled_attempts", "Attempts answered from what was found out for a pod of the same likeness."
    )
    recalled.add_metric((), state.counters.recalled)
    yield recalled
    explained = CounterMetricFamily("dray_scheduler_explanations", "Refusals that were explained.")
    explained.add_metric((), state.counters.explanations)
    yield explained
    steps = CounterMetricFamily("dray_allocator_search_steps", "Choices that the search for devices looked at.")
    steps.add_metric((), state.counters.steps)
    yield steps
    verdicts = CounterMetricFamily(
        "dray_allocator_verdicts", "Verdicts on classes of nodes, by whether one was known.", labels=("answer",)
    )
    verdicts.add_metric(("remembered",), max(0, state.cluster.plans.judged - state.cluster.plans.searched))
    verdicts.add_metric(("searched",), state.cluster.plans.searched)
    yield verdicts

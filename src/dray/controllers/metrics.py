"""What controllers count, under Kubernetes' names, so that existing dashboards work.

The one module of controllers that knows Prometheus. Whoever serves `/metrics` gives the registry.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dray.api.meta import OwnerReference
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.podclaims import EXTENDED_RESOURCE_ANNOTATION, POD_CLAIM_ANNOTATION
from dray.controllers.generatedclaims import asks_for_admin_access
from dray.controllers.runtime import Controller
from dray.effects.claimcreation import ClaimCreations

__all__ = ["ControllerMetrics"]

_EVICTION_BUCKETS: Final = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240)
_WORK_BUCKETS: Final = tuple(1e-8 * 10**n for n in range(12))
_CLAIM_GAUGES: Final = ("dynamic_resource_allocation_resource_claims", "resourceclaim_controller_resource_claims")
"""The name since Kubernetes 1.37, and the one before."""
_ANSWER_BUCKETS: Final = tuple(0.001 * 2**n for n in range(15))


class ControllerMetrics:
    """The metrics of all controllers of a process."""

    def __init__(self, registry: CollectorRegistry, creations: ClaimCreations | None = None) -> None:
        self._registry = registry
        self._creations = creations or ClaimCreations(registry)
        self._claim_creates = Counter(
            "resourceclaim_controller_creates",
            "Claims that were made, or could not be made, as Kubernetes before 1.37 counts them.",
            ("status", "admin_access"),
            registry=registry,
        )
        self.pod_deletions = Counter(
            "device_taint_eviction_controller_pod_deletions",
            "Pods that were deleted because of tainted devices.",
            registry=registry,
        )
        self.pod_deletion_seconds = Histogram(
            "device_taint_eviction_controller_pod_deletion_duration_seconds",
            "Time from when a pod was due to go until it was deleted.",
            buckets=_EVICTION_BUCKETS,
            registry=registry,
        )
        self.pool_requests = Counter(
            "resourcepoolstatusrequest_controller_requests_processed",
            "Questions about pools that were answered.",
            ("driver_name",),
            registry=registry,
        )
        self.pool_request_errors = Counter(
            "resourcepoolstatusrequest_controller_request_processing_errors",
            "Attempts to answer a question about pools that failed.",
            ("driver_name",),
            registry=registry,
        )
        self.pool_request_seconds = Histogram(
            "resourcepoolstatusrequest_controller_request_processing_duration_seconds",
            "Time it took to answer a question about pools.",
            ("driver_name",),
            buckets=_ANSWER_BUCKETS,
            registry=registry,
        )

        self._work_seconds = Histogram(
            "workqueue_work_duration_seconds",
            "Time it took to work on a key of a queue.",
            ("name",),
            buckets=_WORK_BUCKETS,
            registry=registry,
        )

    def count_claim_create(self, claim: ResourceClaim, owner: OwnerReference, *, is_made: bool) -> None:
        """A claim was made for an owner, or could not be."""
        is_for_administrators = asks_for_admin_access(claim)
        self._creations.count(owner, is_made=is_made, is_for_administrators=is_for_administrators)
        status = "success" if is_made else "failure"
        self._claim_creates.labels(status, str(is_for_administrators).lower()).inc()

    def watch_queues(self, controllers: Sequence[Controller[Any]]) -> None:
        """Tell how controllers get through their work."""
        for controller in controllers:
            controller.work_done = self._work_seconds.labels(_name_queue(controller)).observe
        self._registry.register(_QueueFigures(controllers))

    def gauge_claims(self, list_claims: Callable[[], Iterable[ResourceClaim]]) -> None:
        """Count claims whenever somebody asks for metrics."""
        self._registry.register(_ClaimGauge(list_claims))


class _QueueFigures(Collector):
    """What the queues of controllers are like at the moment of a scrape."""

    def __init__(self, controllers: Sequence[Controller[Any]]) -> None:
        self._controllers = controllers

    def collect(self) -> Iterable[Metric]:
        """Look at each queue."""
        depth = GaugeMetricFamily("workqueue_depth", "Keys that wait to be worked on.", labels=("name",))
        adds = CounterMetricFamily("workqueue_adds", "Keys that came to a queue.", labels=("name",))
        retries = CounterMetricFamily("workqueue_retries", "Keys that something failed for.", labels=("name",))
        for each in self._controllers:
            name = (_name_queue(each),)
            depth.add_metric(name, each.depth)
            adds.add_metric(name, each.added)
            retries.add_metric(name, each.retried)
        return (depth, adds, retries)


def _name_queue(controller: Controller[Any]) -> str:
    return controller.name.replace(" ", "_")


class _ClaimGauge(Collector):
    """Counts the claims there are at the moment of a scrape."""

    def __init__(self, list_claims: Callable[[], Iterable[ResourceClaim]]) -> None:
        self._list_claims = list_claims

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """The families without samples."""
        return [_make_claim_family(name) for name in _CLAIM_GAUGES]

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Count."""
        counts: dict[tuple[str, str, str], int] = {}
        for claim in self._list_claims():
            key = (
                str(claim.status.allocation is not None).lower(),
                str(asks_for_admin_access(claim)).lower(),
                _find_source(claim),
            )
            counts[key] = counts.get(key, 0) + 1
        families = [_make_claim_family(name) for name in _CLAIM_GAUGES]
        for family in families:
            for labels, count in sorted(counts.items()):
                family.add_metric(labels, count)
        return families


def _make_claim_family(name: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, "Claims there are.", labels=("allocated", "admin_access", "source"))


def _find_source(claim: ResourceClaim) -> str:
    annotations = claim.metadata.annotations
    if annotations.get(EXTENDED_RESOURCE_ANNOTATION) == "true":
        return "extended_resource"
    return "resource_claim_template" if POD_CLAIM_ANNOTATION in annotations else ""

"""Numbers about a driver, in the format of Prometheus, under the names that kubelets and drivers use."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["MEDIA_TYPE", "DriverMetrics", "Operation"]

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_BUCKETS: Final = tuple(0.1 * 400 ** (step / 14) for step in range(15))
"""15 from 0.1 s to 40 s, each longer than the last by the same factor: those of the kubelet."""


class Operation(StrEnum):
    """What the kubelet asks for, as metrics name it."""

    PREPARE = "PrepareResources"
    UNPREPARE = "UnprepareResources"


class DriverMetrics:
    """What one driver did. A registry of its own, so that many drivers live in one process."""

    def __init__(self, driver: str, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._driver = driver
        self._claims = Histogram(
            "dra_operations_duration_seconds",
            "Time to prepare or unprepare one claim",
            ("driver_name", "operation_name", "is_error"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._calls = Histogram(
            "dra_grpc_operations_duration_seconds",
            "Time to answer one call",
            ("driver_name", "method_name", "grpc_status_code"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._in_use = Gauge(
            "dra_resource_claims_in_use", "Claims that are prepared", ("driver_name",), registry=self.registry
        )
        self._writes = Counter(
            "dra_resourceslice_writes_total",
            "ResourceSlices created, updated and deleted",
            ("driver_name", "verb"),
            registry=self.registry,
        )
        self._publish_errors = Counter(
            "dra_resourceslice_errors_total",
            "Failures to publish ResourceSlices",
            ("driver_name",),
            registry=self.registry,
        )
        for operation in Operation:  # series exist from the start, so that a rate can be taken
            for is_error in ("false", "true"):
                self._claims.labels(driver, operation.value, is_error)
        self._in_use.labels(driver).set(0)

    def observe_claim(self, operation: Operation, seconds: float, *, is_error: bool) -> None:
        """One claim was prepared or unprepared, or failed to be."""
        self._claims.labels(self._driver, operation.value, str(is_error).lower()).observe(seconds)

    def observe_call(self, method: str, code: str, seconds: float) -> None:
        """One call over a socket was answered."""
        self._calls.labels(self._driver, method, code).observe(seconds)

    def add_claims_in_use(self, count: int) -> None:
        """So many more claims are prepared now, or fewer. Hosts that share these metrics add up."""
        self._in_use.labels(self._driver).inc(count)

    def count_slice_writes(self, counts: Mapping[str, int]) -> None:
        """Slices were written, by verb."""
        for verb, count in counts.items():
            self._writes.labels(self._driver, verb).inc(count)

    def count_publish_error(self) -> None:
        """Publishing failed once."""
        self._publish_errors.labels(self._driver).inc()

    def render(self) -> bytes:
        """Everything, as text."""
        return generate_latest(self.registry)

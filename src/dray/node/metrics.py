"""What the agent counts and times of its drivers, under the kubelet's names."""

from collections import Counter as Counts
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from dray.node.core.prepared_claims import PreparedClaims

__all__ = ["NodeMetrics"]

_BUCKETS: Final = tuple(round(0.1 * 400 ** (step / 14), 6) for step in range(15))
"""Fifteen steps from 0.1 to 40 seconds, each as much larger than the one before."""
_TOTAL: Final = "<any>"


class NodeMetrics:
    """Metrics of one process; agents of many nodes share them."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._operations = Histogram(
            "dra_operations_duration_seconds",
            "Latency in seconds for the duration of preparing or unpreparing the claims of a pod",
            ["operation_name", "is_error"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._calls = Histogram(
            "dra_grpc_operations_duration_seconds",
            "Duration in seconds of the gRPC operations to DRA drivers",
            ["driver_name", "method_name", "grpc_status_code"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._in_use = Gauge(
            "dra_resource_claims_in_use",
            "The number of claims that are prepared on this node",
            ["driver_name"],
            registry=self.registry,
        )
        self._in_use.labels(_TOTAL).set(0)
        self._skips = {
            operation: Counter(
                f"dra_node_{operation}_skips_total", "Calls that were left out", ["driver_name"], registry=self.registry
            )
            for operation in ("prepare", "unprepare")
        }
        self._claims: dict[str, Counts[str]] = {}
        self._totals: Counts[str] = Counts()

    def note_operation(self, name: str, seconds: float, *, is_error: bool) -> None:
        """All claims of a pod were prepared or released, or failed to be."""
        self._operations.labels(name, str(is_error).lower()).observe(seconds)

    def note_call(self, driver: str, method: str, code: str, seconds: float) -> None:
        """One call of a driver has ended."""
        self._calls.labels(driver, method, code).observe(seconds)

    def count_skip(self, driver: str, operation: str) -> None:
        """A call was left out, as the claim's devices ask."""
        self._skips[operation].labels(driver).inc()

    def note_claims(self, node: str, claims: PreparedClaims) -> None:
        """The claims that a node holds have changed. A driver without claims is not told of; the total always is."""
        now: Counts[str] = Counts()
        for record in claims.select():
            now.update({_TOTAL: 1} | dict.fromkeys(record.drivers, 1))
        before = self._claims.pop(node, Counts())
        if now:
            self._claims[node] = now
        for name in now.keys() | before.keys():
            self._totals[name] += now[name] - before[name]
            if self._totals[name] or name == _TOTAL:
                self._in_use.labels(name).set(self._totals[name])
            else:
                self._in_use.remove(name)

"""From which nodes the devices of a pool can be used, as far as slices name nodes."""

from __future__ import annotations

from dray.allocator.ids import PoolId
from dray.api.resource.slice import ResourceSlice
from dray.scheduler.core.snapshot import Snapshot

__all__ = ["Reach"]


class Reach:
    """The nodes of each pool. What no slice ties to a node can be used from any, as far as we care."""

    def __init__(self) -> None:
        self._pools: dict[PoolId, dict[str, str]] = {}

    def add(self, source: ResourceSlice) -> None:
        """Take in a slice."""
        pool = PoolId(source.spec.driver, source.spec.pool.name)
        self._pools.setdefault(pool, {})[source.metadata.name] = source.spec.node_name or ""

    def remove(self, source: ResourceSlice) -> None:
        """Forget a slice."""
        pool = PoolId(source.spec.driver, source.spec.pool.name)
        slices = self._pools.get(pool, {})
        slices.pop(source.metadata.name, None)
        if not slices:
            self._pools.pop(pool, None)

    def nodes(self, pool: PoolId, snapshot: Snapshot) -> int:
        """The nodes from which devices of the pool may be used, as a set of numbers."""
        found = 0
        for name in self._pools.get(pool, {}).values():
            if not name:
                return snapshot.present
            number = snapshot.find_number(name)
            if number is not None:
                found |= 1 << number
        return found

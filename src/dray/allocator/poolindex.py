"""All slices of a cluster, by pool and by the node that they belong to."""

from __future__ import annotations

from collections.abc import Iterable

from dray.allocator.ids import PoolId
from dray.allocator.pools import PoolRecord
from dray.allocator.slices import PreparedSlice

__all__ = ["PoolIndex"]


class PoolIndex:
    """Finds pools by name, by slice, and by node."""

    def __init__(self) -> None:
        self._records: dict[PoolId, PoolRecord] = {}
        self._slices: dict[str, PreparedSlice] = {}
        self._owned: dict[str, dict[PoolId, PoolRecord]] = {}
        self._spread: dict[PoolId, PoolRecord] = {}

    def get(self, pool: PoolId) -> PoolRecord | None:
        """The pool of that name, if a slice of it is there."""
        return self._records.get(pool)

    def find(self, name: str) -> PoolRecord | None:
        """The pool that a slice belongs to, if the slice is there."""
        prepared = self._slices.get(name)
        return None if prepared is None else self._records[prepared.pool]

    def seen_from(self, node: str) -> Iterable[PoolRecord]:
        """Pools of which the node may see something: those with a slice of its own, and those for several nodes."""
        return {**self._owned.get(node, {}), **self._spread}.values()

    def put(self, prepared: PreparedSlice) -> PoolRecord:
        """Add a slice of a new name. Returns its pool."""
        self._slices[prepared.name] = prepared
        record = self._records.get(prepared.pool)
        if record is None:
            record = self._records[prepared.pool] = PoolRecord(prepared.pool)
        record.slices[prepared.name] = prepared
        owner = prepared.source.spec.node_name
        if owner:
            self._owned.setdefault(owner, {})[record.id] = record
        else:
            self._spread[record.id] = record
        return record

    def remove(self, name: str) -> None:
        """Forget a slice, and its pool with the last one."""
        prepared = self._slices.pop(name)
        record = self._records[prepared.pool]
        del record.slices[name]
        if not record.slices:
            del self._records[record.id]
        owner = prepared.source.spec.node_name
        if owner and owner not in record.owners:
            del self._owned[owner][record.id]
            if not self._owned[owner]:
                del self._owned[owner]
        if not record.is_spread:
            self._spread.pop(record.id, None)

"""What a pool of partitions, or of devices that are shared, has left: the views of a pool status beyond plain counts.

What cannot be told without contradiction is not told: the fault takes its place, and the plain counts stay.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from dray.api.resource.device import Device, DeviceAttribute, DeviceCounterConsumption
from dray.api.resource.poolstatus import PartitionTypeStatus, ShareableCapacityStatus, ShareableSummaryStatus
from dray.api.resource.slice import ResourceSlice
from dray.controllers.newestslices import PoolKey
from dray.values.quantity import Quantity

__all__ = ["Holdings", "ViewFault", "summarise_partitions", "summarise_shares"]

_MOST_ROWS: Final = 32


class ViewFault(ValueError):
    """Why a view of a pool cannot be told. The text begins with a word that programs look for."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """What claims hold of one pool, administrative access left out."""

    devices: frozenset[str] = frozenset()
    capacity: Mapping[str, Quantity] = field(default_factory=dict)
    """By name of the capacity, summed over devices and shares."""


class CounterKey(NamedTuple):
    """One counter of a pool."""

    set_name: str
    counter: str


Counters = dict[CounterKey, Quantity]


@dataclass(slots=True)
class _Type:
    """The devices of one type of partition."""

    costs: Counters
    total: int = 0
    unused: int = 0


def summarise_partitions(
    key: PoolKey, slices: Sequence[ResourceSlice], default_attribute: str | None, holdings: Holdings
) -> tuple[PartitionTypeStatus, ...]:
    """How many devices of each type of partition there are, and could be allocated if only that type was.

    Raises ViewFault.
    """
    declares = any(source.spec.partition_type_attribute for source in slices)
    attributes = {
        source.metadata.name: source.spec.partition_type_attribute or (None if declares else default_attribute)
        for source in slices
    }
    has_grouped = any(attributes[source.metadata.name] and source.spec.devices for source in slices)
    if not has_grouped:
        return ()
    if not any(source.spec.shared_counters for source in slices):
        raise ViewFault(
            f"PartitionTypeMissing: pool {key} declares partitionTypeAttribute but publishes no sharedCounters"
        )
    types: dict[tuple[str, str], _Type] = {}
    for source in slices:
        attribute = attributes[source.metadata.name]
        for device in source.spec.devices or ():
            if attribute and device.consumes_counters:
                _count(types, key, attribute, device, holdings)
    left = _find_left(slices, holdings)
    rows = tuple(
        PartitionTypeStatus(attribute=name, type=type_, total=each.total, allocatable=_fit(each, left))
        for (name, type_), each in sorted(types.items())
    )
    if len(rows) > _MOST_ROWS:
        many = f"{len(rows)} partition types, exceeding the maximum of {_MOST_ROWS}"
        raise ViewFault(f"PartitionSummaryOverCap: pool {key} has {many}")
    return rows


def _count(
    types: dict[tuple[str, str], _Type], key: PoolKey, attribute: str, device: Device, holdings: Holdings
) -> None:
    found = _find_attribute(device, attribute, key.driver)
    if found is None or found.string is None:
        raise ViewFault(
            f'PartitionTypeMissing: device "{device.name}" in pool {key} does not carry partition type '
            f'attribute "{attribute}"'
        )
    costs = _sum_costs(device.consumes_counters)
    each = types.setdefault((attribute, found.string), _Type(costs))
    if each.costs != costs:
        raise ViewFault(
            f'PartitionCostMismatch: devices of partition type "{found.string}" in pool {key} consume different '
            "counters"
        )
    each.total += 1
    each.unused += device.name not in holdings.devices


def _find_attribute(device: Device, name: str, driver: str) -> DeviceAttribute | None:
    """An attribute by its full name; names without a domain are in the domain of the driver."""
    return device.attributes.get(name) or device.attributes.get(name.removeprefix(f"{driver}/"))


def _sum_costs(consumption: Iterable[DeviceCounterConsumption]) -> Counters:
    return {
        CounterKey(each.counter_set, name): counter.value
        for each in consumption
        for name, counter in each.counters.items()
    }


def _find_left(slices: Sequence[ResourceSlice], holdings: Holdings) -> Counters:
    """What devices in use leave of the counters; each takes its part once, however many claims hold it."""
    left = {
        CounterKey(each.name, name): counter.value
        for source in slices
        for each in source.spec.shared_counters or ()
        for name, counter in each.counters.items()
    }
    for source in slices:
        for device in source.spec.devices or ():
            if device.name in holdings.devices:
                for key, amount in _sum_costs(device.consumes_counters).items():
                    if key in left:
                        left[key] = left[key] - amount
    return left


def _fit(each: _Type, left: Counters) -> int:
    """How many unused devices of a type fit, all being of one cost."""
    remaining, fitting = dict(left), 0
    while fitting < each.unused and all(
        key in remaining and remaining[key] >= cost for key, cost in each.costs.items()
    ):
        for key, cost in each.costs.items():
            remaining[key] = remaining[key] - cost
        fitting += 1
    return fitting


def summarise_shares(
    key: PoolKey, slices: Sequence[ResourceSlice], holdings: Holdings
) -> ShareableSummaryStatus | None:
    """What is left of the devices that allow several allocations; None if there are none. Raises ViewFault."""
    shared = [
        device for source in slices for device in source.spec.devices or () if device.allow_multiple_allocations is True
    ]
    if not shared:
        return None
    totals: dict[str, Quantity] = {}
    for device in shared:
        for name, capacity in device.capacity.items():
            totals[name] = totals[name] + capacity.value if name in totals else capacity.value
    if len(totals) > _MOST_ROWS:
        many = f"{len(totals)} shareable capacity keys, exceeding the maximum of {_MOST_ROWS}"
        raise ViewFault(f"ShareableSummaryOverCap: pool {key} has {many}")
    partly = sum(1 for device in shared if device.name in holdings.devices)
    return ShareableSummaryStatus(
        fully_available_devices=len(shared) - partly,
        partially_available_devices=partly,
        capacity=tuple(_tell_capacity(name, totals[name], holdings) for name in sorted(totals)),
    )


def _tell_capacity(name: str, total: Quantity, holdings: Holdings) -> ShareableCapacityStatus:
    nothing = total - total
    consumed = holdings.capacity.get(name, nothing)
    available = total - consumed
    return ShareableCapacityStatus(
        name=name, total=total, consumed=consumed, available=available if available >= nothing else nothing
    )

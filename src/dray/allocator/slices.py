"""Slices as the allocator keeps them: facts that every decision needs, and what a slice *is* to one decision.

Two slices are of one model, for a decision, if they agree in everything that decision can read. What nobody reads, such
as a serial number of each device, does not tell them apart; that is why a cluster of equal nodes costs one search.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache

from dray.allocator.ids import PoolId
from dray.allocator.interning import Interner
from dray.api.resource.device import CounterSet, Device, DeviceCapacity
from dray.api.resource.slice import ResourceSlice

__all__ = ["NO_READS", "PreparedSlice", "Reads"]


@dataclass(frozen=True, slots=True)
class Reads:
    """Which properties of devices a decision can read, by qualified name.

    `everything` stands for an expression that cannot be pinned down. `amounts` says that requests for capacity are
    made, so that every capacity of a device counts, with its policy.
    """

    attributes: frozenset[str] = frozenset()
    capacities: frozenset[str] = frozenset()
    everything: bool = False
    amounts: bool = False

    def __or__(self, other: Reads) -> Reads:
        return Reads(
            self.attributes | other.attributes,
            self.capacities | other.capacities,
            self.everything or other.everything,
            self.amounts or other.amounts,
        )


NO_READS = Reads()


@dataclass(slots=True, eq=False)
class PreparedSlice:
    """One slice, and the models it was found to be of.

    The slice itself is never changed. `models` and `columns` remember answers; both follow from the slice.
    """

    source: ResourceSlice
    name: str = field(init=False)
    pool: PoolId = field(init=False)
    devices: tuple[Device, ...] = field(init=False)
    counter_sets: tuple[CounterSet, ...] = field(init=False)
    has_binding_conditions: bool = field(init=False)
    _models: dict[Reads, int] = field(init=False, default_factory=dict)
    _columns: dict[Hashable, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        spec = self.source.spec
        self.name = self.source.metadata.name
        self.pool = PoolId(spec.driver, spec.pool.name)
        self.devices = spec.devices or ()
        self.counter_sets = spec.shared_counters or ()
        self.has_binding_conditions = any(device.binding_conditions for device in self.devices)

    def model(self, reads: Reads, interner: Interner) -> int:
        """The number of this slice's model for a decision that reads `reads`."""
        known = self._models.get(reads)
        if known is None:
            known = self._models[reads] = interner.number(self._model_key(reads, interner))
        return known

    def kinds(self, reads: Reads, interner: Interner) -> tuple[int, ...]:
        """A number for each device; devices of one number look alike to a decision that reads `reads`."""
        driver = self.pool.driver
        skips = bool(self.source.spec.skip_node_operations)
        wanted = _wanted(reads, driver)
        return tuple(
            interner.number(("device", driver, skips, tuple(_cell(device, each) for each in wanted)))
            for device in self.devices
        )

    def _model_key(self, reads: Reads, interner: Interner) -> Hashable:
        columns = tuple(self._column(wanted, interner) for wanted in _wanted(reads, self.pool.driver))
        return "slice", self.pool.driver, bool(self.source.spec.skip_node_operations), len(self.devices), columns

    def _column(self, wanted: Hashable, interner: Interner) -> int:
        known = self._columns.get(wanted)
        if known is None:
            known = self._columns[wanted] = interner.number(self._cells(wanted))
        return known

    def _cells(self, wanted: Hashable) -> Hashable:
        match wanted:
            case ("attribute", name):  # the shape of most columns, in a hurry: a cluster has many devices
                return tuple([device.attributes.get(str(name)) for device in self.devices])
            case _:
                return tuple([_cell(device, wanted) for device in self.devices])


@lru_cache(maxsize=256)
def _wanted(reads: Reads, driver: str) -> tuple[Hashable, ...]:
    """The columns of a slice that decide what it is to a decision."""
    wanted: list[Hashable] = ["structure"]
    if reads.amounts or reads.everything:
        wanted.append("capacity")
    if reads.everything:
        return (*wanted, "attributes")
    wanted += [("attribute", *_spellings(name, driver)) for name in sorted(reads.attributes)]
    wanted += [("capacity", *_spellings(name, driver)) for name in sorted(reads.capacities)]
    return tuple(wanted)


def _spellings(qualified: str, driver: str) -> tuple[str, ...]:
    """How a device of the driver may spell a qualified name: in full, and bare if the domain is the driver's own."""
    domain, _, name = qualified.partition("/")
    return (qualified, name) if domain == driver else (qualified,)


def _cell(device: Device, wanted: Hashable) -> Hashable:
    """What one device contributes to a column."""
    match wanted:
        case "structure":
            return _structure(device)
        case "attributes":
            return frozenset(device.attributes.items())
        case "capacity":
            return frozenset((name, _capacity(capacity)) for name, capacity in device.capacity.items())
        case ("attribute", *names):
            return tuple(device.attributes.get(str(name)) for name in names)
        case ("capacity", *names):
            return tuple(_capacity(device.capacity.get(str(name))) for name in names)
    return None


def _structure(device: Device) -> Hashable:
    """What every decision reads of a device, whatever is asked for."""
    if not (device.taints or device.consumes_counters or device.allow_multiple_allocations):
        return bool(device.binding_conditions)
    consumption = tuple(
        (
            drawn.counter_set,
            drawn.compatibility_groups,
            frozenset((k, c.value.nanos) for k, c in drawn.counters.items()),
        )
        for drawn in device.consumes_counters
    )
    is_shared = bool(device.allow_multiple_allocations)
    shared = frozenset((name, _capacity(capacity)) for name, capacity in device.capacity.items()) if is_shared else None
    taints = tuple((taint.key, taint.value, taint.effect) for taint in device.taints)
    return bool(device.binding_conditions), taints, consumption, shared


def _capacity(capacity: DeviceCapacity | None) -> Hashable:
    """A capacity by value; of the spelling only what `isInteger` in a selector can see."""
    if capacity is None:
        return None
    policy = capacity.request_policy
    rule: Hashable = None
    if policy is not None:
        valid = policy.valid_range
        bounds = None if valid is None else (valid.min, valid.max, valid.step)
        rule = (policy.default, policy.valid_values, bounds)
    return capacity.value.nanos, capacity.value.is_integer, rule

"""From what a driver offers and what is published to the writes in between. Pure.

A pool's slices are known by their names, which begin with a number: `00001-gpu.example.com-node-a-x7k2p`. A slice whose
content is as it should be is not written. Whoever reads slices must never take a half-written pool for a whole one, so
as soon as more than one slice changes all of them move to a new generation, and count again only once every one has.
The plan is made anew from what is published each time: after a crash at any point the next plan finishes the work.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dray.api.core.nodeselector import NodeSelector
from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.resource.device import Device, DeviceTaint
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.driver.devices import Devices, Pool, Reach
from dray.driver.placement import pack_counter_sets, place_devices
from dray.errors import FieldError, duplicate, invalid, not_found
from dray.values.fieldpath import ROOT, FieldPath, key

__all__ = [
    "Adopted",
    "Publisher",
    "SlicePlan",
    "SliceWrite",
    "check_devices",
    "have_same_content",
    "list_pools",
    "parse_slice_index",
    "plan_slice_writes",
]

_INDEX_DIGITS: Final = 5
_TAINT_SECONDS: Final = 1
"""Times of taints that lie so close together are the same: servers keep whole seconds."""


class Publisher(Struct, frozen=True, kw_only=True):
    """Who publishes: a driver, for its node or for none."""

    driver: str
    node_name: str = ""
    node_uid: str = ""

    @property
    def owner_references(self) -> tuple[OwnerReference, ...]:
        """Slices of a node go when their Node goes."""
        if not self.node_name:
            return ()
        return (OwnerReference(api_version="v1", kind="Node", name=self.node_name, uid=self.node_uid, controller=True),)

    def generate_name(self, index: int, width: int) -> str:
        """What a slice's name begins with; the number survives however long the rest is."""
        return "-".join(filter(None, (f"{index:0{width}x}", self.driver, self.node_name))) + "-"


class SliceWrite(Struct, frozen=True):
    """One slice to create or to update, and which it is."""

    pool: str
    index: int
    resource: ResourceSlice


class SlicePlan(Struct, frozen=True, kw_only=True):
    """Writes in the order in which they are made.

    Slices that go are deleted first where a pool keeps its generation, for they would count as a part of it, and last
    where it gets a new one, which must not be lost with them.
    """

    deletes_before: tuple[ResourceSlice, ...] = ()
    updates: tuple[SliceWrite, ...] = ()
    creates: tuple[SliceWrite, ...] = ()
    deletes_after: tuple[ResourceSlice, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything is published as it should be."""
        return not (self.deletes_before or self.updates or self.creates or self.deletes_after)


Adopted = Mapping[tuple[str, int], tuple[ResourceSliceSpec, ResourceSliceSpec]]
"""By pool and index: what was sent, and what the server made of it, where it dropped fields."""


def list_pools(devices: Devices, node_name: str) -> dict[str, Pool]:
    """The pools by name, where an unnamed one has the node's. Raises ValueError for a name that comes twice."""
    pools: dict[str, Pool] = {}
    for pool in devices.pools:
        name = pool.name or node_name
        if name in pools:
            raise ValueError(f"pool {name!r} is offered twice")
        pools[name] = pool
    return pools


def check_devices(pools: Mapping[str, Pool]) -> list[FieldError]:
    """Faults that only show in a pool as a whole. The rest the API server checks, slice by slice."""
    return [fault for name, pool in pools.items() for fault in _check_pool(pool, ROOT / "pools" / key(name))]


def _check_pool(pool: Pool, at: FieldPath) -> list[FieldError]:
    faults: list[FieldError] = []
    counters: dict[str, set[str]] = {}
    for index, counter_set in enumerate(pool.counter_sets):
        if counter_set.name in counters:
            faults.append(duplicate(at / "counterSets" / index / "name", counter_set.name))
        counters[counter_set.name] = set(counter_set.counters)
    seen: set[str] = set()
    for index, device in enumerate(pool.devices):
        place = at / "devices" / index
        if device.name in seen:
            faults.append(duplicate(place / "name", device.name))
        seen.add(device.name)
        faults += _check_consumption(device, counters, place)
    return faults


def _check_consumption(device: Device, counters: Mapping[str, set[str]], at: FieldPath) -> list[FieldError]:
    faults: list[FieldError] = []
    for index, consumption in enumerate(device.consumes_counters):
        place = at / "consumesCounters" / index
        if consumption.counter_set not in counters:
            detail = "the pool has no such counter set"
            faults.append(not_found(place / "counterSet", consumption.counter_set, detail))
            continue
        faults += [
            invalid(place / "counters" / key(name), name, "the counter set has no such counter")
            for name in consumption.counters
            if name not in counters[consumption.counter_set]
        ]
    return faults


def parse_slice_index(name: str, width: int) -> int | None:
    """The number in a slice's name; None for a name of another make."""
    digits, dash, _ = name.partition("-")
    is_ours = dash and len(digits) == width and set(digits) <= set("0123456789abcdef")
    return int(digits, 16) if is_ours else None


def plan_slice_writes(
    publisher: Publisher, pools: Mapping[str, Pool], published: Sequence[ResourceSlice], adopted: Adopted
) -> SlicePlan:
    """What to write so that exactly `pools` are published.

    `published` are the slices that the publisher answers for; those of pools that are no longer offered go.
    """
    by_pool: dict[str, list[ResourceSlice]] = {name: [] for name in pools}
    gone: list[ResourceSlice] = []
    for each in sorted(published, key=lambda each: each.metadata.name):
        by_pool.get(each.spec.pool.name, gone).append(each)
    plans = [_plan_pool(_PoolWork(publisher, name, pool, adopted), by_pool[name]) for name, pool in pools.items()]
    return SlicePlan(
        deletes_before=(*_oldest_first(gone), *(each for plan in plans for each in plan.deletes_before)),
        updates=tuple(each for plan in plans for each in plan.updates),
        creates=tuple(each for plan in plans for each in plan.creates),
        deletes_after=tuple(each for plan in plans for each in plan.deletes_after),
    )


def _oldest_first(slices: Sequence[ResourceSlice]) -> list[ResourceSlice]:
    """Deleted in this order, what is left always has the newest generation there was."""
    return sorted(slices, key=lambda each: each.spec.pool.generation)


class _PoolWork(Struct, frozen=True):
    """One pool to plan."""

    publisher: Publisher
    name: str
    pool: Pool
    adopted: Adopted


def _plan_pool(work: _PoolWork, published: Sequence[ResourceSlice]) -> SlicePlan:
    contents = _plan_contents(work, published)
    width = max(_INDEX_DIGITS, len(f"{len(contents) - 1:x}"))
    matched: dict[int, ResourceSlice] = {}
    obsolete: list[ResourceSlice] = []
    for each in published:
        index = parse_slice_index(each.metadata.name, width)
        if (
            index is None
            or index >= len(contents)
            or index in matched
            or each.spec.node_name != contents[index].node_name
        ):
            obsolete.append(each)
        else:
            matched[index] = each
    current = max((each.spec.pool.generation for each in published), default=0)
    wanted = [_settle(work, index, content, matched.get(index)) for index, content in enumerate(contents)]
    count = len(contents)
    changed = [
        index for index, each in matched.items() if not _is_as_wanted(each.spec, wanted[index], (current, count))
    ]
    is_whole = len(matched) == count and all(each.spec.pool.generation == current for each in matched.values())
    generation = current if is_whole and len(changed) <= 1 else current + 1
    generation = max(generation, work.pool.least_generation)
    if generation != current:
        changed = sorted(matched)
    pool = ResourcePool(name=work.name, generation=generation, resource_slice_count=count)
    specs = [replace(spec, driver=work.publisher.driver, pool=pool) for spec in wanted]
    goes = tuple(_oldest_first(obsolete))
    return SlicePlan(
        deletes_before=goes if generation == current else (),
        deletes_after=goes if generation != current else (),
        updates=tuple(_update(work, index, matched[index], specs[index]) for index in sorted(changed)),
        creates=tuple(_create(work, index, width, specs[index]) for index in range(count) if index not in matched),
    )


def _plan_contents(work: _PoolWork, published: Sequence[ResourceSlice]) -> list[ResourceSliceSpec]:
    """The slices of a pool, first those with counters, without what changes from write to write."""
    pool = work.pool
    counter_slices = pack_counter_sets(pool.counter_sets)
    device_slices = place_devices(pool.devices, _find_places(published)) if pool.devices or not counter_slices else []
    bare = _reach(work)
    contents = [replace(bare, shared_counters=each) for each in counter_slices]
    for each in device_slices:
        draws = any(device.consumes_counters for device in each)
        attribute = pool.partition_type_attribute if draws else None
        contents.append(replace(bare, devices=each or None, partition_type_attribute=attribute))
    return contents


def _find_places(published: Sequence[ResourceSlice]) -> dict[str, int]:
    """In which of the slices with devices, counted from 0, a device is now."""
    with_devices = [each for each in published if each.spec.devices]
    return {device.name: place for place, each in enumerate(with_devices) for device in each.spec.devices or ()}


def _reach(work: _PoolWork) -> ResourceSliceSpec:
    reach, skipped = work.pool.reachable_from, work.pool.skip_node_operations
    if isinstance(reach, NodeSelector):
        return ResourceSliceSpec(node_selector=reach, skip_node_operations=skipped)
    if reach is Reach.EVERY_NODE:
        return ResourceSliceSpec(all_nodes=True, skip_node_operations=skipped)
    if reach is Reach.EACH_DEVICE_SAYS:
        return ResourceSliceSpec(per_device_node_selection=True, skip_node_operations=skipped)
    return ResourceSliceSpec(node_name=work.publisher.node_name, skip_node_operations=skipped)


def _settle(work: _PoolWork, index: int, content: ResourceSliceSpec, stored: ResourceSlice | None) -> ResourceSliceSpec:
    """What is wanted, with the times that taints have already, and without what the server drops anyway."""
    if stored is not None and content.devices:
        content = replace(content, devices=_keep_taint_times(content.devices, stored.spec.devices or ()))
    sent, kept = work.adopted.get((work.name, index), (None, None))
    if sent is not None and kept is not None and have_same_content(sent, content):
        return kept
    return content


def _keep_taint_times(devices: Sequence[Device], stored: Sequence[Device]) -> tuple[Device, ...]:
    times = {
        (device.name, taint.key, taint.value, taint.effect): taint.time_added
        for device in stored
        for taint in device.taints
    }

    def settle(device: Device) -> Device:
        if all(taint.time_added is not None for taint in device.taints):
            return device
        taints = [
            taint
            if taint.time_added is not None
            else replace(taint, time_added=times.get((device.name, taint.key, taint.value, taint.effect)))
            for taint in device.taints
        ]
        return replace(device, taints=tuple(taints))

    return tuple(map(settle, devices))


def _is_as_wanted(stored: ResourceSliceSpec, wanted: ResourceSliceSpec, edition: tuple[int, int]) -> bool:
    return (stored.pool.generation, stored.pool.resource_slice_count) == edition and have_same_content(stored, wanted)


_NO_POOL = ResourcePool()


def have_same_content(one: ResourceSliceSpec, other: ResourceSliceSpec) -> bool:
    """Whether two slices offer the same, whatever edition of which pool of whose they are."""
    return _bare(one) == _bare(other) and _have_same_devices(one.devices or (), other.devices or ())


def _bare(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    return replace(spec, driver="", pool=_NO_POOL, devices=None)


def _have_same_devices(some: Sequence[Device], others: Sequence[Device]) -> bool:
    return len(some) == len(others) and all(
        one == other or (_without_taints(one) == _without_taints(other) and _have_same_taints(one.taints, other.taints))
        for one, other in zip(some, others, strict=True)
    )


def _without_taints(device: Device) -> Device:
    return replace(device, taints=())


def _have_same_taints(some: Sequence[DeviceTaint], others: Sequence[DeviceTaint]) -> bool:
    return len(some) == len(others) and all(map(_is_same_taint, some, others))


def _is_same_taint(one: DeviceTaint, other: DeviceTaint) -> bool:
    if (one.key, one.value, one.effect) != (other.key, other.value, other.effect):
        return False
    if one.time_added is None or other.time_added is None:
        return True
    return abs(one.time_added.seconds_since(other.time_added)) <= _TAINT_SECONDS


def _update(work: _PoolWork, index: int, stored: ResourceSlice, spec: ResourceSliceSpec) -> SliceWrite:
    return SliceWrite(work.name, index, replace(stored, spec=spec))


def _create(work: _PoolWork, index: int, width: int, spec: ResourceSliceSpec) -> SliceWrite:
    publisher = work.publisher
    metadata = ObjectMeta(
        generate_name=publisher.generate_name(index, width), owner_references=publisher.owner_references
    )
    return SliceWrite(work.name, index, ResourceSlice(metadata=metadata, spec=spec))

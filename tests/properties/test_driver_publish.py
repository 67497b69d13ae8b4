"""Publishing devices: whatever is offered, and whenever the driver dies, exactly what was offered last is published."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.resource.device import Counter, CounterSet, Device, DeviceAttribute, DeviceTaint
from dray.api.resource.slice import ResourceSlice
from dray.driver.devices import Pool
from dray.driver.placement import MAX_COUNTER_SETS, MAX_DEVICES
from dray.driver.slices import Publisher, SlicePlan, plan_slice_writes
from dray.values.quantity import Quantity
from dray.values.times import Time

PUBLISHER = Publisher(driver="gpu.example.com", node_name="node-a", node_uid="uid-a")
MAX_ROUNDS = 3

Content = tuple[tuple[Device, ...], tuple[CounterSet, ...]]


class Server:
    """Slices by name, written one by one, and what a reader could take for a whole pool after each write."""

    def __init__(self) -> None:
        self.slices: dict[str, ResourceSlice] = {}
        self.writes: list[str] = []
        self.seen: dict[str, list[Content]] = {}
        self.generations: dict[str, int] = {}
        self._count = 0

    def steps(self, plan: SlicePlan) -> Iterator[None]:
        for gone in plan.deletes_before:
            self._delete(gone)
            yield
        for write in plan.updates:
            assert write.resource.metadata.name in self.slices
            self._store(write.resource)
            yield
        for write in plan.creates:
            self._count += 1
            metadata = write.resource.metadata
            name = f"{metadata.generate_name}{self._count:05}"
            self._store(replace(write.resource, metadata=replace(metadata, name=name, uid=name)))
            yield
        for gone in plan.deletes_after:
            self._delete(gone)
            yield

    def _delete(self, gone: ResourceSlice) -> None:
        del self.slices[gone.metadata.name]
        self._note(gone)

    def _store(self, resource: ResourceSlice) -> None:
        self.slices[resource.metadata.name] = resource
        self._note(resource)

    def _note(self, resource: ResourceSlice) -> None:
        pool = resource.spec.pool.name
        self.writes.append(resource.metadata.name)
        whole = self.find_whole(pool)
        if whole is not None:
            self.seen.setdefault(pool, []).append(whole)
        newest = max((each.spec.pool.generation for each in self._of(pool)), default=0)
        assert newest >= self.generations.get(pool, 0) or not self._of(pool), "a generation went back"
        self.generations[pool] = newest  # a pool that was withdrawn as a whole begins anew

    def _of(self, pool: str) -> list[ResourceSlice]:
        return [each for _, each in sorted(self.slices.items()) if each.spec.pool.name == pool]

    def find_whole(self, pool: str) -> Content | None:
        """What a reader takes for the pool, if it takes it for complete."""
        newest = max((each.spec.pool.generation for each in self._of(pool)), default=0)
        current = [each.spec for each in self._of(pool) if each.spec.pool.generation == newest]
        if not current or any(each.pool.resource_slice_count != len(current) for each in current):
            return None
        devices = tuple(device for each in current for device in each.devices or ())
        return devices, tuple(one for each in current for one in each.shared_counters or ())


def plan(server: Server, pools: Mapping[str, Pool]) -> SlicePlan:
    return plan_slice_writes(PUBLISHER, pools, list(server.slices.values()), {})


def settle(server: Server, pools: Mapping[str, Pool]) -> None:
    for _ in range(MAX_ROUNDS):
        for _step in server.steps(plan(server, pools)):
            pass
    assert plan(server, pools).is_empty


def device(number: int, edition: int) -> Device:
    taint = DeviceTaint(key="example.com/sick", effect="NoSchedule", time_added=Time(edition))
    return Device(
        name=f"device-{number}",
        attributes={"edition": DeviceAttribute(int=edition)},
        taints=(taint,) if edition % 3 == 1 else (),
    )


def counter_set(number: int) -> CounterSet:
    return CounterSet(name=f"card-{number}", counters={"memory": Counter(value=Quantity.of(number))})


def devices(numbers: Sequence[int], editions: Mapping[int, int]) -> tuple[Device, ...]:
    return tuple(device(number, editions.get(number, 0)) for number in numbers)


@st.composite
def pools(draw: st.DrawFn) -> dict[str, Pool]:
    offered: dict[str, Pool] = {}
    for name in draw(st.lists(st.sampled_from(["node-a", "other", "third"]), unique=True, max_size=3)):
        size = draw(st.one_of(st.integers(0, 4), st.integers(60, 70), st.integers(125, 200)))
        skipped = draw(st.sets(st.integers(0, 200), max_size=5))
        numbers = [number for number in range(size) if number not in skipped]
        extra = draw(st.lists(st.integers(300, 320), unique=True, max_size=4))
        place = draw(st.integers(0, len(numbers)))
        numbers[place:place] = extra
        if draw(st.integers(0, 9)) == 0:
            numbers.reverse()
        editions = draw(st.dictionaries(st.integers(0, 200), st.integers(0, 4), max_size=4))
        sets = draw(st.one_of(st.just(0), st.integers(0, 3), st.integers(7, 18)))
        offered[name] = Pool(devices=devices(numbers, editions), counter_sets=tuple(map(counter_set, range(sets))))
    return offered


@given(st.lists(st.tuples(pools(), st.integers(0, 12)), min_size=1, max_size=5), pools())
def test_exactly_what_was_offered_last_is_published_whenever_the_driver_died(
    history: list[tuple[dict[str, Pool], int]], last: dict[str, Pool]
) -> None:
    server = Server()
    for offered, writes_before_death in history:
        for _ in islice(server.steps(plan(server, offered)), writes_before_death):
            pass
    settle(server, last)
    assert {each.spec.pool.name for each in server.slices.values()} == set(last)
    for name, pool in last.items():
        assert server.find_whole(name) == (pool.devices, pool.counter_sets)
    ever = [*(offered for offered, _ in history), last]
    for name, contents in server.seen.items():
        allowed = [(pools[name].devices, pools[name].counter_sets) for pools in ever if name in pools]
        assert all(content in allowed for content in contents), "a reader took a half-written pool for a whole one"


@given(pools())
def test_slices_keep_the_limits_and_agree_on_their_pool(offered: dict[str, Pool]) -> None:
    server = Server()
    settle(server, offered)
    for each in server.slices.values():
        assert len(each.spec.devices or ()) <= MAX_DEVICES
        assert len(each.spec.shared_counters or ()) <= MAX_COUNTER_SETS
        assert each.spec.devices is None or each.spec.shared_counters is None


@given(pools(), pools())
def test_pools_that_stay_the_same_are_not_written(before: dict[str, Pool], after: dict[str, Pool]) -> None:
    server = Server()
    settle(server, before)
    names = {name: each.spec.pool.name for name, each in server.slices.items()}
    server.writes.clear()
    settle(server, after)
    same = {name for name in before if after.get(name) == before[name]}
    assert [name for name in server.writes if names.get(name) in same] == []


@given(pools(), st.data())
def test_one_device_that_changes_touches_one_slice(offered: dict[str, Pool], data: st.DataObject) -> None:
    server = Server()
    settle(server, offered)
    candidates = [name for name, pool in offered.items() if pool.devices]
    if not candidates:
        return
    name = data.draw(st.sampled_from(candidates))
    pool = offered[name]
    index = data.draw(st.integers(0, len(pool.devices) - 1))
    changed = replace(pool.devices[index], attributes={"edition": DeviceAttribute(int=99)})
    after = replace(pool, devices=(*pool.devices[:index], changed, *pool.devices[index + 1 :]))
    server.writes.clear()
    generations = dict(server.generations)
    settle(server, offered | {name: after})
    assert len(server.writes) == 1
    assert server.generations == generations

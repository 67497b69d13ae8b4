"""What a small world offers: devices in pools, settled or being changed, and claims that hold some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.core.nodeselector import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dray.api.meta import ObjectMeta
from dray.api.resource.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    DeviceTaint,
)
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.values.quantity import Quantity, parse_quantity
from tests.properties.artist import GPU, NIC, NODE, ROOT, Artist, Feature

__all__ = ["Supply"]


@dataclass(frozen=True)
class Supply(Artist):
    """Draws slices, and claims that hold devices of them."""

    def attributes(self) -> dict[str, DeviceAttribute]:
        found: dict[str, DeviceAttribute] = {}
        if not self.seldom():
            numa = self.number(0, 1)
            is_list = self.has(Feature.LISTS) and self.one_of(False, True)
            found["numa"] = DeviceAttribute(ints=(numa, numa + 1)) if is_list else DeviceAttribute(int=numa)
        if not self.seldom():
            found["model"] = DeviceAttribute(string=self.one_of("a", "b"))
        if not self.seldom():
            roots = self.some(["r0", "r1", "r2"], 2) if self.has(Feature.LISTS) else ()
            one = DeviceAttribute(string=self.one_of("r0", "r1", "r2"))
            found[ROOT] = DeviceAttribute(strings=roots) if roots else one
        return found

    def policy(self, value: int) -> CapacityRequestPolicy | None:
        match self.number(0, 3):
            case 0:
                return None
            case 1:
                return CapacityRequestPolicy(default=Quantity.of(self.number(0, 2)))
            case 2:
                values = sorted({1, self.number(2, 4)})
                return CapacityRequestPolicy(default=Quantity.of(1), valid_values=tuple(map(Quantity.of, values)))
            case _:
                step = self.one_of(parse_quantity("1"), parse_quantity("2"), parse_quantity("500m"))
                most = None if self.seldom() else Quantity.of(1 + 2 * self.number(0, 2))
                valid = CapacityRequestPolicyRange(min=Quantity.of(1), max=most, step=step)
                return CapacityRequestPolicy(default=Quantity.of(1), valid_range=valid)

    def capacity(self, *, is_shareable: bool) -> dict[str, DeviceCapacity]:
        if not self.has(Feature.SHARED) or self.seldom():
            return {}
        value = self.number(1, 6)
        policy = self.policy(value) if is_shareable else None
        return {"memory": DeviceCapacity(value=Quantity.of(value), request_policy=policy)}

    def consumption(self, sets: Sequence[CounterSet]) -> tuple[DeviceCounterConsumption, ...]:
        return tuple(
            DeviceCounterConsumption(
                counter_set=each.name,
                counters={name: Counter(value=Quantity.of(self.number(1, 3))) for name in each.counters},
                compatibility_groups=self.some(["g", "h"], 2) if self.has(Feature.GROUPS) else (),
            )
            for each in sets
            if not self.seldom()
        )

    def device(self, name: str, sets: Sequence[CounterSet], *, is_per_device: bool) -> Device:
        is_shareable = self.has(Feature.SHARED) and self.number(0, 2) > 0
        has_conditions = self.has(Feature.CONDITIONS) and self.seldom()
        device = Device(
            name=name,
            attributes=self.attributes(),
            capacity=self.capacity(is_shareable=is_shareable),
            consumes_counters=self.consumption(sets),
            taints=self.taints(),
            allow_multiple_allocations=True if is_shareable else None,
            binds_to_node=True if has_conditions and self.seldom() else None,
            binding_conditions=("attached",) if has_conditions else (),
            binding_failure_conditions=("torn",) if has_conditions else (),
        )
        return replace(device, **self.placement()) if is_per_device else device

    def taints(self) -> tuple[DeviceTaint, ...]:
        if not self.has(Feature.TAINTS) or self.one_of(False, True):
            return ()
        effect = self.one_of("NoSchedule", "NoExecute", "None", "Unheard")
        return (DeviceTaint(key=self.one_of("hot", "old"), value=self.one_of("", "yes"), effect=effect),)

    def placement(self) -> dict[str, object]:
        """From which nodes: mostly from ours."""
        if not self.has(Feature.PLACEMENT):
            return {"node_name": NODE}
        match self.number(0, 5):
            case 0 | 1:
                return {"node_name": NODE}
            case 2:
                return {"node_name": "n2"}
            case 3:
                return {"all_nodes": True}
            case _:
                operator, values = self.one_of(("In", ("a", "b")), ("Exists", ()), ("NotIn", ("a",)))
                requirement = NodeSelectorRequirement(key="zone", operator=operator, values=values)
                term = NodeSelectorTerm(match_expressions=(requirement,))
                return {"node_selector": NodeSelector(node_selector_terms=(term,))}

    def counter_sets(self) -> tuple[CounterSet, ...]:
        if not self.has(Feature.COUNTERS, Feature.GROUPS):
            return ()
        return tuple(
            CounterSet(name=f"card-{index}", counters={"units": Counter(value=Quantity.of(self.number(2, 7)))})
            for index in range(self.number(1, 2))
        )

    def pool(self, driver: str, name: str, numbers: Sequence[int]) -> list[ResourceSlice]:
        """The slices of one pool. Devices are numbered through the world, slices named against that order at times."""
        sets = self.counter_sets()
        at = self.number(1, len(numbers)) if len(numbers) > 1 else len(numbers)
        parts = [numbers[:at], numbers[at:]] if numbers[at:] else [numbers]
        is_swapped = self.one_of(False, True)
        slices = []
        for index, part in enumerate(parts):
            is_per_device = self.has(Feature.PLACEMENT) and self.seldom()
            spec = ResourceSliceSpec(
                driver=driver,
                devices=tuple(self.device(f"d{number}", sets, is_per_device=is_per_device) for number in part),
                skip_node_operations=("*",) if self.has(Feature.OPERATIONS) and self.seldom() else (),
            )
            at_node = {"per_device_node_selection": True} if is_per_device else self.placement()
            slices.append(self.slice(f"{name}-{1 - index if is_swapped else index}", replace(spec, **at_node)))
        if sets:
            spec = ResourceSliceSpec(driver=driver, shared_counters=sets)
            slices.append(self.slice(f"{name}-c", replace(spec, **self.placement())))
        pool = ResourcePool(name=name, generation=1, resource_slice_count=len(slices))
        return self.disturbed([replace(each, spec=replace(each.spec, pool=pool)) for each in slices])

    def slice(self, name: str, spec: ResourceSliceSpec) -> ResourceSlice:
        return ResourceSlice(metadata=ObjectMeta(name=name), spec=spec)

    def disturbed(self, slices: list[ResourceSlice]) -> list[ResourceSlice]:
        """The pool as it is, or in the middle of a change, or wrong."""
        if not self.has(Feature.GENERATIONS):
            return slices
        first, pool = slices[0], slices[0].spec.pool
        match self.number(0, 9):
            case 0:
                return slices[1:]
            case 1:
                newer = replace(pool, generation=2, resource_slice_count=1)
                return [*slices, renamed(first, "newer", pool=newer)]
            case 2:
                newer = replace(pool, generation=2, resource_slice_count=len(slices))
                return [
                    *slices,
                    renamed(first, "newer", pool=newer, node_name="n2", node_selector=None, all_nodes=None),
                ]
            case 3:
                older = replace(pool, generation=0, resource_slice_count=1)
                return [*slices, renamed(first, "older", pool=older)]
            case 4:
                return [*slices, renamed(first, "twice")]
            case 5:
                twins = [replace(pool, resource_slice_count=len(slices) + 1)] * (len(slices) + 1)
                doubled = [*slices, renamed(first, "twin")]
                return [
                    replace(each, spec=replace(each.spec, pool=its)) for each, its in zip(doubled, twins, strict=True)
                ]
            case 6:
                unknown = DeviceCounterConsumption(counter_set="nowhere", counters={"units": Counter()})
                broken = tuple(replace(each, consumes_counters=(unknown,)) for each in first.spec.devices or ())
                return [renamed(first, "", devices=broken or None), *slices[1:]]
            case _:
                return slices

    def pools(self, most: int) -> list[ResourceSlice]:
        numbers = list(range(most - self.number(0, most - 1)))
        slices: list[ResourceSlice] = []
        first_cut, second_cut = (len(numbers) - self.number(0, len(numbers) // 2) for _ in range(2))
        first_cut, second_cut = sorted((first_cut, second_cut))
        for (driver, name), part in zip(
            [(GPU, "p0"), (self.one_of(NIC, GPU), "p1"), (NIC, "p0")],
            [numbers[:first_cut], numbers[first_cut:second_cut], numbers[second_cut:]],
            strict=True,
        ):
            if part:
                # Slice names are unique in a cluster, and need not sort as pools do.
                slices += [
                    renamed(each, "", name=f"{driver}-{each.metadata.name}") for each in self.pool(driver, name, part)
                ]
        return slices

    # What is held already.

    def held(self, slices: Sequence[ResourceSlice]) -> list[ResourceClaim]:
        """Claims that hold single devices, most of them as the device allows now."""
        if not self.has(Feature.HELD):
            return []
        found = [(each.spec, device) for each in slices for device in each.spec.devices or ()]
        chosen = self.draw(st.lists(st.sampled_from(found), max_size=3)) if found else []
        return [self.holder(index, spec, device) for index, (spec, device) in enumerate(chosen)]

    def holder(self, index: int, spec: ResourceSliceSpec, device: Device) -> ResourceClaim:
        is_share = bool(device.allow_multiple_allocations) is not (self.number(0, 7) == 7)
        result = DeviceRequestAllocationResult(
            request="r",
            driver=spec.driver,
            pool=spec.pool.name,
            device=device.name,
            share_id=f"held-{index}" if is_share else None,
            consumed_capacity={name: Quantity.of(self.number(0, 2)) for name in device.capacity} if is_share else {},
            admin_access=True if self.has(Feature.ADMIN) and self.seldom() else None,
        )
        return ResourceClaim(
            metadata=ObjectMeta(name=f"held-{index}", namespace="ns", uid=f"held-{index}"),
            status=ResourceClaimStatus(allocation=AllocationResult(devices=DeviceAllocationResult(results=(result,)))),
        )


def renamed(source: ResourceSlice, suffix: str, *, name: str = "", **changes: object) -> ResourceSlice:
    """A slice under another name, with changes of its spec."""
    name = name or source.metadata.name + (f"-{suffix}" if suffix else "")
    return replace(source, metadata=ObjectMeta(name=name), spec=replace(source.spec, **changes))

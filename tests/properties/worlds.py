"""Strategies for small worlds to allocate in: a node, classes, pools, claims that hold devices, and claims to allocate.

A world has a few features and is plain otherwise, so that the rules of those features bite and a failing example stays
readable. Numbers are chosen so that about half of the worlds can serve their claims.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeVar

import msgspec
import yaml
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from hypothesis.vendor.pretty import RepresentationPrinter as PrettyPrinter
from msgspec import Raw
from msgspec.structs import replace

from dray.api.core.node import Node
from dray.api.core.nodeselector import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dray.api.core.nodestatus import NodeStatus
from dray.api.meta import ObjectMeta
from dray.api.resource.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from dray.api.resource.claim import (
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceConstraint,
    ResourceClaim,
    ResourceClaimSpec,
)
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
from dray.api.resource.deviceclass import DeviceClass, DeviceClassConfiguration, DeviceClassSpec
from dray.api.resource.request import (
    CapacityRequirements,
    CELDeviceSelector,
    DeviceDerivedAttribute,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    OpaqueDeviceConfiguration,
)
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.audit.world import World
from dray.values.quantity import Quantity, parse_quantity
from tests.properties.expressions import derived_or_nothing, is_true

__all__ = ["NODE", "Feature", "claims_to_allocate", "select", "worlds"]

T = TypeVar("T")


class Feature(Enum):
    """What a world has besides devices with attributes and requests for a number of them."""

    ADMIN = auto()
    ALL = auto()
    ALTERNATIVES = auto()
    CONDITIONS = auto()
    CONSTRAINTS = auto()
    COUNTERS = auto()
    DERIVED = auto()
    FAILING = auto()
    GENERATIONS = auto()
    GROUPS = auto()
    HELD = auto()
    LISTS = auto()
    OPERATIONS = auto()
    PLACEMENT = auto()
    SHARED = auto()
    TAINTS = auto()


NODE = "n1"
GPU, NIC = "gpu.x", "nic.x"
ROOT, NUMA, MODEL = "common.x/root", "gpu.x/numa", "gpu.x/model"
CLASS_SELECTORS: Mapping[str, tuple[str, ...]] = {
    "any": (),
    "gpu": (f'device.driver == "{GPU}"',),
    "nic": (f'device.driver == "{NIC}"',),
}
SELECTORS = (
    f'device.attributes["{GPU}"].?numa.orValue(0) == 0',
    f'device.attributes["{GPU}"].?model.orValue("a") == "a"',
    f'device.driver == "{GPU}"',
    'device.attributes["common.x"].?root.orValue("r0") != "r1"',
    "!device.allowMultipleAllocations",
)
FAILING_SELECTORS = (
    f'device.attributes["{GPU}"].numa == 0',
    f'device.attributes["{GPU}"].model == "a"',
    'device.attributes["common.x"].root == "r0"',
)
DERIVED = (
    'device.attributes["common.x"].?root.orValue("r1")',
    f'device.driver == "{GPU}"',
    f'device.attributes["{GPU}"].?numa.orValue(1) + 1',
)
FAILING_DERIVED = ('device.attributes["common.x"].root',)


def _quantity(number: int) -> Quantity:
    return Quantity.of(number)


def select(*expressions: str) -> tuple[DeviceSelector, ...]:
    """Selectors of these expressions."""
    return tuple(DeviceSelector(cel=CELDeviceSelector(expression=each)) for each in expressions)


def _opaque(text: str) -> OpaqueDeviceConfiguration:
    return OpaqueDeviceConfiguration(driver=GPU, parameters=Raw(f'{{"from":"{text}"}}'.encode()))


CLASSES = tuple(
    DeviceClass(
        metadata=ObjectMeta(name=name),
        spec=DeviceClassSpec(
            selectors=select(*expressions),
            config=(DeviceClassConfiguration(opaque=_opaque(name)),) if name == "gpu" else (),
        ),
    )
    for name, expressions in CLASS_SELECTORS.items()
)


@dataclass(frozen=True)
class _Artist:
    """Draws parts of one world."""

    draw: DrawFn
    features: frozenset[Feature]

    def has(self, *features: Feature) -> bool:
        return not self.features.isdisjoint(features)

    def one_of(self, *choices: T) -> T:
        return self.draw(st.sampled_from(choices))

    def number(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def seldom(self) -> bool:
        """True once in four."""
        return self.one_of(False, False, False, True)

    def some(self, choices: Sequence[T], most: int) -> tuple[T, ...]:
        return tuple(self.draw(st.lists(st.sampled_from(choices), max_size=most, unique=True)))

    # Devices and pools.

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
                return CapacityRequestPolicy(default=_quantity(self.number(0, 2)))
            case 2:
                values = sorted({1, self.number(2, 4)})
                return CapacityRequestPolicy(default=_quantity(1), valid_values=tuple(map(_quantity, values)))
            case _:
                step = self.one_of(parse_quantity("1"), parse_quantity("2"), parse_quantity("500m"))
                most = None if self.seldom() else _quantity(1 + 2 * self.number(0, 2))
                valid = CapacityRequestPolicyRange(min=_quantity(1), max=most, step=step)
                return CapacityRequestPolicy(default=_quantity(1), valid_range=valid)

    def capacity(self, *, is_shareable: bool) -> dict[str, DeviceCapacity]:
        if not self.has(Feature.SHARED) or self.seldom():
            return {}
        value = self.number(1, 6)
        policy = self.policy(value) if is_shareable else None
        return {"memory": DeviceCapacity(value=_quantity(value), request_policy=policy)}

    def consumption(self, sets: Sequence[CounterSet]) -> tuple[DeviceCounterConsumption, ...]:
        return tuple(
            DeviceCounterConsumption(
                counter_set=each.name,
                counters={name: Counter(value=_quantity(self.number(1, 3))) for name in each.counters},
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
            CounterSet(name=f"card-{index}", counters={"units": Counter(value=_quantity(self.number(2, 7)))})
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
                return [*slices, _renamed(first, "newer", pool=newer)]
            case 2:
                newer = replace(pool, generation=2, resource_slice_count=len(slices))
                return [
                    *slices,
                    _renamed(first, "newer", pool=newer, node_name="n2", node_selector=None, all_nodes=None),
                ]
            case 3:
                older = replace(pool, generation=0, resource_slice_count=1)
                return [*slices, _renamed(first, "older", pool=older)]
            case 4:
                return [*slices, _renamed(first, "twice")]
            case 5:
                twins = [replace(pool, resource_slice_count=len(slices) + 1)] * (len(slices) + 1)
                doubled = [*slices, _renamed(first, "twin")]
                return [
                    replace(each, spec=replace(each.spec, pool=its)) for each, its in zip(doubled, twins, strict=True)
                ]
            case 6:
                unknown = DeviceCounterConsumption(counter_set="nowhere", counters={"units": Counter()})
                broken = tuple(replace(each, consumes_counters=(unknown,)) for each in first.spec.devices or ())
                return [_renamed(first, "", devices=broken or None), *slices[1:]]
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
                    _renamed(each, "", name=f"{driver}-{each.metadata.name}") for each in self.pool(driver, name, part)
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
            consumed_capacity={name: _quantity(self.number(0, 2)) for name in device.capacity} if is_share else {},
            admin_access=True if self.has(Feature.ADMIN) and self.seldom() else None,
        )
        return ResourceClaim(
            metadata=ObjectMeta(name=f"held-{index}", namespace="ns", uid=f"held-{index}"),
            status=ResourceClaimStatus(allocation=AllocationResult(devices=DeviceAllocationResult(results=(result,)))),
        )

    # What is wanted.

    def terms(self) -> dict[str, object]:
        """What exact requests and alternatives have in common."""
        selectors = (self.one_of(*SELECTORS),) if self.seldom() else ()
        if self.has(Feature.FAILING) and self.one_of(False, True):
            selectors = (*selectors, self.one_of(*FAILING_SELECTORS))
        wants_all = self.has(Feature.ALL) and self.one_of(False, True)
        return {
            "device_class_name": self.one_of("any", "any", "gpu", "gpu", "nic"),
            "selectors": select(*selectors),
            "allocation_mode": "All" if wants_all else "ExactCount",
            "count": 0 if wants_all else self.one_of(1, 1, 1, 1, 2, 3),
            "tolerations": self.tolerations(),
            "capacity": self.wanted_capacity(),
            "derived_attributes": self.derived(),
        }

    def tolerations(self) -> tuple[DeviceToleration, ...]:
        if not self.has(Feature.TAINTS) or self.one_of(False, True):
            return ()
        effect = self.one_of("", "NoSchedule", "NoExecute")
        if self.one_of(False, True):
            return (DeviceToleration(key=self.one_of("", "hot", "old"), operator="Exists", effect=effect),)
        return (DeviceToleration(key="hot", operator=self.one_of("", "Equal"), value="yes", effect=effect),)

    def wanted_capacity(self) -> CapacityRequirements | None:
        if not self.has(Feature.SHARED) or self.one_of(False, True):
            return None
        amounts = ("1", "2", "3", "1500m", "5") if not self.has(Feature.FAILING) else ("1", "9E", "-1", "100u")
        return CapacityRequirements(requests={"memory": parse_quantity(self.one_of(*amounts))})

    def derived(self) -> tuple[DeviceDerivedAttribute, ...]:
        if not self.has(Feature.DERIVED) or self.seldom():
            return ()
        expressions = (*DERIVED, *FAILING_DERIVED) if self.has(Feature.FAILING) else DERIVED
        return (DeviceDerivedAttribute(name=self.one_of(ROOT, NUMA), expression=self.one_of(*expressions)),)

    def request(self, name: str) -> DeviceRequest:
        if self.has(Feature.ALTERNATIVES) and self.one_of(False, True):
            names = ("a", "b", "c")[: self.number(1, 3)]
            return DeviceRequest(
                name=name,
                first_available=tuple(DeviceSubRequest(name=each, **self.terms()) for each in names),  # type: ignore[arg-type]
            )
        admin = True if self.has(Feature.ADMIN) and self.one_of(False, True) else None
        return DeviceRequest(name=name, exactly=ExactDeviceRequest(admin_access=admin, **self.terms()))  # type: ignore[arg-type]

    def constraint(self, references: Sequence[str]) -> DeviceConstraint:
        name = self.one_of(ROOT, NUMA, MODEL)
        is_match = self.number(0, 2) > 0
        return DeviceConstraint(
            requests=self.some(references, 2),
            match_attribute=name if is_match else None,
            distinct_attribute=None if is_match else name,
        )

    def claim(self, index: int, most_requests: int) -> ResourceClaim:
        names = [f"r{number}" for number in range(self.number(1, most_requests))]
        requests = tuple(self.request(name) for name in names)
        references = [*names, *(f"{each.name}/{sub.name}" for each in requests for sub in each.first_available)]
        has_constraints = self.has(Feature.CONSTRAINTS, Feature.DERIVED)
        config = self.some(references, 2) if self.seldom() else None
        devices = DeviceClaim(
            requests=requests,
            constraints=tuple(self.constraint(references) for _ in range(self.number(1, 2))) if has_constraints else (),
            config=() if config is None else (DeviceClaimConfiguration(requests=config, opaque=_opaque("claim")),),
        )
        return ResourceClaim(
            metadata=ObjectMeta(name=f"c{index}", namespace="ns", uid=f"c{index}"),
            spec=ResourceClaimSpec(devices=devices),
        )

    def claims(self) -> tuple[ResourceClaim, ...]:
        sizes = self.one_of((1,), (2,), (3,), (1, 1), (2, 1))
        return tuple(self.claim(index, most) for index, most in enumerate(sizes))


def _renamed(source: ResourceSlice, suffix: str, *, name: str = "", **changes: object) -> ResourceSlice:
    """A slice under another name, with changes of its spec."""
    name = name or source.metadata.name + (f"-{suffix}" if suffix else "")
    return replace(source, metadata=ObjectMeta(name=name), spec=replace(source.spec, **changes))


@st.composite
def _feature_sets(draw: DrawFn, without: frozenset[Feature]) -> frozenset[Feature]:
    """A few features, sometimes none and sometimes many."""
    allowed = [feature for feature in Feature if feature not in without]
    number = draw(st.sampled_from([0, 1, 1, 2, 2, 2, 3, 3, 4, 7]))
    return frozenset(draw(st.lists(st.sampled_from(allowed), min_size=number, max_size=number, unique=True)))


@dataclass(frozen=True, slots=True, repr=False)
class DrawnWorld(World):
    """A world that prints as a case of `tests/cases/allocator`, without what all drawn worlds have in common."""

    def __repr__(self) -> str:
        facts = {
            "node": self.node,
            "slices": self.slices,
            "allocated": self.allocated,
            "claims": self.claims,
        }
        plain = json.loads(msgspec.json.encode(facts, enc_hook=str))
        return "\n" + yaml.safe_dump(plain, default_flow_style=None, sort_keys=False, width=140)

    # How hypothesis asks for it.
    def _repr_pretty_(self, printer: PrettyPrinter, is_cycle: bool) -> None:
        printer.text(repr(self))


@st.composite
def worlds(draw: DrawFn, *, max_devices: int = 6, without: frozenset[Feature] = frozenset()) -> DrawnWorld:
    """A world with claims to allocate on its node."""
    artist = _Artist(draw, draw(_feature_sets(without)))
    can_skip = artist.has(Feature.OPERATIONS) and artist.one_of(True, False)
    node = Node(
        metadata=ObjectMeta(name=NODE, labels={"zone": "a"}),
        status=NodeStatus(declared_features=("DRAOptionalNodeOperations",) if can_skip else ()),
    )
    slices = artist.pools(max_devices)
    return DrawnWorld(
        node=node,
        classes=CLASSES,
        slices=slices,
        allocated=artist.held(slices),
        claims=artist.claims(),
        is_true=is_true,
        derive=derived_or_nothing,
    )


@st.composite
def claims_to_allocate(draw: DrawFn) -> tuple[ResourceClaim, ...]:
    """Claims of any kind, for a world that has some already."""
    return _Artist(draw, draw(_feature_sets(frozenset()))).claims()

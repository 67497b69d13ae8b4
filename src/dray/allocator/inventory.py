"""What there is and who has what: every published device with its place, its holders and its state, as values.

Plain bookkeeping over slices and claims, for people who look; decisions have their own ledger. Slices of editions that
were replaced do not count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from dray.allocator.ailments import Ailments
from dray.allocator.counting import CounterCount
from dray.allocator.ids import DeviceId, PoolId, claim_ref
from dray.allocator.nodematch import find_only_node
from dray.allocator.taintrules import apply_taint_rules
from dray.allocator.tolerations import is_blocking, render_taint
from dray.allocator.topology import Spot, find_parents, find_spot
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.resource.allocation import DeviceRequestAllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import Device
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.values.quantity import Quantity

__all__ = ["DeviceEntry", "Facts", "Holder", "Inventory", "State", "take_inventory"]


_NOT_PUBLISHED: Final = "not published"


class State(StrEnum):
    """Who has a device: nobody, one claim, several in shares; or nobody can, for parts of its card are in use."""

    FREE = "free"
    TAKEN = "taken"
    SHARED = "shared"
    BLOCKED = "blocked"


class Holder(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A claim that has a device, or a share of it, and who may use the claim."""

    claim: str
    request: str
    users: tuple[str, ...] = ()
    """Names of pods in the claim's namespace, or `podgroup/name`."""
    share_id: str = ""
    consumed: Mapping[str, Quantity] = {}
    is_admin: bool = False
    """It looks, and takes nothing."""


class DeviceEntry(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One device."""

    node: str
    """Empty for devices that several nodes reach."""
    driver: str
    pool: str
    device: str
    state: State
    holders: tuple[Holder, ...] = ()
    taints: tuple[str, ...] = ()
    """`key=value:Effect`, those of rules included."""
    is_shut: bool = False
    """A taint keeps claims out that do not tolerate it."""
    ailments: tuple[str, ...] = ()
    """What drivers report of its health that is not well; or that none offers it, though a claim has it."""
    blocked_by: tuple[str, ...] = ()
    """Claims that hold parts of the same card."""
    parent: str = ""
    """The device it is a part of, or what the parts of one card have in common."""
    is_cut_on_demand: bool = False
    """It draws on what its card has, so that there is less of the card for others while it is taken."""
    numa_node: str = ""
    pcie_root: str = ""
    clique: str = ""
    kind: str = ""
    """What it is, as far as its driver tells: profile, product, model or type."""
    is_shareable: bool = False
    capacity: Mapping[str, Quantity] = {}
    consumed: Mapping[str, Quantity] = {}
    """What all shares take together; administrators take nothing."""

    @property
    def path(self) -> str:
        """`driver/pool/device`."""
        return f"{self.driver}/{self.pool}/{self.device}"

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong with it. Taints without an effect only tell something."""
        return not self.is_shut and not self.ailments


class Inventory(Struct, frozen=True, rename="camel", omit_defaults=True):
    """All devices by node, driver, pool and order of publishing; and pools that are not complete."""

    devices: tuple[DeviceEntry, ...]
    incomplete: tuple[str, ...] = ()


class Facts(Struct, frozen=True):
    """What an inventory is made from."""

    slices: Sequence[ResourceSlice]
    claims: Sequence[ResourceClaim] = ()
    nodes: Sequence[Node] = ()
    pods: Sequence[Pod] = ()
    rules: Sequence[DeviceTaintRule] = ()


class _Pool:
    """The newest edition of a pool."""

    def __init__(self, pool: PoolId, slices: Sequence[ResourceSlice]) -> None:
        newest = max(each.spec.pool.generation for each in slices)
        self.id = pool
        self.slices = sorted(
            (each for each in slices if each.spec.pool.generation == newest), key=lambda each: each.metadata.name
        )
        self.is_complete = len(self.slices) == self.slices[0].spec.pool.resource_slice_count


def take_inventory(facts: Facts) -> Inventory:
    """Put together who has what."""
    held = _list_held(facts.claims)
    ailments = Ailments(facts.pods, facts.claims)
    cliques = {each.metadata.name: _find_clique(each) for each in facts.nodes}
    by_pool: dict[PoolId, list[ResourceSlice]] = {}
    for each in facts.slices:
        by_pool.setdefault(PoolId(each.spec.driver, each.spec.pool.name), []).append(each)
    entries: list[DeviceEntry] = []
    incomplete: list[str] = []
    for pool_id in sorted(by_pool):
        pool = _Pool(pool_id, [apply_taint_rules(each, facts.rules) for each in by_pool[pool_id]])
        entries += _list_entries(pool, held, ailments, cliques)
        if not pool.is_complete:
            incomplete.append(str(pool_id))
    published = {DeviceId(each.driver, each.pool, each.device) for each in entries}
    nodes = {PoolId(each.driver, each.pool): each.node for each in entries}
    entries += _list_missing(facts.claims, held, published, nodes)
    # Sorting is stable, so that devices of a pool stay in the order in which their driver tells of them.
    entries.sort(key=lambda each: (each.node, each.driver, each.pool))
    return Inventory(tuple(entries), tuple(incomplete))


def _list_missing(
    claims: Iterable[ResourceClaim],
    held: Mapping[DeviceId, Sequence[Holder]],
    published: Collection[DeviceId],
    nodes: Mapping[PoolId, str],
) -> Iterator[DeviceEntry]:
    """Devices that claims have and no driver offers: it is gone, or has taken them back."""
    seen: set[DeviceId] = set()
    for claim in claims:
        allocation = claim.status.allocation
        for result in () if allocation is None else allocation.devices.results:
            device = DeviceId(result.driver, result.pool, result.device)
            if allocation is None or device in published or device in seen:
                continue
            seen.add(device)
            node = nodes.get(PoolId(result.driver, result.pool)) or find_only_node(allocation.node_selector)
            trouble = _Trouble((_NOT_PUBLISHED,), ())
            yield _make_entry(device, Device(name=result.device), Spot(node), tuple(held[device]), trouble)


def _list_held(claims: Iterable[ResourceClaim]) -> dict[DeviceId, list[Holder]]:
    held: dict[DeviceId, list[Holder]] = {}
    for claim in claims:
        allocation = claim.status.allocation
        users = tuple(
            each.name if each.resource == "pods" else f"podgroup/{each.name}" for each in claim.status.reserved_for
        )
        for result in () if allocation is None else allocation.devices.results:
            device = DeviceId(result.driver, result.pool, result.device)
            held.setdefault(device, []).append(_make_holder(claim, result, users))
    return held


def _make_holder(claim: ResourceClaim, result: DeviceRequestAllocationResult, users: tuple[str, ...]) -> Holder:
    return Holder(
        claim=claim_ref(claim),
        request=result.request,
        users=users,
        share_id=result.share_id or "",
        consumed=result.consumed_capacity,
        is_admin=bool(result.admin_access),
    )


def _list_entries(
    pool: _Pool, held: Mapping[DeviceId, Sequence[Holder]], ailments: Ailments, cliques: Mapping[str, str]
) -> Iterator[DeviceEntry]:
    driver = pool.id.driver
    devices = [device for each in pool.slices for device in each.spec.devices or ()]
    parents = find_parents(driver, devices)
    holders = {device.name: held.get(DeviceId(*pool.id, device.name), ()) for device in devices}
    counters = CounterCount(pool.slices, {name for name, each in holders.items() if _is_taken(each)})
    for source in pool.slices:
        for device in source.spec.devices or ():
            node = source.spec.node_name or device.node_name or ""
            yield _make_entry(
                DeviceId(*pool.id, device.name),
                device,
                find_spot(driver, device, node, parents.get(device.name, ""), cliques.get(node, "")),
                tuple(holders[device.name]),
                _Trouble(
                    ailments.find(DeviceId(*pool.id, device.name), device),
                    [each.claim for name in counters.find_rivals(device) for each in holders[name]],
                ),
            )


class _Trouble(Struct, frozen=True):
    ailments: tuple[str, ...]
    blocked_by: Sequence[str]


def _make_entry(
    name: DeviceId, device: Device, spot: Spot, holders: tuple[Holder, ...], trouble: _Trouble
) -> DeviceEntry:
    state = State.FREE
    if _is_taken(holders):
        state = State.SHARED if all(each.share_id for each in holders if not each.is_admin) else State.TAKEN
    elif trouble.blocked_by:
        state = State.BLOCKED
    consumed: dict[str, Quantity] = {}
    for each in (holder for holder in holders if not holder.is_admin):
        for key, amount in each.consumed.items():
            consumed[key] = consumed[key] + amount if key in consumed else amount
    return DeviceEntry(
        node=spot.node,
        driver=name.driver,
        pool=name.pool,
        device=name.name,
        state=state,
        holders=holders,
        taints=tuple(map(render_taint, device.taints)),
        is_shut=any(map(is_blocking, device.taints)),
        ailments=trouble.ailments,
        blocked_by=tuple(dict.fromkeys(trouble.blocked_by)) if state is State.BLOCKED else (),
        parent=spot.parent,
        is_cut_on_demand=bool(device.consumes_counters),
        numa_node=spot.numa_node,
        pcie_root=spot.pcie_root,
        clique=spot.clique,
        kind=spot.kind,
        is_shareable=bool(device.allow_multiple_allocations),
        capacity={key: each.value for key, each in device.capacity.items()},
        consumed=consumed,
    )


def _is_taken(holders: Iterable[Holder]) -> bool:
    return any(not each.is_admin for each in holders)


def _find_clique(node: Node) -> str:
    """The NVLink domain and clique that a node's own label names."""
    return node.metadata.labels.get("nvidia.com/gpu.clique", "")

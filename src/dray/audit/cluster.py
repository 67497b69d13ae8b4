"""Whether what all claims of a cluster hold is consistent with what is published, and with itself.

Devices are judged as they are published now. A driver that withdraws or shrinks a device in use therefore shows up
here, although nobody allocated wrongly.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence

from dray.api.core.node import Node
from dray.api.core.nodeselector import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.slice import ResourceSlice
from dray.audit.allocation import MAX_DEVICES
from dray.audit.counters import audit_counters, audit_groups
from dray.audit.holdings import Holdings, device_key, find_holdings, held_results
from dray.audit.nodes import is_usable_from, placement, selects
from dray.audit.pools import SeenPool, complete_pools
from dray.audit.violations import Violation, ViolationCode
from dray.audit.world import DeviceKey, Published, name_claim

__all__ = ["FINALIZER", "MAX_RESERVATIONS", "audit_cluster"]

FINALIZER = "resource.kubernetes.io/delete-protection"
"""Keeps an allocated claim from being deleted while it holds devices."""

MAX_RESERVATIONS = 256
"""Consumers that the API lets one claim be reserved for."""


def audit_cluster(
    claims: Sequence[ResourceClaim], slices: Sequence[ResourceSlice], nodes: Sequence[Node]
) -> list[Violation]:
    """All rules that the claims of a cluster break together; none if their state is consistent."""
    holdings = find_holdings(held_results(claims))
    pools = complete_pools(slices)
    published = {each.key: each for pool in pools for each in pool.devices}
    violations = list(_audit_holders(holdings))
    violations += _audit_shares(holdings, published)
    for pool in pools:
        violations += _audit_pool(pool, holdings)
    nodes_by_name = {node.metadata.name: node for node in nodes}
    for claim in claims:
        violations += _audit_claim(claim)
        violations += _audit_reach(claim, published, nodes_by_name)
    return violations


def _audit_holders(holdings: Holdings) -> Iterator[Violation]:
    for key, holders in holdings.whole.items():
        if len(holders) > 1:
            text = f"held by {', '.join(holders)}"
            yield Violation(ViolationCode.DEVICE_TAKEN, f"device {key}", text)
        if key in holdings.shares:
            text = f"held by {holders[0]}, and others have shares of it"
            yield Violation(ViolationCode.DEVICE_TAKEN, f"device {key}", text)


def _audit_shares(holdings: Holdings, published: dict[DeviceKey, Published]) -> Iterator[Violation]:
    known: Tally[str] = Tally(share for shares in holdings.shares.values() for share in shares)
    for key, shares in holdings.shares.items():
        for share in sorted(share for share in set(shares) if known[share] > 1):
            yield Violation(ViolationCode.SHARE_ID_WRONG, f"device {key}", f"share {share} exists more than once")
        if key not in published:
            continue
        for name, capacity in published[key].device.capacity.items():
            if holdings.consumed[key][name] > capacity.value.nanos:
                text = f"{holdings.consumed[key][name]} billionths of {name} are taken of {capacity.value}"
                yield Violation(ViolationCode.CAPACITY_EXCEEDED, f"device {key}", text)


def _audit_pool(pool: SeenPool, holdings: Holdings) -> Iterator[Violation]:
    in_use = {key.name for key in holdings.in_use if (key.driver, key.pool) == pool.key}
    yield from audit_counters(pool, in_use)
    yield from audit_groups(pool, in_use, {counter_set.name for counter_set in pool.counter_sets})


def _audit_claim(claim: ResourceClaim) -> Iterator[Violation]:
    """Allocation, finalizer, reservations and device statuses of one claim go together."""
    subject = name_claim(claim)
    status = claim.status
    if status.allocation is None:
        if status.reserved_for:
            text = "reserved, but without an allocation"
            yield Violation(ViolationCode.RESERVED_WITHOUT_ALLOCATION, subject, text)
    elif FINALIZER not in claim.metadata.finalizers:
        yield Violation(ViolationCode.FINALIZER_MISSING, subject, f"allocated, but without the finalizer {FINALIZER}")
    if len(status.reserved_for) > MAX_RESERVATIONS:
        text = f"reserved for {len(status.reserved_for)} consumers, at most {MAX_RESERVATIONS} are allowed"
        yield Violation(ViolationCode.TOO_MANY_RESERVATIONS, subject, text)
    if len({consumer.uid for consumer in status.reserved_for}) < len(status.reserved_for):
        yield Violation(ViolationCode.RESERVATION_REPEATED, subject, "reserved twice for one consumer")
    results = status.allocation.devices.results if status.allocation is not None else ()
    if len(results) > MAX_DEVICES:
        text = f"{len(results)} devices, at most {MAX_DEVICES} are allowed"
        yield Violation(ViolationCode.TOO_MANY_DEVICES, subject, text)
    held = {(device_key(result), result.share_id) for result in results}
    for device in status.devices:
        key = DeviceKey(device.driver, device.pool, device.device)
        if (key, device.share_id) not in held:
            text = f"there is a status of {key}, which the claim does not hold"
            yield Violation(ViolationCode.STATUS_OF_UNKNOWN_DEVICE, subject, text)


def _audit_reach(
    claim: ResourceClaim, published: dict[DeviceKey, Published], nodes: dict[str, Node]
) -> Iterator[Violation]:
    """Every node that the allocation admits can use every device of it."""
    allocation = claim.status.allocation
    if allocation is None:
        return
    devices = [published.get(device_key(result)) for result in allocation.devices.results]
    for node in _admitted(allocation.node_selector, nodes):
        for device in devices:
            if device is not None and not is_usable_from(placement(device), node):
                text = f"admits node {node.metadata.name}, which cannot use {device.key}"
                yield Violation(ViolationCode.NODE_SELECTOR_WRONG, name_claim(claim), text)


def _admitted(selector: NodeSelector | None, nodes: dict[str, Node]) -> Iterable[Node]:
    """The nodes from which a claim may be used. Most claims name one, so that the rest need no look."""
    if selector is None:
        return nodes.values()
    match selector.node_selector_terms:
        case [NodeSelectorTerm(match_fields=[NodeSelectorRequirement(operator="In", values=[name])])]:
            candidates = [nodes[name]] if name in nodes else []
        case _:
            candidates = list(nodes.values())
    return [node for node in candidates if selects(selector, node)]

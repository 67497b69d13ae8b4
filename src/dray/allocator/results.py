"""Picks to allocation results: devices, configuration, and the nodes that can reach them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dray.allocator.amounts import amounts_taken
from dray.allocator.ids import claim_ref
from dray.allocator.outcome import Failed, FailureCode
from dray.allocator.search import Pick
from dray.allocator.view import NodeView
from dray.api.core.nodeselector import (
    NodeSelector,
    NodeSelectorOperator,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from dray.api.resource.allocation import (
    AllocationConfigSource,
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
)
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import Device
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSliceSpec

__all__ = ["FindClass", "ShareIds", "write_results"]

ShareIds = Callable[[], str]
"""Makes the identifier of one share: a lower-case UUID, never the same twice."""

FindClass = Callable[[str], DeviceClass | None]


def write_results(
    claims: Sequence[ResourceClaim], view: NodeView, picks: Iterable[Pick], find_class: FindClass, share_ids: ShareIds
) -> tuple[AllocationResult, ...] | Failed:
    """Write what each claim was given. Refused only if a slice's node selector cannot be copied into a claim."""
    by_claim: list[list[Pick]] = [[] for _ in claims]
    for pick in picks:
        by_claim[pick.option.claim].append(pick)
    allocations: list[AllocationResult] = []
    for claim, own in zip(claims, by_claim, strict=True):
        selector = _node_selector(claim, view, own)
        if isinstance(selector, Failed):
            return selector
        results = tuple(_result(view, pick, share_ids) for pick in own)
        devices = DeviceAllocationResult(results=results, config=_configuration(claim, own, find_class))
        allocations.append(AllocationResult(devices=devices, node_selector=selector))
    return tuple(allocations)


def _result(view: NodeView, pick: Pick, share_ids: ShareIds) -> DeviceRequestAllocationResult:
    demand = pick.option.demand
    prepared = view.slice_at(pick.place)
    device = view.devices[pick.place]
    is_shared = bool(device.allow_multiple_allocations)
    return DeviceRequestAllocationResult(
        request=demand.label,
        driver=prepared.pool.driver,
        pool=prepared.pool.name,
        device=device.name,
        admin_access=demand.is_admin or None,
        tolerations=demand.tolerations,
        binding_conditions=device.binding_conditions,
        binding_failure_conditions=device.binding_failure_conditions,
        share_id=share_ids() if is_shared else None,
        consumed_capacity=(amounts_taken(device, demand.amounts) or {}) if is_shared else {},
        skip_node_operations=prepared.source.spec.skip_node_operations,
    )


def _configuration(
    claim: ResourceClaim, picks: Iterable[Pick], find_class: FindClass
) -> tuple[DeviceAllocationConfiguration, ...]:
    """Configuration of the classes used, then that of the claim. What covers every request names none."""
    labels = _labels(claim, picks)
    entries = [*_class_entries(labels, find_class), *_claim_entries(claim, labels)]
    return tuple(_collapsed(entry, labels) for entry in entries)


def _labels(claim: ResourceClaim, picks: Iterable[Pick]) -> dict[str, tuple[str, str]]:
    """For each request in order how results name it, and its class; of alternatives the one that was taken."""
    taken = {pick.option.demand.parent: pick.option.demand for pick in picks}
    labels: dict[str, tuple[str, str]] = {}
    for request in claim.spec.devices.requests or ():
        demand = taken.get(request.name)
        if demand is not None:
            labels[request.name] = (demand.label, demand.class_name)
        elif request.exactly is not None:
            labels[request.name] = (request.name, request.exactly.device_class_name)
    return labels


def _class_entries(
    labels: Mapping[str, tuple[str, str]], find_class: FindClass
) -> Iterable[DeviceAllocationConfiguration]:
    requests_by_class: dict[str, list[str]] = {}
    for label, class_name in labels.values():
        requests_by_class.setdefault(class_name, []).append(label)
    for class_name, requests in requests_by_class.items():
        device_class = find_class(class_name)
        for config in device_class.spec.config if device_class is not None else ():
            yield DeviceAllocationConfiguration(
                source=AllocationConfigSource.CLASS, requests=tuple(requests), opaque=config.opaque
            )


def _claim_entries(
    claim: ResourceClaim, labels: Mapping[str, tuple[str, str]]
) -> Iterable[DeviceAllocationConfiguration]:
    known = {*labels, *(label for label, _ in labels.values())}
    for config in claim.spec.devices.config:
        if not config.requests or not known.isdisjoint(config.requests):
            yield DeviceAllocationConfiguration(
                source=AllocationConfigSource.CLAIM, requests=config.requests, opaque=config.opaque
            )


def _collapsed(
    entry: DeviceAllocationConfiguration, labels: Mapping[str, tuple[str, str]]
) -> DeviceAllocationConfiguration:
    covers_all = all(name in entry.requests or label in entry.requests for name, (label, _) in labels.items())
    if not entry.requests or not covers_all:
        return entry
    return DeviceAllocationConfiguration(source=entry.source, opaque=entry.opaque)


def _node_selector(claim: ResourceClaim, view: NodeView, picks: Iterable[Pick]) -> NodeSelector | Failed | None:
    """One term that holds on all nodes from which all devices can be used; None if those are all nodes."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for pick in picks:
        device = view.devices[pick.place]
        spec = view.slice_at(pick.place).source.spec
        place: ResourceSliceSpec | Device = device if spec.per_device_node_selection else spec
        if place.node_name or device.binds_to_node:
            return _only(view.node.metadata.name)
        if place.node_selector is None:
            continue
        terms = place.node_selector.node_selector_terms
        if len(terms) > 1:
            text = f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms"
            return Failed(FailureCode.BAD_NODE_SELECTOR, f"create NodeSelector for claim {claim_ref(claim)}: {text}")
        for term in terms:
            _add_new(fields, term.match_fields)
            _add_new(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    term = NodeSelectorTerm(match_fields=tuple(fields), match_expressions=tuple(expressions))
    return NodeSelector(node_selector_terms=(term,))


def _only(node: str) -> NodeSelector:
    requirement = NodeSelectorRequirement(key="metadata.name", operator=NodeSelectorOperator.IN, values=(node,))
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(requirement,)),))


def _add_new(requirements: list[NodeSelectorRequirement], more: Iterable[NodeSelectorRequirement]) -> None:
    """Append requirements that say something new: another key, operator or set of values."""
    known = {(each.key, each.operator, frozenset(each.values)) for each in requirements}
    for each in more:
        key = (each.key, each.operator, frozenset(each.values))
        if key not in known:
            known.add(key)
            requirements.append(each)

"""Which nodes can serve claims: what is said of a class of equal nodes holds for each of them by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from hypothesis.vendor.pretty import RepresentationPrinter
from msgspec.structs import replace

from dray.allocator.cluster import Cluster
from dray.allocator.feasibility import Feasibility, feasible_nodes
from dray.allocator.ids import claim_uid
from dray.allocator.outcome import Allocated, Failed, Feasible, Outcome, Unschedulable
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import Device, DeviceAttribute
from dray.api.resource.slice import ResourceSlice
from tests.properties.allocating import allocate_claims
from tests.properties.artist import NODE
from tests.properties.worlds import CLASSES, claims_to_allocate, show, worlds

EXAMPLES = settings().max_examples


def name_pools(slices: Sequence[ResourceSlice]) -> set[tuple[str, str]]:
    """The pools that are all on the one node."""
    pools = {(each.spec.driver, each.spec.pool.name) for each in slices}
    return pools - {(each.spec.driver, each.spec.pool.name) for each in slices if each.spec.node_name != NODE}


def on_node(source: ResourceSlice, node: str, number: int) -> ResourceSlice:
    """The slice as another node has it: under names of its own, and with an attribute that differs everywhere."""
    devices = tuple(
        replace(device, attributes={**device.attributes, "uuid": DeviceAttribute(string=f"{node}-{device.name}")})
        for device in source.spec.devices or ()
    )
    spec = replace(
        source.spec,
        node_name=node,
        devices=devices or None,
        pool=replace(source.spec.pool, name=f"{source.spec.pool.name}-{node}"),
    )
    return replace(source, metadata=ObjectMeta(name=f"{number}-{source.metadata.name}-{node}"), spec=spec)


def moved(claim: ResourceClaim, pools: set[tuple[str, str]], node: str) -> ResourceClaim | None:
    """The claim as it holds the same devices of another node; None if they belong to no node."""
    assert claim.status.allocation is not None
    results = claim.status.allocation.devices.results
    if any((result.driver, result.pool) not in pools for result in results):
        return None
    there = tuple(
        replace(result, pool=f"{result.pool}-{node}", share_id=result.share_id and f"{result.share_id}-{node}")
        for result in results
    )
    allocation = AllocationResult(devices=replace(claim.status.allocation.devices, results=there))
    name = f"{claim.metadata.name}-{node}"
    return replace(
        claim,
        metadata=replace(claim.metadata, name=name, uid=name),
        status=replace(claim.status, allocation=allocation),
    )


def without_last_device(source: ResourceSlice) -> ResourceSlice:
    devices: tuple[Device, ...] = source.spec.devices or ()
    return replace(source, spec=replace(source.spec, devices=devices[:-1] or None))


@dataclass(frozen=True, repr=False)
class DrawnCluster:
    """The facts of a cluster, and claims to find nodes for."""

    nodes: Sequence[Node]
    slices: Sequence[ResourceSlice]
    allocated: Sequence[ResourceClaim]
    claims: Sequence[ResourceClaim]

    def cluster(self) -> Cluster:
        return Cluster.of(nodes=self.nodes, slices=self.slices, classes=CLASSES, claims=self.allocated)

    def __repr__(self) -> str:
        return show(nodes=self.nodes, slices=self.slices, allocated=self.allocated, claims=self.claims)

    # How hypothesis asks for it.
    def _repr_pretty_(self, printer: RepresentationPrinter, is_cycle: bool) -> None:
        printer.text(repr(self))


@st.composite
def clusters(draw: DrawFn) -> DrawnCluster:
    """Nodes that are much alike, with what belongs to none of them in between."""
    world = draw(worlds(max_devices=4))
    pools = name_pools(world.slices)
    local = [each for each in world.slices if (each.spec.driver, each.spec.pool.name) in pools]
    slices = [each for each in world.slices if each not in local]
    nodes: list[Node] = []
    allocated = []
    for name in draw(st.lists(st.sampled_from(["a", "m", "n1", "p00", "z"]), min_size=2, max_size=5, unique=True)):
        labels = {"zone": draw(st.sampled_from(["a", "a", "b"]))}
        nodes.append(Node(metadata=ObjectMeta(name=name, labels=labels), status=world.node.status))
        lacks_one = draw(st.sampled_from([False, False, True]))
        for number, each in enumerate(draw(st.permutations(local))):
            source = on_node(each, name, number)
            slices.append(without_last_device(source) if lacks_one else source)
        there = [moved(claim, pools, name) for claim in world.allocated]
        allocated += [claim for claim in there if claim is not None and draw(st.booleans())]
    return DrawnCluster(nodes, slices, allocated, world.claims)


def assert_agrees(feasibility: Feasibility, claims: Sequence[ResourceClaim], cluster: Cluster) -> None:
    """Node by node the same as by allocating there."""
    refused = {name: verdict for names, verdict in feasibility.refusals() for name in names}
    feasible = list(feasibility)
    assert sorted([*feasible, *refused]) == sorted(cluster.names)
    for name in cluster.names:
        outcome: Outcome = allocate_claims(claims, cluster, name)
        assert isinstance(outcome, Allocated) is (name in feasible)
        if isinstance(outcome, Unschedulable):
            verdict = refused[name]
            assert isinstance(verdict, Unschedulable)
            assert verdict.reason is outcome.reason
        elif isinstance(outcome, Failed):
            verdict = refused[name]
            assert isinstance(verdict, Failed)
            assert verdict.code is outcome.code


def alternatives_of(claims: Sequence[ResourceClaim], outcome: Allocated) -> tuple[int, ...]:
    """For each request with several alternatives the index of the one used."""
    used = []
    for claim, allocation in zip(claims, outcome.allocations, strict=True):
        references = [result.request for result in allocation.devices.results]
        for request in claim.spec.devices.requests or ():
            names = [f"{request.name}/{each.name}" for each in request.first_available]
            used += [index for index, name in enumerate(names) if len(names) > 1 and name in references]
    return tuple(used)


@settings(max_examples=3 * EXAMPLES)
@given(drawn=clusters())
def test_verdict_on_a_class_of_nodes_holds_for_each(drawn: DrawnCluster) -> None:
    cluster, claims = drawn.cluster(), drawn.claims
    assert_agrees(feasible_nodes(claims, cluster), claims, cluster)


@settings(max_examples=EXAMPLES)
@given(drawn=clusters())
def test_alternatives_told_of_a_class_are_those_that_each_node_uses(
    drawn: DrawnCluster,
) -> None:
    cluster, claims = drawn.cluster(), drawn.claims
    for group in feasible_nodes(claims, cluster).groups:
        if isinstance(group.verdict, Feasible):
            for number, name in enumerate(cluster.names):
                if group.nodes >> number & 1:
                    outcome = allocate_claims(claims, cluster, name)
                    assert isinstance(outcome, Allocated)
                    assert alternatives_of(claims, outcome) == group.verdict.alternatives


@settings(max_examples=EXAMPLES)
@given(drawn=clusters(), batches=st.lists(claims_to_allocate(), min_size=1, max_size=4))
def test_verdicts_stay_true_while_devices_change_hands(
    drawn: DrawnCluster, batches: list[tuple[ResourceClaim, ...]]
) -> None:
    cluster, claims = drawn.cluster(), drawn.claims
    feasible_nodes(claims, cluster)
    for number, batch in enumerate(batches):
        node = feasible_nodes(batch, cluster).first()
        if node is not None:
            outcome = allocate_claims(batch, cluster, node, first_share=100 * number)
            assert isinstance(outcome, Allocated)
            for claim, allocation in zip(batch, outcome.allocations, strict=True):
                cluster.take(
                    claim_uid(replace(claim, metadata=ObjectMeta(name=f"{claim.metadata.name}-{number}"))), allocation
                )
        assert_agrees(feasible_nodes(claims, cluster), claims, cluster)

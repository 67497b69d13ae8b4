"""A cluster that changes: it answers as a new one would, and what it gives away stays consistent."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from dray.allocator.cluster import Cluster
from dray.allocator.ids import claim_uid
from dray.allocator.ledger import Ledger
from dray.allocator.outcome import Allocated
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice
from dray.audit.cluster import FINALIZER, audit_cluster
from dray.audit.world import World
from tests.properties.allocating import allocate_claims, allocate_in, cluster_of
from tests.properties.artist import Feature, select
from tests.properties.worlds import CLASSES, claims_to_allocate, worlds

EXAMPLES = settings().max_examples
NODES = (
    Node(metadata=ObjectMeta(name="n1", labels={"zone": "a"})),
    Node(metadata=ObjectMeta(name="n2", labels={"zone": "b"})),
)


def allocated(claims: Sequence[ResourceClaim], outcome: Allocated) -> list[ResourceClaim]:
    """The claims with what they were given."""
    return [
        replace(
            claim,
            metadata=replace(claim.metadata, finalizers=(FINALIZER,)),
            status=replace(claim.status, allocation=allocation),
        )
        for claim, allocation in zip(claims, outcome.allocations, strict=True)
    ]


def renamed(claims: Sequence[ResourceClaim], number: int) -> list[ResourceClaim]:
    return [
        replace(
            claim, metadata=replace(claim.metadata, name=f"{claim.metadata.name}-{number}", uid=f"u{index}-{number}")
        )
        for index, claim in enumerate(claims)
    ]


@settings(max_examples=2 * EXAMPLES)
@given(
    world=worlds(without=frozenset([Feature.HELD, Feature.GENERATIONS, Feature.FAILING])),
    batches=st.lists(st.tuples(claims_to_allocate(), st.sampled_from(NODES), st.booleans()), min_size=1, max_size=5),
)
def test_claims_allocated_one_after_another_are_consistent(
    world: World, batches: list[tuple[tuple[ResourceClaim, ...], Node, bool]]
) -> None:
    cluster = Cluster.of(nodes=NODES, slices=world.slices, classes=world.classes)
    holders: list[ResourceClaim] = []
    for number, (claims, node, releases_first) in enumerate(batches):
        if releases_first and holders:
            cluster.release(claim_uid(holders.pop(0)))
        batch = renamed(claims, number)
        outcome = allocate_claims(batch, cluster, node.metadata.name, first_share=100 * number)
        if isinstance(outcome, Allocated):
            for claim in allocated(batch, outcome):
                assert claim.status.allocation is not None
                cluster.take(claim_uid(claim), claim.status.allocation)
                holders.append(claim)
        assert audit_cluster(holders, world.slices, NODES) == []
    assert cluster.ledger == Ledger.of(holders)


@given(world=worlds())
def test_taking_and_undoing_restores_the_ledger_and_the_answer(world: World) -> None:
    cluster = cluster_of(world)
    before = allocate_in(world, cluster)
    mark = cluster.ledger.mark()
    if isinstance(before, Allocated):
        for claim, allocation in zip(world.claims, before.allocations, strict=True):
            cluster.take(claim_uid(claim), allocation)
    for claim in world.allocated:
        cluster.release(claim_uid(claim))
    allocate_in(world, cluster)
    cluster.undo(mark)
    assert cluster.ledger == Ledger.of(world.allocated)
    assert allocate_in(world, cluster) == before


class ChangingCluster(RuleBasedStateMachine):
    """A cluster that lives on beside the plain facts, from which a new one is made after every change."""

    @initialize(world=worlds())
    def begin(self, world: World) -> None:
        self.cluster = Cluster.of(nodes=NODES, slices=world.slices, classes=world.classes, claims=world.allocated)
        self.slices: dict[str, ResourceSlice] = {each.metadata.name: each for each in world.slices}
        self.classes: dict[str, DeviceClass] = {each.metadata.name: each for each in world.classes}
        self.holders: dict[str, ResourceClaim] = {claim_uid(each): each for each in world.allocated}
        self.nodes: dict[str, Node] = {each.metadata.name: each for each in NODES}
        self.probe: Sequence[ResourceClaim] = world.claims
        self.number = 0

    @rule(world=worlds(max_devices=3))
    def publish(self, world: World) -> None:
        for each in world.slices:
            self.cluster.put_slice(each)
            self.slices.pop(each.metadata.name, None)
            self.slices[each.metadata.name] = each

    @precondition(lambda self: self.slices)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.slices)))
        self.cluster.remove_slice(name)
        del self.slices[name]

    @rule(claims=claims_to_allocate(), node=st.sampled_from(NODES))
    def allocate(self, claims: tuple[ResourceClaim, ...], node: Node) -> None:
        self.number += 1
        batch = renamed(claims, self.number)
        outcome = allocate_claims(batch, self.cluster, node.metadata.name, first_share=100 * self.number)
        if isinstance(outcome, Allocated):
            for claim in allocated(batch, outcome):
                assert claim.status.allocation is not None
                self.cluster.take(claim_uid(claim), claim.status.allocation)
                self.holders[claim_uid(claim)] = claim

    @precondition(lambda self: self.holders)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        uid = data.draw(st.sampled_from(sorted(self.holders)))
        self.cluster.release(claim_uid(self.holders.pop(uid)))

    @rule(base=st.sampled_from(CLASSES), is_narrow=st.booleans(), is_gone=st.booleans())
    def change_class(self, base: DeviceClass, *, is_narrow: bool, is_gone: bool) -> None:
        name = base.metadata.name
        if is_gone:
            self.cluster.remove_class(name)
            self.classes.pop(name, None)
            return
        more = select('device.attributes["gpu.x"].?numa.orValue(0) == 0') if is_narrow else ()
        changed = replace(base, spec=replace(base.spec, selectors=(*base.spec.selectors, *more)))
        self.cluster.put_class(changed)
        self.classes[name] = changed

    @rule(zone=st.sampled_from(["a", "b", "c"]), node=st.sampled_from(NODES))
    def relabel(self, zone: str, node: Node) -> None:
        changed = replace(node, metadata=replace(node.metadata, labels={"zone": zone}))
        self.cluster.put_node(changed)
        self.nodes[node.metadata.name] = changed

    @rule(claims=claims_to_allocate())
    def ask_for_something_else(self, claims: tuple[ResourceClaim, ...]) -> None:
        self.probe = claims

    @invariant()
    def answers_as_a_new_cluster_would(self) -> None:
        new = Cluster.of(
            nodes=self.nodes.values(),
            slices=self.slices.values(),
            classes=self.classes.values(),
            claims=self.holders.values(),
        )
        assert self.cluster.ledger == new.ledger
        for name in self.nodes:
            assert allocate_claims(self.probe, self.cluster, name) == allocate_claims(self.probe, new, name)


ChangingCluster.TestCase.settings = settings(max_examples=EXAMPLES // 2, stateful_step_count=12)
TestChangingCluster = ChangingCluster.TestCase

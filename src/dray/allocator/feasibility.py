"""Which nodes of a cluster can serve claims. Nodes that the decision cannot tell apart cost one search together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from dray.allocator.arena import Arena
from dray.allocator.bits import bits
from dray.allocator.cluster import Cluster
from dray.allocator.outcome import (
    BudgetExhausted,
    Failed,
    Feasible,
    NodeVerdict,
    Unschedulable,
    UnschedulableReason,
)
from dray.allocator.partition import NodeClass
from dray.allocator.plans import Plan
from dray.allocator.solve import DEFAULT_LIMITS, SearchLimits, Solution, Solved, Spent, solve
from dray.allocator.view import NodeView
from dray.api.resource.claim import ResourceClaim

__all__ = ["Feasibility", "NodeGroup", "feasible_nodes"]


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that fare alike. `nodes` are their numbers as bits."""

    nodes: int
    verdict: NodeVerdict


@dataclass(frozen=True, slots=True)
class Feasibility:
    """How all nodes fare. Names come in the order in which the nodes came."""

    groups: tuple[NodeGroup, ...]
    names: Sequence[str]

    @property
    def count(self) -> int:
        """How many nodes can serve the claims."""
        return self._feasible.bit_count()

    @property
    def _feasible(self) -> int:
        nodes = 0
        for group in self.groups:
            if group.verdict.__class__ is Feasible:
                nodes |= group.nodes
        return nodes

    def __iter__(self) -> Iterator[str]:
        """The nodes that can serve the claims."""
        return (self.names[number] for number in bits(self._feasible))

    def first(self) -> str | None:
        """The first node that can serve the claims."""
        nodes = self._feasible
        return self.names[(nodes & -nodes).bit_length() - 1] if nodes else None

    def refusals(self) -> Iterator[tuple[tuple[str, ...], NodeVerdict]]:
        """The nodes that cannot serve the claims, by reason."""
        for group in self.groups:
            if not isinstance(group.verdict, Feasible):
                yield tuple(self.names[number] for number in bits(group.nodes)), group.verdict


def feasible_nodes(
    claims: Sequence[ResourceClaim], cluster: Cluster, *, limits: SearchLimits = DEFAULT_LIMITS
) -> Feasibility:
    """Find all nodes on which the claims fit together, each by itself.

    Costs one search for each class of nodes that is new, nothing for those known from earlier decisions about claims
    of the same shape. Which devices are taken on a node is found out by `allocate` for that node.
    """
    plan = cluster.plans.plan(claims)
    groups: list[NodeGroup] = []
    for node_class in cluster.partition(plan.reads).classes():
        key = (limits, node_class.number, *[record.version for record in node_class.floating])
        verdict = plan.verdicts.get(key)
        if verdict is None:
            found = _judge(claims, cluster, plan, node_class, limits)
            if len(found) > 1 or isinstance(found[0].verdict, Failed):
                groups.extend(found)
                continue
            verdict = found[0].verdict
            plan.remember(key, verdict)
        groups.append(NodeGroup(node_class.nodes, verdict))
    cluster.plans.judged += len(groups)
    return Feasibility(tuple(groups), cluster.names)


def _judge(
    claims: Sequence[ResourceClaim], cluster: Cluster, plan: Plan, node_class: NodeClass, limits: SearchLimits
) -> list[NodeGroup]:
    """Judge a class by its first node; node by node where a device of the wrong kind can end the attempt.

    Whether the search comes to such a device depends on the order of devices, in which equal nodes differ.
    """
    cluster.plans.searched += 1
    view = cluster.view_number(node_class.representative)
    if view.failure is not None:
        return [NodeGroup(node_class.nodes, view.failure)]
    arena = cluster.plans.arena(plan, view)
    if arena.complaint is not None:
        return [NodeGroup(node_class.nodes, arena.complaint.failure(claims, view))]
    if not any(option.can_fail for option in arena.options):
        solved = solve(arena, cluster.occupancy(view), limits)
        return [NodeGroup(node_class.nodes, _verdict(claims, view, arena, solved))]
    known: dict[Hashable, NodeGroup] = {}
    for node in bits(node_class.nodes):
        view = cluster.view_number(node)
        occupancy = cluster.occupancy(view)
        group = known.get(occupancy.key())
        verdict = _verdict(claims, view, arena, solve(arena, occupancy, limits)) if group is None else group.verdict
        known[occupancy.key()] = NodeGroup(1 << node | (0 if group is None else group.nodes), verdict)
    return list(known.values())


def _verdict(claims: Sequence[ResourceClaim], view: NodeView, arena: Arena, solved: Solved) -> NodeVerdict:
    if isinstance(solved, Solution):
        used = {pick.option.request: pick.option for pick in solved.picks}
        return Feasible(
            tuple(
                request.options.index(used[number])
                for number, request in enumerate(arena.requests)
                if len(request.options) > 1 and number in used
            )
        )
    if isinstance(solved, Spent):
        return BudgetExhausted(solved.steps)
    if solved.complaint is not None:
        return solved.complaint.failure(claims, view)
    return Unschedulable(
        UnschedulableReason.INVALID_POOLS if view.has_invalid_pool else UnschedulableReason.NO_SOLUTION
    )

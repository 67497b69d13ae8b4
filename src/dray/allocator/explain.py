"""Why claims do not fit, worked out on demand after a refusal, never on the way to a decision.

How each request fares by itself is counted device by device. What conflicts, and what would help, is found out by
trying: the same search answers for fewer requests, released claims, dropped constraints. So what an explanation says
is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dray.allocator.arena import Arena, Option
from dray.allocator.bits import bits
from dray.allocator.cluster import Cluster
from dray.allocator.columns import find_attribute
from dray.allocator.feasibility import feasible_nodes
from dray.allocator.ids import claim_ref
from dray.allocator.occupancy import Occupancy
from dray.allocator.outcome import BudgetExhausted, Feasible
from dray.allocator.pools import PoolState
from dray.allocator.reasons import Conflict, Explanation, Headline, HeadlineCode, PoolTrouble, ReasonCode
from dray.allocator.remedies import find_remedies
from dray.allocator.solve import Unsolved, solve
from dray.allocator.survey import Surveyor, name_value
from dray.allocator.view import NodeView
from dray.allocator.whatif import ConstraintRef, fits, with_requests, without_constraints
from dray.api.resource.claim import ResourceClaim

__all__ = ["ClusterExplanation", "Folded", "explain", "explain_cluster"]

_CLASSES_EXAMINED = 64
"""Classes of nodes that are explained one by one; the others are counted only."""


def explain(claims: Sequence[ResourceClaim], cluster: Cluster, node: str) -> Explanation:
    """Explain why claims do not fit on a node. If they do, the explanation has neither conflict nor error."""
    view = cluster.view(node)
    if view is None:
        return Explanation(node, error=f'node "{node}" not found')
    return _explain(claims, cluster, view, with_remedies=True)


def _explain(claims: Sequence[ResourceClaim], cluster: Cluster, view: NodeView, *, with_remedies: bool) -> Explanation:
    node = view.node.metadata.name
    refs = tuple(map(claim_ref, claims))
    if view.failure is not None:
        return Explanation(node, refs, error=view.failure.message)
    plan = cluster.plans.plan(claims)
    arena = cluster.plans.arena(plan, view)
    if arena.complaint is not None:
        return Explanation(node, refs, pools=_troubles(view), error=arena.complaint.failure(claims, view).message)
    occupancy = cluster.occupancy(view)
    surveyor = Surveyor(cluster, view, arena)
    requests = tuple(surveyor.explain(option) for option in arena.options)
    solved = solve(arena, occupancy)
    if not isinstance(solved, Unsolved):
        return Explanation(node, refs, requests, _troubles(view))
    if solved.complaint is not None:
        return Explanation(node, refs, requests, _troubles(view), error=solved.complaint.failure(claims, view).message)
    kept, constraints = _find_conflict(arena, occupancy)
    conflict = _name_conflict(arena, view, occupancy, kept, constraints)
    remedies = find_remedies(cluster, plan, view, kept, constraints) if with_remedies else ()
    return Explanation(node, refs, requests, _troubles(view), conflict, remedies)


def _troubles(view: NodeView) -> tuple[PoolTrouble, ...]:
    return tuple(
        PoolTrouble(str(pool.id), str(pool.state), pool.defect)
        for pool in view.pools
        if pool.state is not PoolState.USABLE
    )


def _find_conflict(arena: Arena, occupancy: Occupancy) -> tuple[list[int], list[ConstraintRef]]:
    """Requests, and constraints on them, that conflict; leaving any one out resolves it."""
    everything = list(range(len(arena.requests)))
    kept = next(([one] for one in everything if not fits(with_requests(arena, [one]), occupancy)), None)
    if kept is None:
        kept = min((_shrink(arena, occupancy, order) for order in (everything, everything[::-1])), key=len)
    rest = with_requests(arena, kept)
    dropped: set[ConstraintRef] = set()
    used = sorted({(option.claim, index) for option in rest.options for index, _ in option.columns})
    for constraint in used:
        if not fits(without_constraints(rest, {*dropped, constraint}), occupancy):
            dropped.add(constraint)
    return kept, [constraint for constraint in used if constraint not in dropped]


def _shrink(arena: Arena, occupancy: Occupancy, order: Sequence[int]) -> list[int]:
    kept = set(order)
    for request in order:
        if len(kept) > 1 and not fits(with_requests(arena, kept - {request}), occupancy):
            kept.remove(request)
    return sorted(kept)


def _name_conflict(
    arena: Arena, view: NodeView, occupancy: Occupancy, kept: Sequence[int], constraints: Sequence[ConstraintRef]
) -> Conflict:
    requests = [(arena.requests[number].claim, arena.requests[number].options[0].demand.parent) for number in kept]
    named = [(claim, arena.constraints[claim][index].attribute) for claim, index in constraints]
    best: tuple[str, int | None] = ("", None)
    if len(kept) == 1 and len(constraints) == 1 and not _constraint_is_distinct(arena, constraints[0]):
        index = constraints[0][1]
        option = next(each for each in arena.requests[kept[0]].options if index in dict(each.columns))
        best = _best_group(option, view, occupancy, index, named[0][1])
    return Conflict(tuple(requests), tuple(named), best[0], best[1])


def _constraint_is_distinct(arena: Arena, constraint: ConstraintRef) -> bool:
    return arena.constraints[constraint[0]][constraint[1]].is_distinct


def _best_group(
    option: Option, view: NodeView, occupancy: Occupancy, index: int, attribute: str
) -> tuple[str, int | None]:
    """The value that most of the free candidates share, and how many those are."""
    column = dict(option.columns)[index]
    free = option.candidates & ~occupancy.taken
    best = max(column.places.values(), key=lambda places: (places & free).bit_count(), default=0) & free
    first = next(bits(best), None)
    if first is None:
        return "", 0
    value = find_attribute(attribute, view.slice_at(first).pool.driver, view.devices[first])
    return (name_value(value) if value is not None else ""), best.bit_count()


@dataclass(frozen=True, slots=True)
class Folded:
    """Nodes that refuse claims for the same main reason. `example` explains the first of them."""

    headline: Headline
    nodes: int
    example: Explanation


@dataclass(frozen=True, slots=True)
class ClusterExplanation:
    """How all nodes of a cluster fare, refusals folded by main reason, the most frequent first."""

    nodes: int
    feasible: int
    refusals: tuple[Folded, ...]


def explain_cluster(claims: Sequence[ResourceClaim], cluster: Cluster) -> ClusterExplanation:
    """Explain why nodes refuse claims. Nodes that cannot be told apart are looked at once."""
    feasibility = feasible_nodes(claims, cluster)
    counts: dict[Headline, int] = {}
    firsts: dict[Headline, NodeView] = {}
    refused = [group for group in feasibility.groups if not isinstance(group.verdict, Feasible)]
    for number, group in enumerate(refused):
        view = cluster.view_number(next(bits(group.nodes)))
        if isinstance(group.verdict, BudgetExhausted):
            headline = Headline(HeadlineCode.BUDGET_EXHAUSTED)
        elif number < _CLASSES_EXAMINED:
            headline = _headline(_explain(claims, cluster, view, with_remedies=False))
        else:
            headline = Headline(HeadlineCode.NOT_EXAMINED)
        counts[headline] = counts.get(headline, 0) + group.nodes.bit_count()
        firsts.setdefault(headline, view)
    most = max(counts.values(), default=0)
    folded = [
        Folded(headline, count, _explain(claims, cluster, firsts[headline], with_remedies=count == most))
        for headline, count in counts.items()
    ]
    total = feasibility.count + sum(counts.values())
    return ClusterExplanation(total, feasibility.count, tuple(sorted(folded, key=lambda each: -each.nodes)))


def _headline(explanation: Explanation) -> Headline:
    """The one reason to name first."""
    if explanation.error:
        return Headline(HeadlineCode.INPUT_ERROR, explanation.error)
    conflict = explanation.conflict
    if conflict is None:
        return Headline(HeadlineCode.NOT_EXAMINED)
    if conflict.constraints:
        return Headline(HeadlineCode.CONSTRAINT, conflict.constraints[0][1])
    if len(conflict.requests) > 1:
        return Headline(HeadlineCode.NOT_TOGETHER, ", ".join(name for _, name in conflict.requests))
    claim, name = conflict.requests[0]
    request = next(each for each in explanation.requests if (each.claim, each.request.split("/")[0]) == (claim, name))
    telling = [fall for fall in request.falls if fall.code not in (ReasonCode.UNREACHABLE, ReasonCode.WRONG_CLASS)]
    if not telling:
        code = HeadlineCode.TOO_FEW if request.left else HeadlineCode.NO_DEVICE
        return Headline(HeadlineCode.POOL if explanation.pools and not request.left else code, request.class_name)
    if any(fall.code is ReasonCode.TAKEN for fall in telling) and request.left:
        return Headline(HeadlineCode.TOO_FEW_FREE, request.class_name)
    main = max(telling, key=lambda fall: (list(ReasonCode).index(fall.code) >= _STATE, fall.count))
    return Headline(HeadlineCode(main.code.value), main.subject or request.class_name)


_STATE = list(ReasonCode).index(ReasonCode.TAINTED)
"""From here on reasons lie in the state of devices, not in what they are."""

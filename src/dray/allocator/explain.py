"""Why claims do not fit, worked out on demand after a refusal, never on the way to a decision.

How each request fares by itself is counted device by device. What conflicts, and what would help, is found out by
trying: the same search answers for fewer requests, released claims, dropped constraints. So what an explanation says
is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dray.allocator.bits import bits
from dray.allocator.cluster import Cluster
from dray.allocator.conflicts import describe_clash, find_clash
from dray.allocator.feasibility import feasible_nodes
from dray.allocator.ids import claim_ref
from dray.allocator.outcome import BudgetExhausted, Feasible
from dray.allocator.pools import PoolState
from dray.allocator.reasons import Explanation, Headline, HeadlineCode, PoolTrouble, ReasonCode, RequestExplanation
from dray.allocator.remedies import find_remedies
from dray.allocator.solve import Unsolved, solve
from dray.allocator.survey import Surveyor
from dray.allocator.view import NodeView
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
    clash = find_clash(arena, occupancy)
    conflict = describe_clash(arena, view, occupancy, clash)
    remedies = find_remedies(cluster, plan, view, clash) if with_remedies else ()
    return Explanation(node, refs, requests, _troubles(view), conflict, remedies)


def _troubles(view: NodeView) -> tuple[PoolTrouble, ...]:
    return tuple(
        PoolTrouble(str(pool.id), str(pool.state), pool.defect)
        for pool in view.pools
        if pool.state is not PoolState.USABLE
    )


@dataclass(frozen=True, slots=True)
class Folded:
    """Nodes that refuse claims for the same main reason, their numbers as bits. `example` explains the first."""

    headline: Headline
    numbers: int
    example: Explanation

    @property
    def nodes(self) -> int:
        """How many nodes there are of them."""
        return self.numbers.bit_count()


@dataclass(frozen=True, slots=True)
class ClusterExplanation:
    """How the nodes of a cluster fare, refusals folded by main reason, the most frequent first.

    `nearest` is the node that comes closest to fitting, by how many devices it lacks: first of those that would do,
    then of those that are free. Empty where no node was looked at and refused.
    """

    nodes: int
    feasible: int
    refusals: tuple[Folded, ...]
    nearest: str = ""


def explain_cluster(claims: Sequence[ResourceClaim], cluster: Cluster, among: int | None = None) -> ClusterExplanation:
    """Explain why nodes refuse claims, all of them or those `among` a set of numbers.

    Nodes that cannot be told apart are looked at once.
    """
    numbers: dict[Headline, int] = {}
    firsts: dict[Headline, NodeView] = {}
    feasible = examined = 0
    nearest: tuple[_Distance, str] | None = None
    for group in feasible_nodes(claims, cluster).groups:
        nodes = group.nodes if among is None else group.nodes & among
        if not nodes:
            continue
        if isinstance(group.verdict, Feasible):
            feasible |= nodes
            continue
        view = cluster.view_number(next(bits(nodes)))
        headline = Headline(HeadlineCode.NOT_EXAMINED)
        if isinstance(group.verdict, BudgetExhausted):
            headline = Headline(HeadlineCode.BUDGET_EXHAUSTED)
        elif examined < _CLASSES_EXAMINED:
            examined += 1
            explanation = _explain(claims, cluster, view, with_remedies=False)
            headline = _headline(explanation)
            distance = (_measure_miss(explanation), explanation.node)
            nearest = distance if nearest is None or distance[0] < nearest[0] else nearest
        numbers[headline] = numbers.get(headline, 0) | nodes
        firsts.setdefault(headline, view)
    most = max((each.bit_count() for each in numbers.values()), default=0)
    folded = [
        Folded(headline, each, _explain(claims, cluster, firsts[headline], with_remedies=each.bit_count() == most))
        for headline, each in numbers.items()
    ]
    folded.sort(key=lambda each: -each.nodes)
    total = feasible.bit_count() + sum(each.nodes for each in folded)
    return ClusterExplanation(total, feasible.bit_count(), tuple(folded), "" if nearest is None else nearest[1])


_Distance: TypeAlias = tuple[int, int, int, int]


def _measure_miss(explanation: Explanation) -> _Distance:
    """How far claims are from fitting: whether that can be told at all, then how many devices they lack.

    Devices that are not even of the class count most, then those that are not as wanted, then those in use.
    """
    conflict = explanation.conflict
    if explanation.error or conflict is None:
        return 1, 0, 0, 0
    sums = (0, 0, 0)
    for claim, name in conflict.requests:
        options = [each for each in explanation.requests if each.is_of(claim, name)]
        closest = min(map(_measure_lack, options), default=(0, 0, 0))
        sums = (sums[0] + closest[0], sums[1] + closest[1], sums[2] + closest[2])
    missing = sums[2]
    if conflict.devices is not None:
        missing = max(missing, conflict.devices.wanted - conflict.devices.available)
    return 0, sums[0], sums[1], missing


def _measure_lack(request: RequestExplanation) -> tuple[int, int, int]:
    order = list(ReasonCode)
    by_state = sum(fall.count for fall in request.falls if order.index(fall.code) >= _STATE)
    by_wish = sum(fall.count for fall in request.falls if _CLASS < order.index(fall.code) < _STATE)
    missing = request.needed - request.left
    return max(missing - by_state - by_wish, 0), max(missing - by_state, 0), max(missing, 0)


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
    request = next(each for each in explanation.requests if each.is_of(claim, name))
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
_CLASS = list(ReasonCode).index(ReasonCode.WRONG_CLASS)
"""After this one, reasons are about devices of the class that is wanted."""

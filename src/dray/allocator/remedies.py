"""What would make claims fit. Every remedy is tried before it is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from math import comb

from dray.allocator.arena import Arena, Option, build_arena
from dray.allocator.bits import bits
from dray.allocator.cluster import Cluster
from dray.allocator.columns import find_attribute
from dray.allocator.conflicts import Clash, find_clash
from dray.allocator.ids import ClaimUid
from dray.allocator.occupancy import Occupancy, observe
from dray.allocator.plans import Plan
from dray.allocator.reasons import Remedy, RemedyCode
from dray.allocator.requests import Demand, Shape
from dray.allocator.survey import name_value
from dray.allocator.tolerations import first_intolerable, render_taint
from dray.allocator.view import NodeView
from dray.allocator.whatif import ConstraintRef, fits, tolerating, with_clones, with_requests, without_constraints

__all__ = ["find_remedies"]

_HOLDERS_TRIED = 64
_COMBINATIONS_TRIED = 64
_GROUPS_TRIED = 8
_CLASHES_RESOLVED = 4


def find_remedies(cluster: Cluster, plan: Plan, view: NodeView, clash: Clash) -> tuple[Remedy, ...]:
    """Ways out of a clash, in the order in which people would try them."""
    arena = cluster.plans.arena(plan, view)
    occupancy = cluster.occupancy(view)
    options = [option for number in clash.requests for option in arena.requests[number].options]
    return (
        *_releases(cluster, view, arena),
        *_additions(arena, occupancy, view, clash),
        *_relaxed_constraints(arena, occupancy, clash.constraints),
        *_relaxed_selectors(cluster, plan, view, options),
        *_tolerations(arena, occupancy, view, options),
    )


def _releases(cluster: Cluster, view: NodeView, arena: Arena) -> Iterator[Remedy]:
    """Any one of several claims, or the fewest that do together."""
    holders = _holders(cluster, view)
    alone = [holder for holder in holders if _fits_without(cluster, view, arena, [holder])]
    if alone:
        yield Remedy(RemedyCode.RELEASE_CLAIMS, _refs(cluster, alone))
        return
    if not holders or not _fits_without(cluster, view, arena, holders):
        return
    needed = list(holders)
    for holder in holders:
        fewer = [each for each in needed if each != holder]
        if _fits_without(cluster, view, arena, fewer):
            needed = fewer
    number = len(needed)
    is_any = comb(len(holders), number) <= _COMBINATIONS_TRIED and all(
        _fits_without(cluster, view, arena, list(some)) for some in combinations(holders, number)
    )
    yield Remedy(RemedyCode.RELEASE_CLAIMS, _refs(cluster, holders if is_any else needed), number)


def _holders(cluster: Cluster, view: NodeView) -> list[ClaimUid]:
    """Claims that hold devices of pools the node sees."""
    users: dict[ClaimUid, None] = {}
    for pool in view.pools:
        for use in cluster.ledger.uses(pool.id).values():
            users.update(dict.fromkeys(use.users()))
    return list(islice(users, _HOLDERS_TRIED))


def _fits_without(cluster: Cluster, view: NodeView, arena: Arena, holders: Sequence[ClaimUid]) -> bool:
    ledger = cluster.ledger
    mark = ledger.mark()
    for holder in holders:
        ledger.release(holder)
    occupancy = observe(view, ledger)
    ledger.undo(mark)
    return fits(arena, occupancy)


def _refs(cluster: Cluster, holders: Sequence[ClaimUid]) -> tuple[str, ...]:
    holdings = [cluster.ledger.holding(holder) for holder in holders]
    return tuple(holding.ref for holding in holdings if holding is not None)


def _additions(arena: Arena, occupancy: Occupancy, view: NodeView, clash: Clash) -> Iterator[Remedy]:
    """More devices like some that are there already: the fewest for a clash, and for those behind it as well."""
    found: list[Remedy] = []
    for _ in range(_CLASHES_RESOLVED):
        added = _add_fewest(arena, occupancy, view, clash)
        if added is None:
            return
        arena, remedy = added
        found.append(remedy)
        if fits(arena, occupancy):
            yield replace(found[0], along_with=tuple(found[1:]))
            return
        clash = find_clash(arena, occupancy)


def _add_fewest(arena: Arena, occupancy: Occupancy, view: NodeView, clash: Clash) -> tuple[Arena, Remedy] | None:
    """The fewest more devices for one of the requests that resolve a clash."""
    best: tuple[Arena, Remedy] | None = None
    for option in (option for number in clash.requests for option in arena.requests[number].options):
        for place, where in _models(arena, view, option, clash.constraints):
            most = (best[1].count - 1) if best is not None else max(option.need, 1)
            for count in range(1, most + 1):
                more = with_clones(arena, place, count)
                if fits(with_requests(more, clash.requests), occupancy):
                    best = more, Remedy(RemedyCode.ADD_DEVICES, (option.demand.label,), count, where, option.claim)
                    break
    return best


def _models(
    arena: Arena, view: NodeView, option: Option, constraints: Sequence[ConstraintRef]
) -> Iterator[tuple[int, str]]:
    """Devices to have more of: one of each of the largest groups where a constraint asks for groups."""
    published = (1 << len(view.devices)) - 1
    columns = dict(option.columns)
    for claim, index in constraints:
        if claim == option.claim and index in columns and not arena.constraints[claim][index].is_distinct:
            name = arena.constraints[claim][index].attribute
            groups = sorted(columns[index].places.values(), key=lambda places: -places.bit_count())
            for places in groups[:_GROUPS_TRIED]:
                place = next(bits(places & published))
                value = find_attribute(name, view.slice_at(place).pool.driver, view.devices[place])
                yield place, f"{name}={name_value(value)}" if value is not None else ""
            return
    first = next(bits(option.selected & published), None)
    if first is not None:
        yield first, ""


def _relaxed_constraints(arena: Arena, occupancy: Occupancy, constraints: Sequence[ConstraintRef]) -> Iterator[Remedy]:
    for claim, index in constraints:
        if fits(without_constraints(arena, {(claim, index)}), occupancy):
            yield Remedy(RemedyCode.RELAX_CONSTRAINT, (arena.constraints[claim][index].attribute,), claim=claim)


def _relaxed_selectors(cluster: Cluster, plan: Plan, view: NodeView, options: Sequence[Option]) -> Iterator[Remedy]:
    for option in options:
        for number, expression in enumerate(option.demand.expressions):
            shape = _without_selector(plan.shape, option.demand, number)
            relaxed = build_arena(shape, view, cluster.plans.matcher)
            if relaxed.complaint is None and fits(relaxed, cluster.occupancy(view)):
                label = option.demand.label
                yield Remedy(RemedyCode.RELAX_SELECTOR, (expression,), where=label, claim=option.claim)


def _without_selector(shape: Shape, demand: Demand, number: int) -> Shape:
    expressions = (*demand.expressions[:number], *demand.expressions[number + 1 :])
    relaxed = replace(demand, expressions=expressions)
    claims = tuple(
        replace(
            claim,
            requests=tuple(
                replace(request, demands=tuple(relaxed if each is demand else each for each in request.demands))
                for request in claim.requests
            ),
        )
        for claim in shape.claims
    )
    return replace(shape, claims=claims)


def _tolerations(arena: Arena, occupancy: Occupancy, view: NodeView, options: Sequence[Option]) -> Iterator[Remedy]:
    taints: dict[str, None] = {}
    inoperable = view.inoperable
    for option in options:
        for place in bits(option.selected & ~option.candidates & ~inoperable):
            taint = first_intolerable(view.devices[place].taints, option.demand.tolerations)
            if taint is not None:
                taints[render_taint(taint)] = None
    if taints and fits(tolerating(arena, inoperable), occupancy):
        yield Remedy(RemedyCode.TOLERATE_TAINTS, tuple(taints), len(taints))

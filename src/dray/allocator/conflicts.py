"""What conflicts: a smallest set of requests and constraints that cannot all be had, found out by trying."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from dray.allocator.arena import Arena, Request
from dray.allocator.bits import bits
from dray.allocator.columns import Column, find_attribute
from dray.allocator.occupancy import Occupancy
from dray.allocator.reasons import Conflict, Group, Supply
from dray.allocator.solve import rules_of
from dray.allocator.survey import name_value
from dray.allocator.view import NodeView
from dray.allocator.whatif import ConstraintRef, fits, with_requests, without_constraints

__all__ = ["Clash", "describe_clash", "find_clash"]


@dataclass(frozen=True, slots=True)
class Clash:
    """Requests, by number, and constraints on them that cannot all be had. Leaving any one out resolves it."""

    requests: tuple[int, ...]
    constraints: tuple[ConstraintRef, ...]


def find_clash(arena: Arena, occupancy: Occupancy) -> Clash:
    """A clash in claims that do not fit. Nothing in it can be spared; there may be others."""
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
    return Clash(tuple(kept), tuple(constraint for constraint in used if constraint not in dropped))


def _shrink(arena: Arena, occupancy: Occupancy, order: Sequence[int]) -> list[int]:
    kept = set(order)
    for request in order:
        if len(kept) > 1 and not fits(with_requests(arena, kept - {request}), occupancy):
            kept.remove(request)
    return sorted(kept)


def describe_clash(arena: Arena, view: NodeView, occupancy: Occupancy, clash: Clash) -> Conflict:
    """Name what clashes, and hold what is wanted against what there is."""
    requests = [arena.requests[number] for number in clash.requests]
    free = _free_places(arena, occupancy, requests)
    everywhere = _union(free.values())
    devices = None
    if not everywhere & arena.shared and not any(option.is_admin for each in requests for option in each.options):
        devices = Supply(everywhere.bit_count(), sum(request.least for request in requests))
    conflict = Conflict(
        requests=tuple((request.claim, request.options[0].demand.parent) for request in requests),
        constraints=tuple((claim, arena.constraints[claim][index].attribute) for claim, index in clash.constraints),
        devices=devices,
    )
    if len(clash.constraints) != 1:
        return conflict
    claim, index = clash.constraints[0]
    bound = [request for request in requests if all(index in dict(option.columns) for option in request.options)]
    columns = {option.number: dict(option.columns)[index] for request in bound for option in request.options}
    if any(request.claim != claim for request in requests) or len(bound) < len(requests):
        return conflict
    if arena.constraints[claim][index].is_distinct:
        values = Supply(_count_values(columns, free), sum(request.least for request in requests))
        return replace(conflict, distinct=values if values.available < values.wanted else None)
    return replace(conflict, best=_best_group(requests, columns, free, view))


def _free_places(arena: Arena, occupancy: Occupancy, requests: Iterable[Request]) -> dict[int, int]:
    """Devices that each option could have if nobody else chose, by its number."""
    rules = rules_of(arena, occupancy)
    return {
        option.number: option.candidates & ~_union(rule.shut(option) for rule in rules)
        for request in requests
        for option in request.options
    }


def _count_values(columns: dict[int, Column], free: dict[int, int]) -> int:
    found = {
        value for number, column in columns.items() for value, places in column.places.items() if places & free[number]
    }
    return len(found)


def _best_group(requests: Sequence[Request], columns: dict[int, Column], free: dict[int, int], view: NodeView) -> Group:
    """The value with which requests come furthest, and how many devices each could have with it."""
    attribute = next(iter(columns.values())).attribute
    best = Group("", (0,) * len(requests))
    most = 0
    for value in dict.fromkeys(value for column in columns.values() for value in column.places):
        having = [
            _union(columns[option.number].places.get(value, 0) & free[option.number] for option in request.options)
            for request in requests
        ]
        served = sum(min(each.bit_count(), request.least) for each, request in zip(having, requests, strict=True))
        if served > most:
            most = served
            best = Group(_name_at(view, next(bits(_union(having))), attribute), tuple(map(int.bit_count, having)))
    return best


def _name_at(view: NodeView, place: int, attribute: str) -> str:
    value = find_attribute(attribute, view.slice_at(place).pool.driver, view.devices[place])
    return name_value(value) if value is not None else ""


def _union(places: Iterable[int]) -> int:
    return reduce(or_, places, 0)

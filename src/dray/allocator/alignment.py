"""Bounds from constraints: a value that enough devices of every request have, enough different values for all.

Both are judged on what is left for the requests of one claim, before any of them chooses.
"""

from __future__ import annotations

from dray.allocator.arena import Option
from dray.allocator.bits import bits
from dray.allocator.columns import Column
from dray.allocator.constraints import DistinctRule, MatchRule
from dray.allocator.prospect import Prospect
from dray.allocator.saturation import assign

__all__ = ["align", "can_serve", "has_distinct_values"]


def align(rule: MatchRule, requests: list[tuple[Option, ...]], prospect: Prospect) -> bool:
    """Leave only devices with a value that all requests under the constraint can have in common.

    False if there is no such value. Since all devices end up with one common value at least, each value can be judged
    by itself: every request needs enough devices that have it.
    """
    live = prospect.live
    covered = [option for options in requests for option in options if option.number in rule.columns]
    covered = [option for option in covered if option.number in live]
    if not covered:
        return True
    bound = [
        alive
        for options in requests
        if (alive := [option for option in options if option.number in live])
        and all(option.number in rule.columns for option in alive)
    ]
    kept = dict.fromkeys((option.number for option in covered), 0)
    for value in _values(rule, bound[0] if bound else covered):
        if not all(_serves(rule.columns, value, options, prospect) for options in bound):
            continue
        if len(bound) > 1 and not _serves_together(rule.columns, value, bound, prospect):
            continue
        for option in covered:
            places = rule.columns[option.number].places.get(value, 0) & live[option.number]
            if places.bit_count() >= prospect.needs[option.number]:
                kept[option.number] |= places
    for option in covered:
        prospect.settle(option, kept[option.number])
    return not prospect.is_lost()


def _values(rule: MatchRule, options: list[Option]) -> list[int]:
    if rule.common is not None:
        return list(bits(rule.common))
    return list(dict.fromkeys(value for option in options for value in rule.columns[option.number].places))


def _serves(columns: dict[int, Column], value: int, options: list[Option], prospect: Prospect) -> bool:
    """Whether devices with the value are enough for one of a request's options."""
    for option in options:
        places = columns[option.number].places.get(value, 0) & prospect.live[option.number]
        if places.bit_count() >= prospect.needs[option.number]:
            return True
    return False


def _serves_together(columns: dict[int, Column], value: int, bound: list[list[Option]], prospect: Prospect) -> bool:
    """Whether devices with the value are enough for all requests, if no two share one."""
    wanted, places = 0, 0
    for options in bound:
        if options[0].is_admin:
            continue
        shared = False
        for option in options:
            here = columns[option.number].places.get(value, 0) & prospect.live[option.number]
            shared = shared or bool(option.amounts) or bool(here & prospect.shared)
            places |= here
        wanted += 0 if shared else min(prospect.needs[option.number] for option in options)
    return places.bit_count() >= wanted


def can_serve(claims: int, rule: MatchRule, requests: list[tuple[Option, ...]], prospect: Prospect) -> bool:
    """Whether so many equal claims, each with a value of its choice, find enough devices.

    A value serves as many claims as its scarcest request allows. Requests with a shared device to choose do not count.
    """
    bound = [options for options in requests if all(option.number in rule.columns for option in options)]
    served = 0
    for value in dict.fromkeys(value for options in bound for o in options for value in rule.columns[o.number].places):
        most: int | None = None
        needs: dict[int, int] = {}
        for options in bound:
            places = 0
            for option in options:
                places |= rule.columns[option.number].places.get(value, 0) & prospect.live.get(option.number, 0)
            if not options[0].is_admin and not places & prospect.shared:
                needs[places] = needs.get(places, 0) + min(prospect.needs[option.number] for option in options)
        for places, need in needs.items():
            if need:
                here = places.bit_count() // need
                most = here if most is None else min(most, here)
        if most is None:
            return True
        served += most
        if served >= claims:
            return True
    return False


def has_distinct_values(rule: DistinctRule, requests: list[tuple[Option, ...]], prospect: Prospect) -> bool:
    """Whether the values left are enough for every device under the constraint to have one of its own."""
    wanted: list[int] = []
    numbers: list[int] = []
    for options in requests:
        alive = [option for option in options if option.number in prospect.live]
        if not all(option.number in rule.columns for option in alive):
            continue
        values = 0
        for option in alive:
            left = prospect.live[option.number]
            for value, places in rule.columns[option.number].places.items():
                if places & left:
                    values |= 1 << value
        wanted.append(values)
        numbers.append(min(prospect.needs[option.number] for option in alive))
    return sum(numbers) <= 1 or assign(wanted, numbers) is not None

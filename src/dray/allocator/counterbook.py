"""The shared counters a node can see, numbered, and what each device draws on them.

Numbers follow the search order, so that nodes of one model number their counters alike and can share what was found out
about them. The book is about what is published; what is left of it stands in the occupancy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dray.allocator.pools import Pool
from dray.api.resource.device import Device

__all__ = ["CounterBook", "Draw", "write_counter_book"]


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """What one device takes while it is allocated: amounts in billionths by counter, and the groups it names by set.

    `groups` holds one set of bits for each counter set the device draws on, 0 if it names no group there.
    """

    amounts: tuple[tuple[int, int], ...]
    groups: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class CounterBook:
    """All counters of the pools a node sees.

    `totals`, `names` and `set_of` are by counter, `pools` has the counters of each pool that has any. `draws` has the
    devices of the node that draw on any, by place; `outside` what devices of other nodes draw, by pool and device name.
    `drawers` are the drawing places of each pool, `by_amount` for each counter the amounts that are drawn at once,
    greatest first, with the places that draw them.
    """

    totals: tuple[int, ...]
    names: tuple[tuple[int, str, str], ...]
    set_of: tuple[int, ...]
    set_count: int
    draws: Mapping[int, Draw]
    outside: tuple[tuple[int, str, Draw], ...]
    drawers: Mapping[int, int]
    has_groups: bool
    pools: Mapping[int, Sequence[int]] = field(init=False)
    by_amount: Sequence[Sequence[tuple[int, int]]] = field(init=False)

    def __post_init__(self) -> None:
        """Work out what every search reads."""
        object.__setattr__(self, "pools", _counters_by_pool(self.names))
        object.__setattr__(self, "by_amount", _drawers_by_amount(len(self.totals), self.draws))


class _Writer:
    """Numbers counters, sets and groups in the order in which they come."""

    def __init__(self) -> None:
        self.totals: list[int] = []
        self.names: list[tuple[int, str, str]] = []
        self.set_of: list[int] = []
        self.counters: dict[tuple[int, str, str], int] = {}
        self.sets: dict[tuple[int, str], int] = {}
        self.groups: dict[tuple[int, str], int] = {}

    def enter(self, number: int, pool: Pool) -> None:
        for counter_set in pool.counter_sets:
            set_number = self.sets.setdefault((number, counter_set.name), len(self.sets))
            for name in sorted(counter_set.counters):
                self.counters[(number, counter_set.name, name)] = len(self.totals)
                self.totals.append(counter_set.counters[name].value.nanos)
                self.names.append((number, counter_set.name, name))
                self.set_of.append(set_number)

    def draw(self, pool: int, device: Device) -> Draw:
        amounts: dict[int, int] = {}
        for drawn in device.consumes_counters:
            for name in sorted(drawn.counters):
                counter = self.counters[(pool, drawn.counter_set, name)]
                amounts[counter] = amounts.get(counter, 0) + drawn.counters[name].value.nanos
        groups = [
            (self.sets[(pool, drawn.counter_set)], self._group_bits(pool, drawn.compatibility_groups))
            for drawn in device.consumes_counters
        ]
        return Draw(tuple(amounts.items()), tuple(groups))

    def _group_bits(self, pool: int, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            mask |= 1 << self.groups.setdefault((pool, name), len(self.groups))
        return mask


def write_counter_book(pools: tuple[Pool, ...]) -> CounterBook | None:
    """Number the counters of usable pools, given in search order; None if no pool has any."""
    if not any(pool.counter_sets for pool in pools):
        return None
    writer = _Writer()
    draws: dict[int, Draw] = {}
    outside: list[tuple[int, str, Draw]] = []
    drawers: dict[int, int] = {}
    place = 0
    for number, pool in enumerate(pools):
        writer.enter(number, pool)
        for prepared in pool.slices:
            for device in prepared.devices:
                if device.consumes_counters:
                    draws[place] = writer.draw(number, device)
                    drawers[number] = drawers.get(number, 0) | 1 << place
                place += 1
        outside += [
            (number, device.name, writer.draw(number, device))
            for prepared in pool.outside
            for device in prepared.devices
            if device.consumes_counters
        ]
    return CounterBook(
        totals=tuple(writer.totals),
        names=tuple(writer.names),
        set_of=tuple(writer.set_of),
        set_count=len(writer.sets),
        draws=draws,
        outside=tuple(outside),
        drawers=drawers,
        has_groups=bool(writer.groups),
    )


def _counters_by_pool(names: Iterable[tuple[int, str, str]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for counter, (pool, _, _) in enumerate(names):
        found.setdefault(pool, []).append(counter)
    return found


def _drawers_by_amount(counters: int, draws: Mapping[int, Draw]) -> list[list[tuple[int, int]]]:
    sums: list[dict[int, int]] = [{} for _ in range(counters)]
    for place, draw in draws.items():
        for counter, amount in draw.amounts:
            sums[counter][amount] = sums[counter].get(amount, 0) | 1 << place
    return [sorted(each.items(), reverse=True) for each in sums]

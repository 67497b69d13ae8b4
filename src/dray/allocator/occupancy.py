"""What is taken on one node, in places: the ledger seen through a view.

A device that is in whole hands is taken. So is one that was shared while it could be and cannot be any more: its
shares still stand. Shares of a device leave what they do not consume. Counters have what committed devices of the
pool, on this node or another, leave of them, at what those devices are published to draw *now*.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from dray.allocator.counterbook import CounterBook, Draw
from dray.allocator.ledger import Ledger
from dray.allocator.view import NodeView

__all__ = ["PLAIN", "UNDRAWN", "Occupancy", "narrow_groups", "observe"]

UNDRAWN = -1
"""State of a counter set that nothing draws on: any device may begin."""

PLAIN = -2
"""State of a counter set that only devices without compatibility groups draw on. Any other state is not negative: the
groups, as bits, that all devices on the set have in common."""


@dataclass(frozen=True, slots=True, eq=False)
class Occupancy:
    """What is taken, by place and by counter.

    `consumed` has the devices with shares, and what those take in billionths by capacity. `remaining` is by counter,
    and negative where more was given than there is. `groups` has the state of each counter set.
    """

    taken: int
    consumed: Mapping[int, Mapping[str, int]]
    remaining: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()

    def key(self) -> Hashable:
        """Equal for equal occupancies."""
        shares = tuple((place, tuple(sorted(used.items()))) for place, used in sorted(self.consumed.items()))
        return self.taken, shares, self.remaining, self.groups


def observe(view: NodeView, ledger: Ledger) -> Occupancy:
    """Look up in the ledger what is taken of the devices and counters that a node sees."""
    taken = 0
    consumed: dict[int, Mapping[str, int]] = {}
    in_use: list[int] = []
    for start, _, prepared in view.segments:
        uses = ledger.uses(prepared.pool)
        for place, device in enumerate(prepared.devices, start) if uses else ():
            use = uses.get(device.name)
            if use is None:
                continue
            in_use.append(place)
            if use.holders or not device.allow_multiple_allocations:
                taken |= 1 << place
            if use.shares and device.allow_multiple_allocations:
                consumed[place] = dict(use.consumed)
    book = view.counters
    if book is None:
        return Occupancy(taken, consumed)
    committed = _committed_draws(view, book, ledger, in_use)
    return Occupancy(taken, consumed, _remaining(book, committed), _common_groups(book, committed))


def _committed_draws(view: NodeView, book: CounterBook, ledger: Ledger, in_use: Iterable[int]) -> list[Draw]:
    """What all devices in use draw. A device counts once, however many shares of it there are."""
    draws = [book.draws[place] for place in in_use if place in book.draws]
    if book.outside:
        by_pool = [ledger.uses(pool.id) for pool in view.pools]
        draws += [draw for number, name, draw in book.outside if name in by_pool[number]]
    return draws


def _remaining(book: CounterBook, committed: list[Draw]) -> tuple[int, ...]:
    left = list(book.totals)
    for draw in committed:
        for counter, amount in draw.amounts:
            left[counter] -= amount
    return tuple(left)


def _common_groups(book: CounterBook, committed: list[Draw]) -> tuple[int, ...]:
    if not book.has_groups:
        return ()
    states = [UNDRAWN] * book.set_count
    for draw in committed:
        for number, groups in draw.groups:
            states[number] = narrow_groups(states[number], groups)
    return tuple(states)


def narrow_groups(state: int, groups: int) -> int:
    """The state of a counter set after one more device, with these groups, draws on it."""
    if state == UNDRAWN:
        return groups or PLAIN
    if state == PLAIN:
        return 0 if groups else PLAIN
    return state & groups

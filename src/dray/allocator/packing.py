"""Whether partitions of cards can serve a demand: which mixes fit on one card, and whether cards can be mixed to it.

Devices that draw on common counters are one card. What fits on a card is worked out once for all cards that are alike,
as the largest mixes: so many devices of each kind. Then each card is given a mix, until the demand is met or provably
cannot be. That decides in a few hundred steps what picking device by device would not in millions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import lcm
from typing import TypeAlias

from dray.allocator.bits import bits

__all__ = ["Card", "Cards", "Drawer", "Mix", "can_be_met", "largest_mixes"]

Mix: TypeAlias = tuple[int, ...]
"""Devices of each kind."""

Cards: TypeAlias = tuple[tuple[Mix, ...], int]
"""The largest mixes that fit on one card of a sort, and how many such cards there are."""

_MAX_STATES = 4_000
"""States of one card that are looked at; a card that is cut in more ways is not judged."""

_MAX_STEPS = 4_000
"""Mixes tried before giving up."""


@dataclass(frozen=True, slots=True)
class Drawer:
    """A device of a card: the kinds it may serve, as bits, and what it draws by the card's counters."""

    kinds: int
    draws: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Card:
    """Devices that can still be taken, and what is left of the counters they draw on."""

    drawers: tuple[Drawer, ...]
    left: tuple[int, ...]


class _TooMany(Exception):
    """The question is too large to be answered here."""


def largest_mixes(card: Card, wanted: Mix) -> tuple[Mix, ...] | None:
    """Mixes that fit on a card and have no larger ones that do, up to what is wanted; None if it takes too long."""
    try:
        return tuple(sorted(_Cutter(card, wanted).mixes(0, card.left)))
    except _TooMany:
        return None


class _Cutter:
    """Cuts one card in every way."""

    def __init__(self, card: Card, wanted: Mix) -> None:
        self._drawers = card.drawers
        self._wanted = wanted
        self._known: dict[tuple[int, tuple[int, ...]], frozenset[Mix]] = {}

    def mixes(self, at: int, left: tuple[int, ...]) -> frozenset[Mix]:
        """The largest mixes of devices from one on, with this much left of the counters."""
        if at == len(self._drawers):
            return frozenset([(0,) * len(self._wanted)])
        found = self._known.get((at, left))
        if found is None:
            if len(self._known) >= _MAX_STATES:
                raise _TooMany
            found = self._known[at, left] = _undominated({*self.mixes(at + 1, left), *self._taking(at, left)})
        return found

    def _taking(self, at: int, left: tuple[int, ...]) -> Iterator[Mix]:
        """Mixes with the device."""
        drawer = self._drawers[at]
        rest = list(left)
        for counter, amount in drawer.draws:
            rest[counter] -= amount
        if min(rest, default=0) < 0:
            return
        for mix in self.mixes(at + 1, tuple(rest)):
            for kind in bits(drawer.kinds):
                if mix[kind] < self._wanted[kind]:
                    yield (*mix[:kind], mix[kind] + 1, *mix[kind + 1 :])


def _undominated(mixes: set[Mix]) -> frozenset[Mix]:
    return frozenset(
        one
        for one in mixes
        if not any(other != one and all(a <= b for a, b in zip(one, other, strict=True)) for other in mixes)
    )


def can_be_met(cards: Sequence[Cards], wanted: Mix, weights: Sequence[Mix] = ()) -> bool | None:
    """Whether so many cards of each sort, each with one of its mixes, add up to what is wanted; None if unknown.

    Nothing can be worth more than it has to be: `weights` say what devices of each kind are worth in some respect.
    """
    return _Mixer(cards, wanted, weights).answer()


class _Mixer:
    """Gives cards mixes, sort by sort; cards of one sort in one order of mixes, as they are interchangeable.

    Mixes with many of what fits least often come first: what is small finds its place later.
    """

    def __init__(self, cards: Sequence[Cards], wanted: Mix, weights: Sequence[Mix]) -> None:
        most = [max((mix[kind] for mixes, _ in cards for mix in mixes), default=0) for kind in range(len(wanted))]
        bulky = sorted(range(len(wanted)), key=lambda kind: most[kind])
        self._cards = [
            (sorted(mixes, key=lambda mix: [mix[kind] for kind in bulky], reverse=True), number)
            for mixes, number in cards
        ]
        self._wanted = wanted
        self._steps = 0
        self._failed: set[tuple[int, int, int, Mix]] = set()
        self._weights = [*weights, *_shares(most)]
        self._worth = [[max((_dot(w, mix) for mix in mixes), default=0) for w in self._weights] for mixes, _ in cards]

    def answer(self) -> bool | None:
        try:
            return self._meets(0, self._cards[0][1] if self._cards else 0, 0, self._wanted)
        except _TooMany:
            return None

    def _meets(self, sort: int, number: int, first: int, wanted: Mix) -> bool:
        if not any(wanted):
            return True
        if not number:
            if sort + 1 >= len(self._cards):
                return False
            return self._meets(sort + 1, self._cards[sort + 1][1], 0, wanted)
        state = (sort, number, first, wanted)
        if state in self._failed or not self._is_worth_it(sort, number, wanted):
            return False
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise _TooMany
        mixes = self._cards[sort][0]
        for at in range(first, len(mixes)):
            rest = tuple([max(want - has, 0) for want, has in zip(wanted, mixes[at], strict=True)])
            if rest != wanted and self._meets(sort, number - 1, at, rest):
                return True
        if self._meets(sort, 0, 0, wanted):
            return True
        self._failed.add(state)
        return False

    def _is_worth_it(self, sort: int, number: int, wanted: Mix) -> bool:
        """Whether the cards left are worth what is wanted, whatever devices are said to be worth."""
        rest = range(sort + 1, len(self._cards))
        for index, weights in enumerate(self._weights):
            worth = number * self._worth[sort][index] + sum(self._cards[s][1] * self._worth[s][index] for s in rest)
            if _dot(weights, wanted) > worth:
                return False
        return True


def _shares(most: Sequence[int]) -> list[Mix]:
    """Worths of some kinds at a time: of each device a share of the most that fit on a card."""
    whole = lcm(*(each or 1 for each in most))
    return [
        tuple(whole // (each or 1) if kind in some else 0 for kind, each in enumerate(most))
        for size in range(1, len(most) + 1)
        for some in combinations(range(len(most)), size)
    ]


def _dot(weights: Mix, mix: Mix) -> int:
    return sum(map(int.__mul__, weights, mix))

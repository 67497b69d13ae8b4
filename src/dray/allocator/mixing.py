"""Requests for partitions as a question of packing: what remains to be served, and the cards it can be served from."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from dray.allocator.arena import Arena, Request
from dray.allocator.bits import bits, join_overlapping
from dray.allocator.counterbook import CounterBook
from dray.allocator.occupancy import Occupancy
from dray.allocator.packing import Card, Drawer, Mix, can_be_met, largest_mixes

__all__ = ["Mixing"]

_MAX_KINDS = 8
"""Kinds of partitions that are told apart; puzzles with more are left to the search."""


_WHOLE = 1 << 32
"""What all of a counter is worth."""


@dataclass(frozen=True, slots=True)
class _Deck:
    """The devices of a card, and the counters that they draw on."""

    places: tuple[int, ...]
    counters: tuple[int, ...]


class Mixing:
    """Judges whether the requests from one on can be served from the cards as they are.

    Requests for the same devices are of one kind. Those with alternatives, for all devices, or for shared ones are left
    out, and constraints are not looked at; if there are any, the answer can only be no, or nothing.
    """

    def __init__(self, arena: Arena, book: CounterBook) -> None:
        self._book = book
        self._drawing = sum(1 << place for place in book.draws) & ~arena.shared
        self._kinds: dict[int, int] = {}
        self._demands = [self._demand(request, arena.shared) for request in arena.requests]
        self._is_whole = [_is_plain(request, arena.shared) for request in arena.requests]
        self._most = self._wanted(0)
        self._decks = [self._deck(places) for places in self._cards()]
        self._mixes: dict[Card, tuple[Mix, ...] | None] = {}
        names = {name for _, _, name in book.names}
        self._weights = [self._worth(some) for name in sorted(names) for some in ({name}, names - {name})]

    def judge(self, request: int, occupancy: Occupancy) -> bool | None:
        """Whether this request and those after it can be served; None if that cannot be told."""
        if not 0 < len(self._kinds) <= _MAX_KINDS:
            return None
        wanted = list(self._wanted(request))
        is_exact = all(self._is_whole[request:]) and min(occupancy.remaining, default=0) >= 0
        for places, kind in self._kinds.items():
            undrawn = (places & ~self._drawing & ~occupancy.taken).bit_count()
            wanted[kind] = max(wanted[kind] - undrawn, 0)
            is_exact = is_exact and not undrawn
        cards: dict[tuple[Mix, ...], int] = {}
        for deck in self._decks:
            mixes = self._mixes_of(self._card(deck, occupancy))
            if mixes is None:
                return None
            cards[mixes] = cards.get(mixes, 0) + 1
        verdict = can_be_met(list(cards.items()), tuple(wanted), self._weights)
        return verdict if is_exact or verdict is False else None

    def _demand(self, request: Request, shared: int) -> tuple[int, int] | None:
        """Kind and number of devices."""
        option = request.options[0]
        if len(request.options) > 1 or option.wants_all or option.is_admin or option.candidates & shared:
            return None
        return self._kinds.setdefault(option.candidates, len(self._kinds)), option.need

    def _wanted(self, request: int) -> Mix:
        wanted = [0] * len(self._kinds)
        for demand in self._demands[request:]:
            if demand is not None:
                wanted[demand[0]] += demand[1]
        return tuple(wanted)

    def _cards(self) -> list[tuple[int, ...]]:
        drawers: dict[int, int] = {}
        for place in bits(self._drawing):
            for counter, _ in self._book.draws[place].amounts:
                drawers[counter] = drawers.get(counter, 0) | 1 << place
        return join_overlapping(self._drawing, drawers.values())

    def _deck(self, places: tuple[int, ...]) -> _Deck:
        draws = self._book.draws
        return _Deck(places, tuple(dict.fromkeys(counter for place in places for counter, _ in draws[place].amounts)))

    def _card(self, deck: _Deck, occupancy: Occupancy) -> Card:
        """What can still be taken of a card, told so that cards which are alike read alike."""
        left = tuple(max(occupancy.remaining[counter], 0) for counter in deck.counters)
        position = {counter: at for at, counter in enumerate(deck.counters)}
        drawers: list[Drawer] = []
        for place in deck.places:
            kinds = sum(1 << kind for places, kind in self._kinds.items() if places >> place & 1)
            draws = tuple((position[counter], amount) for counter, amount in self._book.draws[place].amounts)
            if kinds and not occupancy.taken >> place & 1 and all(left[at] >= amount for at, amount in draws):
                drawers.append(Drawer(kinds, draws))
        return Card(tuple(drawers), left if drawers else ())

    def _mixes_of(self, card: Card) -> tuple[Mix, ...] | None:
        if card not in self._mixes:
            self._mixes[card] = largest_mixes(card, self._most)
        return self._mixes[card]

    def _worth(self, names: Set[str]) -> Mix:
        """The least that devices of each kind draw of counters with these names, as shares of what there is."""
        book = self._book
        worth = {
            place: sum(
                amount * _WHOLE // book.totals[counter]
                for counter, amount in draw.amounts
                if book.names[counter][2] in names and book.totals[counter] > 0
            )
            for place, draw in book.draws.items()
        }
        return tuple(min((worth.get(place, 0) for place in bits(places)), default=0) for places in self._kinds)


def _is_plain(request: Request, shared: int) -> bool:
    """Whether the request is no more than a number of devices."""
    option = request.options[0]
    return len(request.options) == 1 and not (
        option.columns or option.wants_all or option.is_admin or option.candidates & shared
    )

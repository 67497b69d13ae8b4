"""Which devices and groups of devices are interchangeable, so that what failed once need not fail again.

Two devices are alike if every demand, constraint and counter sees the same in them. Two components (devices tied
together by values that constraints compare, or by counters they share) are alike if one maps to the other, device by
device in order: eight equal cards cut into the same partitions. Swapping what is alike, and was not touched in this
attempt, turns solutions into solutions; so a choice that failed fails for everything alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from dray.allocator.arena import Arena
from dray.allocator.bits import bits, join_overlapping
from dray.allocator.columns import Column
from dray.allocator.interning import Interner
from dray.allocator.occupancy import Occupancy
from dray.allocator.search import Pick

__all__ = ["Symmetry"]


class Symmetry:
    """The likenesses of one arena with one occupancy.

    `component_of` and `role_of` are by place: which component a device is in, and which of its devices it is like, by
    the position of the first such. `family_of` has components that are alike under one number; `masks` their places.
    """

    def __init__(self, arena: Arena, occupancy: Occupancy) -> None:
        self._arena = arena
        self._occupancy = occupancy
        places = 0
        for option in arena.options:
            places |= option.selected | option.fault_mask
        self._columns = list({id(column): column for option in arena.options for _, column in option.columns}.values())
        self._traits = self._find_traits(places)
        self._class_of: dict[int, int] = {}
        self._alike: dict[int, int] = {}
        self._classify(places)
        self._components = self._find_components(places)
        self.component_of = {place: number for number, each in enumerate(self._components) for place in each}
        self.masks = [sum(1 << place for place in each) for each in self._components]
        self.role_of: dict[int, int] = {}
        self._positions: dict[int, int] = {}
        for component in self._components:
            self._cast(component)
        families = Interner()
        self.family_of = [families.number(self._signature(component)) for component in self._components]
        self._families: dict[int, list[int]] = {}
        for number, family in enumerate(self.family_of):
            self._families.setdefault(family, []).append(number)

    def alike(self, picks: Iterable[Pick], place: int) -> int:
        """All places that are as good as this one, with these picks made. A device in use is like no other."""
        touched = 0
        for pick in picks:
            touched |= 1 << pick.place
        if touched >> place & 1:
            return 1 << place
        found = self._alike[self._class_of[place]] & ~touched
        home = self.component_of[place]
        if self.masks[home] & touched:
            return found
        for other in self._families[self.family_of[home]]:
            if other != home and not self.masks[other] & touched:
                found |= self._alike[self._class_of[self._components[other][self._positions[place]]]]
        return found

    def _find_traits(self, places: int) -> dict[int, int]:
        """What demands see in each device apart from values and counters, as a number."""
        masks: dict[int, None] = {}
        for option in self._arena.options:
            derived = sum(1 << place for place in option.derivation_faults)
            masks.update(dict.fromkeys((option.selected, option.candidates, option.fault_mask, derived)))
        seen_in = dict.fromkeys(bits(places), 0)
        for number, mask in enumerate(masks):
            for place in bits(mask):
                seen_in[place] |= 1 << number
        sharing = list(
            {id(option.amounts): option.amounts for option in self._arena.options if option.amounts}.values()
        )
        numbers = Interner()
        traits: dict[int, int] = {}
        for place, membership in seen_in.items():
            key: list[Hashable] = [membership, self._occupancy.taken >> place & 1]
            if place in self._arena.capacities:
                used = self._occupancy.consumed.get(place)
                key.append(None if used is None else frozenset(used.items()))
                key.append(frozenset(self._arena.capacities[place].items()))
                key.extend(frozenset(amounts.get(place, {}).items()) for amounts in sharing)
            traits[place] = numbers.number(tuple(key))
        return traits

    def _classify(self, places: int) -> None:
        numbers = Interner()
        book = self._arena.counters
        for place in bits(places):
            draw = book.draws.get(place) if book is not None else None
            drawn = None if draw is None else (draw.amounts, draw.groups)
            values = tuple(column.values.get(place) for column in self._columns)
            number = self._class_of[place] = numbers.number((self._traits[place], values, drawn))
            self._alike[number] = self._alike.get(number, 0) | 1 << place

    def _find_components(self, places: int) -> list[tuple[int, ...]]:
        ties: list[int] = []
        by_value: dict[tuple[str, int], int] = {}
        for column in self._columns:
            for value, having in column.places.items():
                key = (column.attribute, value)
                by_value[key] = by_value.get(key, 0) | having
        ties.extend(by_value.values())
        book = self._arena.counters
        if book is not None:
            by_set: dict[int, int] = {}
            for place, draw in book.draws.items():
                for number, _ in draw.groups:
                    by_set[number] = by_set.get(number, 0) | 1 << place
            ties.extend(by_set.values())
        return join_overlapping(places, ties)

    def _cast(self, component: Sequence[int]) -> None:
        first: dict[int, int] = {}
        for position, place in enumerate(component):
            self._positions[place] = position
            self.role_of[place] = first.setdefault(self._class_of[place], position)

    def _signature(self, component: Sequence[int]) -> Hashable:
        """Equal for components that are alike: values and counter sets named in the order in which they are met."""
        values = Interner()
        sets = Interner()
        return tuple(
            (self._traits[place], self._local_values(place, values), self._local_draw(place, sets))
            for place in component
        )

    def _local_values(self, place: int, names: Interner) -> Hashable:
        return tuple(
            None if (mask := column.values.get(place)) is None else _renamed(column, mask, names)
            for column in self._columns
        )

    def _local_draw(self, place: int, names: Interner) -> Hashable:
        book = self._arena.counters
        draw = book.draws.get(place) if book is not None else None
        if book is None or draw is None:
            return None
        remaining = self._occupancy.remaining
        pool = next((book.names[counter][0] for counter, _ in draw.amounts), -1)
        is_overdrawn = any(remaining[counter] < 0 for counter in book.pools.get(pool, ()))
        amounts = tuple(
            (names.number(book.set_of[counter]), book.names[counter][2], amount, remaining[counter])
            for counter, amount in draw.amounts
        )
        states = self._occupancy.groups
        groups = tuple(
            (names.number(number), wanted, states[number] if states else 0) for number, wanted in draw.groups
        )
        return is_overdrawn, pool if any(wanted for _, wanted in draw.groups) else None, amounts, groups


def _renamed(column: Column, mask: int, names: Interner) -> Hashable:
    return tuple(names.number((column.attribute, value)) for value in bits(mask))

"""Mixes of partitions on cards: what fits on one, and what cards add up to."""

from itertools import product

import pytest

from dray.allocator.packing import Card, Drawer, Mix, can_be_met, largest_mixes

SLOTS = 8
SIZES = {7: [0], 4: [0], 3: [0, 4], 2: [0, 2, 4], 1: range(7)}
"""Partitions of a GPU with seven slices: where each size may begin. Three slices take four slots of memory."""

WIDTHS = {7: 8, 4: 4, 3: 4, 2: 2, 1: 1}


def gpu(used: range = range(0)) -> Card:
    drawers = tuple(
        Drawer(1 << kind, (*((slot, 1) for slot in range(start, start + WIDTHS[size])), (SLOTS, size)))
        for kind, (size, starts) in enumerate(SIZES.items())
        for start in starts
    )
    return Card(drawers, (*(int(slot not in used) for slot in range(SLOTS)), 7 - len(used)))


PLENTY = (9, 9, 9, 9, 9)


def test_largest_mixes_of_a_card_are_those_of_its_maker() -> None:
    assert largest_mixes(gpu(), PLENTY) == (
        (0, 0, 0, 0, 7),
        (0, 0, 0, 1, 5),
        (0, 0, 0, 2, 3),
        (0, 0, 0, 3, 1),
        (0, 0, 1, 0, 4),
        (0, 0, 1, 1, 2),
        (0, 0, 1, 2, 0),
        (0, 0, 2, 0, 0),
        (0, 1, 0, 0, 3),
        (0, 1, 0, 1, 1),
        (0, 1, 1, 0, 0),
        (1, 0, 0, 0, 0),
    )


def test_mixes_go_no_further_than_what_is_wanted() -> None:
    assert largest_mixes(gpu(), (0, 0, 0, 1, 2)) == ((0, 0, 0, 1, 2),)


def test_used_slots_are_gone() -> None:
    assert largest_mixes(gpu(used=range(4)), PLENTY) == ((0, 0, 0, 0, 3), (0, 0, 0, 1, 1), (0, 0, 1, 0, 0))


def test_a_card_that_is_cut_in_too_many_ways_is_not_judged() -> None:
    drawers = tuple(Drawer(1, ((at, 1), (40, 1 << at))) for at in range(40))
    assert largest_mixes(Card(drawers, (*(1 for _ in range(40)), 1 << 40)), (40,)) is None


@pytest.mark.parametrize(
    ("number", "wanted", "want"),
    [
        (1, (0, 1, 1, 0, 0), True),
        (1, (0, 0, 2, 0, 1), False),  # two of three slices leave a slice of compute and no memory
        (2, (1, 0, 1, 1, 2), True),
        (8, (2, 3, 4, 3, 6), True),
        (8, (2, 3, 6, 4, 8), False),  # 46 slices of compute on six cards with 42
        (8, (2, 3, 7, 4, 9), False),
        (32, (8, 8, 12, 20, 20), True),
        (32, (8, 8, 12, 20, 40), True),
        (32, (8, 8, 12, 20, 64), False),
        (0, (0, 0, 0, 0, 1), False),
        (0, (0, 0, 0, 0, 0), True),
    ],
)
def test_cards_add_up_to_what_is_wanted_or_do_not(number: int, wanted: Mix, want: bool) -> None:
    mixes = largest_mixes(gpu(), wanted)
    assert mixes is not None
    assert can_be_met([(mixes, number)] if number else [], wanted, [tuple(SIZES)]) is want


def test_answer_is_that_of_trying_everything() -> None:
    sorts = [((2, 0), (1, 2), (0, 3)), ((1, 1),), ((0, 2), (3, 0))]
    for wanted in product(range(6), range(7)):
        sums = {(0, 0)}
        for mixes in sorts:
            sums = {(one + mix[0], other + mix[1]) for one, other in sums for mix in mixes}
        want = any(one >= wanted[0] and other >= wanted[1] for one, other in sums)
        assert can_be_met([(mixes, 1) for mixes in sorts], wanted) is want

from hypothesis import given
from hypothesis import strategies as st

from dray.allocator.bits import bits
from dray.allocator.saturation import assign


def serves_all(wanted: list[int], numbers: list[int], used: int = 0) -> bool:
    """Try everything."""
    if not wanted:
        return True
    if numbers[0] == 0:
        return serves_all(wanted[1:], numbers[1:], used)
    rest = [numbers[0] - 1, *numbers[1:]]
    return any(serves_all(wanted, rest, used | 1 << thing) for thing in bits(wanted[0] & ~used))


WANTS = st.lists(st.tuples(st.integers(0, 63), st.integers(0, 2)), max_size=4)


@given(WANTS)
def test_everybody_is_served_if_that_is_possible(wants: list[tuple[int, int]]) -> None:
    wanted, numbers = [places for places, _ in wants], [number for _, number in wants]
    assignment = assign(wanted, numbers)
    assert (assignment is not None) == serves_all(wanted, numbers)
    if assignment is not None:
        assert [given_.bit_count() for given_ in assignment.given] == numbers
        assert all(given_ & ~places == 0 for given_, places in zip(assignment.given, wanted, strict=True))
        assert sum(assignment.given).bit_count() == sum(numbers)


@given(WANTS.filter(lambda wants: bool(wants) and wants[0][1] > 0))
def test_a_thing_is_obtainable_if_the_others_can_do_without_it(wants: list[tuple[int, int]]) -> None:
    wanted, numbers = [places for places, _ in wants], [number for _, number in wants]
    assignment = assign(wanted, numbers)
    if assignment is None:
        return
    for thing in bits(wanted[0]):
        can = serves_all(wanted, [numbers[0] - 1, *numbers[1:]], 1 << thing)
        assert (assignment.obtainable(0) >> thing & 1) == can

import pytest

from dray.allocator.bits import bits


@pytest.mark.parametrize("places", [[], [0], [3, 5, 511], [0, 511, 512, 513, 4_999]])
def test_bits_are_the_places_of_a_set(places: list[int]) -> None:
    assert list(bits(sum(1 << place for place in places))) == places

from dray.cel.sizes import EMPTY, UNKNOWN, UNLIMITED, Range, fixed


def test_sums_and_products_stop_at_the_largest_number() -> None:
    assert UNKNOWN.plus(fixed(1)) == Range(1, UNLIMITED)
    assert UNKNOWN.times(fixed(3)) == Range(0, UNLIMITED)


def test_scaling_rounds_up_in_doubles() -> None:
    assert fixed(15).scaled(0.1) == fixed(2)
    assert fixed(0).scaled(0.1) == fixed(0)
    assert UNKNOWN.scaled(0.1).greatest == 1844674407370955264
    assert UNKNOWN.scaled(2).greatest == UNLIMITED


def test_the_union_with_nothing_is_the_other() -> None:
    assert EMPTY.union(Range(2, 3)) == Range(2, 3)

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dray.drivers.cpu.choosing import choose_cpus
from dray.drivers.cpu.topology import Cpu

MACHINE = [Cpu(number, core=number % 8, cache=number % 8 // 4) for number in range(16)]
"""Eight cores with two threads, four cores to a cache; siblings are 8 apart."""


@pytest.mark.parametrize(
    ("count", "taken", "want"),
    [
        (0, [], []),
        (1, [], [0]),
        (2, [], [0, 8]),
        (4, [], [0, 1, 8, 9]),
        (8, [], [0, 1, 2, 3, 8, 9, 10, 11]),
        (2, [0, 8], [1, 9]),
        (8, [0], [4, 5, 6, 7, 12, 13, 14, 15]),
        (1, [0], [8]),
        (3, [0], [1, 8, 9]),
        (4, [0, 8, 1, 9], [2, 3, 10, 11]),
        (9, [], [0, 1, 2, 3, 4, 8, 9, 10, 11]),
        (16, [], list(range(16))),
        (15, [3], [each for each in range(16) if each != 3]),
        (17, [], None),
        (15, [1, 2], None),
        (-1, [], None),
    ],
)
def test_whole_cores_of_one_cache_come_first(count: int, taken: list[int], want: list[int] | None) -> None:
    assert choose_cpus(MACHINE, count, taken) == want


def machines() -> st.SearchStrategy[list[Cpu]]:
    shapes = st.tuples(st.integers(1, 2), st.integers(1, 6), st.integers(1, 2), st.integers(1, 3))
    return shapes.map(build)


def build(shape: tuple[int, int, int, int]) -> list[Cpu]:
    sockets, cores, threads, cores_to_a_cache = shape
    return [
        Cpu(
            thread * sockets * cores + socket * cores + core,
            socket=socket,
            numa_node=socket,
            core=core,
            cache=socket * 10 + core // cores_to_a_cache,
        )
        for thread in range(threads)
        for socket in range(sockets)
        for core in range(cores)
    ]


@given(machines(), st.lists(st.integers(0, 9), max_size=8))
def test_claims_never_share_and_none_is_refused_that_fits(machine: list[Cpu], wanted: list[int]) -> None:
    taken: set[int] = set()
    for count in wanted:
        chosen = choose_cpus(machine, count, taken)
        if count > len(machine) - len(taken):
            assert chosen is None
            continue
        assert chosen is not None
        assert len(chosen) == len(set(chosen)) == count
        assert not taken & set(chosen)
        assert set(chosen) <= {each.number for each in machine}
        taken |= set(chosen)


@given(machines(), st.lists(st.integers(1, 4), max_size=6))
def test_claims_of_whole_cores_share_no_core(machine: list[Cpu], cores: list[int]) -> None:
    threads = len([each for each in machine if each.core_key == machine[0].core_key])
    taken: set[int] = set()
    for count in cores:
        chosen = choose_cpus(machine, count * threads, taken)
        if chosen is not None:
            assert cores_of(machine, chosen) & cores_of(machine, taken) == set()
            taken |= set(chosen)


def cores_of(machine: Sequence[Cpu], numbers: object) -> set[tuple[int, int]]:
    assert isinstance(numbers, list | set)
    return {each.core_key for each in machine if each.number in numbers}

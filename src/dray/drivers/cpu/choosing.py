"""Which processors of a group a claim gets. Pure: the same question has the same answer.

Whole cores first, so that two claims never share one while there is room; within one L3 cache if any has room for all,
the fullest such one, so that large holes stay. A rest of threads goes where a core is broken already.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from dray.drivers.cpu.topology import Cpu

__all__ = ["choose_cpus"]


def choose_cpus(cpus: Sequence[Cpu], count: int, taken: Collection[int]) -> list[int] | None:
    """`count` processors that nobody has, ascending; None if there are not as many."""
    free = [each for each in cpus if each.number not in taken]
    if count < 0 or len(free) < count:
        return None
    broken = {each.core_key for each in cpus if each.number in taken}
    chosen: list[int] = []
    for cache in _order_caches(free, count, broken):
        chosen += _choose_within(cache, count - len(chosen), broken)
        if len(chosen) == count:
            break
    # What is left over lies in single threads of cores that no cache could give as a whole.
    rest = [each.number for each in free if each.number not in chosen]
    return sorted([*chosen, *rest[: count - len(chosen)]])


def _order_caches(free: Iterable[Cpu], count: int, broken: Collection[tuple[int, int]]) -> list[list[Cpu]]:
    """Caches with room for all of it first, the tightest first; of the others the roomiest first."""
    ordered = sorted(free, key=lambda each: (each.socket, each.cache, each.number))
    caches = [list(group) for _, group in groupby(ordered, key=lambda each: (each.socket, each.cache))]

    def rank(cache: list[Cpu]) -> tuple[bool, int]:
        whole = sum(each.core_key not in broken for each in cache)
        fits = whole >= count or len(cache) >= count > whole
        return not fits, len(cache) if fits else -len(cache)

    return sorted(caches, key=rank)


def _choose_within(cache: Sequence[Cpu], count: int, broken: Collection[tuple[int, int]]) -> list[int]:
    """At most `count` processors of one cache: whole cores while they fit, then threads of broken ones, then others."""
    ordered = sorted(cache, key=lambda each: (each.core_key, each.number))
    cores = [[each.number for each in group] for _, group in groupby(ordered, key=lambda each: each.core_key)]
    keys = [key for key, _ in groupby(ordered, key=lambda each: each.core_key)]
    chosen: list[int] = []
    for key, core in zip(keys, cores, strict=True):
        if key not in broken and len(core) <= count - len(chosen):
            chosen += core
    for is_broken in (True, False):
        for key, core in zip(keys, cores, strict=True):
            if (key in broken) is is_broken:
                chosen += [each for each in core if each not in chosen][: count - len(chosen)]
    return chosen

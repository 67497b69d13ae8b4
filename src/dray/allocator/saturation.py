"""Whether everybody can be served at once: matching of wants to things, each of which serves one.

A want is a set of things that would do and a number of them; sets are bits. Serving the choosiest first nearly always
works; where it does not, things are passed on along alternating paths until they suffice or provably cannot.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Assignment", "assign"]


class Assignment:
    """Things assigned so that every want is served. `given` has the things of each want."""

    def __init__(self, wanted: Sequence[int], given: list[int]) -> None:
        self._wanted = wanted
        self.given = given

    def obtainable(self, want: int) -> int:
        """All things that the want could be given, one at least in some way of serving everybody.

        What nobody needs, or somebody can swap for something obtainable, is obtainable.
        """
        good = ~sum(self.given) | self.given[want]
        open_ = [number for number in range(len(self.given)) if number != want and self.given[number]]
        grows = True
        while grows:
            grows = False
            rest = []
            for number in open_:
                if self._wanted[number] & ~self.given[number] & good:
                    good |= self.given[number]
                    grows = True
                else:
                    rest.append(number)
            open_ = rest
        return self._wanted[want] & good


def assign(wanted: Sequence[int], numbers: Sequence[int]) -> Assignment | None:
    """Serve every want with its number of things; None if that is impossible."""
    given = [0] * len(wanted)
    used = 0
    for want in sorted(range(len(wanted)), key=lambda each: wanted[each].bit_count()):
        for _ in range(numbers[want]):
            free = wanted[want] & ~used
            if free:
                low = free & -free
                given[want] |= low
                used |= low
                continue
            gained = _pass_on(wanted, given, want, used)
            if not gained:
                return None
            used |= gained
    return Assignment(wanted, given)


def _pass_on(wanted: Sequence[int], given: list[int], want: int, used: int) -> int:
    """Serve `want` once more by letting others swap what they have; returns the thing newly used, 0 if none helps."""
    reached_by: dict[int, int] = {}
    queue = [want]
    seen = {want}
    for current in queue:
        free = wanted[current] & ~used
        if free:
            low = free & -free
            _swap(wanted, given, reached_by, current, low)
            return low
        for other, things in enumerate(given):
            if other not in seen and things & wanted[current]:
                seen.add(other)
                reached_by[other] = current
                queue.append(other)
    return 0


def _swap(wanted: Sequence[int], given: list[int], reached_by: dict[int, int], last: int, thing: int) -> None:
    """Give `thing` to `last`; along the path back each passes one of its things on to who reached it."""
    given[last] |= thing
    while last in reached_by:
        before = reached_by[last]
        passed = given[last] & wanted[before] & ~thing
        thing = passed & -passed
        given[last] ^= thing
        given[before] |= thing
        last = before

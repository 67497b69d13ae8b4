"""What is left for each request that still has to be served, while bounds take away what leads nowhere."""

from __future__ import annotations

from dataclasses import dataclass, field

from dray.allocator.arena import Option

__all__ = ["Prospect"]


@dataclass(slots=True, eq=False)
class Prospect:
    """The requests from the current one to the horizon. `shared` are the devices that allow several allocations.

    `live` has the places left, by number of the option; an option that cannot be served any more is not in it.
    `needs` is how many devices an option still takes. The first of `requests`, which holds the current option alone,
    is the current.
    """

    shared: int
    live: dict[int, int] = field(default_factory=dict)
    needs: dict[int, int] = field(default_factory=dict)
    requests: list[tuple[Option, ...]] = field(default_factory=list)

    @property
    def current(self) -> Option:
        """The option that takes the next device."""
        return self.requests[0][0]

    def settle(self, option: Option, places: int) -> None:
        """Note which places are left for an option; too few, or not all of those that it must have, are none."""
        is_short = places.bit_count() < self.needs[option.number]
        if is_short:
            self.live.pop(option.number, None)
        else:
            self.live[option.number] = places

    def is_lost(self) -> bool:
        """Whether some request has no option left."""
        live = self.live
        return not all(any(option.number in live for option in options) for options in self.requests)

    def claims(self) -> dict[int, list[tuple[Option, ...]]]:
        """The requests by claim."""
        found: dict[int, list[tuple[Option, ...]]] = {}
        for options in self.requests:
            found.setdefault(options[0].claim, []).append(options)
        return found

    def wants(self) -> list[tuple[int, int]]:
        """Devices that requests take from each other: a set of places, and how many of them are taken at least.

        The current request comes first; others that choose from the same places are counted together. A request with
        options may take what any of them may, and takes the least that any needs. Each request may have any shared
        device too, and administrators take nothing from anybody, so neither counts.
        """
        first, *others = (self._want(options) for options in self.requests)
        together: dict[int, int] = {}
        for places, need in others:
            if need > 0:
                together[places] = together.get(places, 0) + need
        return [first, *together.items()]

    def _want(self, options: tuple[Option, ...]) -> tuple[int, int]:
        places = 0
        needs: list[int] = []
        for option in options:
            left = self.live.get(option.number)
            if left is not None:
                needs.append(self.needs[option.number] - (left & self.shared).bit_count())
                places |= left
        if options[0].is_admin or not needs:
            return 0, 0
        return places & ~self.shared, max(min(needs), 0)

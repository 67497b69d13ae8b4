"""Pods that wait for a node, and when each is tried: at once, after a pause, when something changed, or not yet.

An entry is one pod, or all unscheduled pods of one group. Entries that no decision can tell apart are *kin of one
likeness*: when something happens that may help them, one of them is tried. If it is placed, what gave it hope is held
against the next; if it is refused, the others sleep on. So a freed device costs one attempt and not one for each pod
that waits for it, and nobody is forgotten, for what refuses one refuses all. Durations and orders are Kubernetes'.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import count
from math import floor, sqrt
from typing import Final

from dray.scheduler.core.entry import Entry, Place
from dray.scheduler.core.kindred import Kindred
from dray.scheduler.core.stir import Stir

__all__ = ["DEFAULT_PACE", "Entry", "Place", "Queue", "QueuePace"]


@dataclass(frozen=True, slots=True)
class QueuePace:
    """How long entries wait, in seconds."""

    first_backoff: float = 1.0
    longest_backoff: float = 10.0
    longest_rest: float = 300.0
    """An entry that nothing woke for so long is tried anyway: the safety net for causes that nobody thought of."""
    sweep_every: float = 30.0


DEFAULT_PACE = QueuePace()


_CERTAIN: Final = Stir(is_certain=True)
_FLUSH: Final = "UnschedulableTimeout"
"""What wakes an entry that nothing woke for long."""

_Ticket = tuple[float, float, float, int, Entry]
"""Order in a heap, then a serial number by which an outdated ticket is known, then the entry."""


class Queue:
    """All entries. Time is given by the caller, in seconds of a clock that only runs forward."""

    def __init__(self, pace: QueuePace = DEFAULT_PACE) -> None:
        self._pace = pace
        self._entries: dict[str, Entry] = {}
        self._active: list[_Ticket] = []
        self._backoff: list[_Ticket] = []
        self._failed: list[_Ticket] = []
        self._resting: dict[str, Entry] = {}
        self._resting_alone: dict[str, Entry] = {}
        self._kin: dict[Hashable, Kindred] = {}
        self._carried: dict[Hashable, Kindred] = {}
        """Those of which one is on its way to be tried."""
        self._serials = count(1)
        self._numbers = count()
        self._swept = 0.0
        self.incoming: dict[tuple[Place, str], int] = {}
        """How many entries came to a place, by what sent them there."""

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: str) -> Entry | None:
        """The entry of a key."""
        return self._entries.get(key)

    def entries(self) -> Iterator[Entry]:
        """All entries, in the order in which they came."""
        return iter(self._entries.values())

    def resting(self) -> Iterator[Entry]:
        """Entries that were refused and wait for a reason to be tried again, one for each likeness."""
        for kin in list(self._kin.values()):
            if kin.resting and kin.carrier is None:
                entry = next(iter(kin.resting.values()))
                entry.plugins = kin.plugins
                yield entry
        yield from list(self._resting_alone.values())

    # What happens to an entry

    def add(self, entry: Entry, now: float, cause: str = "UnscheduledPodAdd") -> None:
        """Take a new entry in, to be tried as soon as possible, or let one that was gated be."""
        self._welcome(entry, now)
        self._leave(entry)
        entry.since = now
        self._activate(entry, cause)

    def _welcome(self, entry: Entry, now: float) -> None:
        if entry.key not in self._entries:
            entry.added, entry.number = now, next(self._numbers)
            self._entries[entry.key] = entry

    def gate(self, entry: Entry, now: float) -> None:
        """Keep an entry away until it is added again: there is no use in trying it."""
        self._welcome(entry, now)
        self._leave(entry)
        self._go(entry, Place.GATED, "UnscheduledPodAdd")

    def pop(self, now: float) -> Entry | None:
        """Take the entry to try next, if there is one. `refuse`, `fail`, `remove` or `add` must follow.

        If nothing is ready, an entry that backs off from a refusal is taken before its time: backing off lets others
        go first, and there are none.
        """
        self._end_backoffs(now)
        entry = _pop_valid(self._active)
        if entry is None:
            entry = _pop_valid(self._backoff)
            if entry is None:
                return None
            self._note(Place.ACTIVE, "PopFromBackoffQ")
        entry.place = Place.TAKEN
        entry.serial = next(self._serials)
        entry.attempts += 1
        entry.tried = now
        return entry

    def refuse(self, entry: Entry, plugins: frozenset[str], now: float) -> None:
        """The entry fits nowhere: let it rest until something changes that concerns those who refused it."""
        entry.refusals += 1
        entry.errors = 0
        entry.plugins = plugins
        entry.tried = now
        kin = self._kin_of(entry)
        if kin is not None and kin.carrier is entry:
            self._drop_carrier(entry.likeness, kin)
        self._rest(entry)

    def fail(self, entry: Entry, now: float) -> None:
        """The attempt failed for reasons that have nothing to do with where it fits: try again after a pause."""
        entry.errors += 1
        entry.tried = now
        entry.plugins = frozenset()
        self._pass_on(entry, now)
        entry.due = self._backoff_end(entry)
        self._go(entry, Place.BACKOFF, "ScheduleAttemptFailure")
        heapq.heappush(self._failed, self._ticket(entry, floor(entry.due)))

    def pause(self, entry: Entry, now: float) -> None:
        """What was done for the sake of a resting entry failed: try it again after a pause."""
        if entry.place is Place.UNSCHEDULABLE:
            self._leave(entry)
            self.fail(entry, now)

    def retry(self, entry: Entry, now: float, cause: str = "ForceActivate") -> None:
        """Try an entry at once, whatever it waited for."""
        self._leave(entry)
        entry.since = now
        self._activate(entry, cause)

    def wake(self, entry: Entry, now: float, cause: str, hope: Stir = _CERTAIN) -> None:
        """Something happened that may help a resting entry, and with it those like it.

        One that was tried a moment ago backs off first.
        """
        if entry.place is not Place.UNSCHEDULABLE:
            return
        kin = self._kin_of(entry)
        if kin is None:
            self._move(entry, now, cause)
            return
        kin.give(hope)
        self._send_next(kin, now, cause)

    def wake_alone(self, entry: Entry, now: float, cause: str) -> None:
        """Something happened that concerns a resting entry, and none of those that were like it."""
        if entry.place is Place.UNSCHEDULABLE:
            self._move(entry, now, cause)

    def part(self, entry: Entry, now: float, cause: str) -> None:
        """An entry changed: it is tried for itself, and stands for none of those that it was like."""
        self.wake_alone(entry, now, cause)
        self._pass_on(entry, now)
        entry.likeness = None

    def note_obstacles(self, entry: Entry, plugins: frozenset[str]) -> None:
        """A resting entry was looked at again, and these refuse it now: from here on they concern it and its likes."""
        kin = self._kin_of(entry)
        if kin is not None:
            plugins |= kin.plugins
            kin.plugins = plugins
        entry.plugins |= plugins

    def tell_carriers(self, stir: Stir) -> None:
        """Something happened while entries are on their way to be tried for others: it may help those too."""
        for kin in self._carried.values():
            kin.give(stir)

    def settle(self, entry: Entry) -> tuple[Entry, Stir] | None:
        """The entry was placed. It stays until it is removed.

        If it was tried for others too, returns the next of them and what may help it: who finds that it does wakes it.
        """
        kin = self._kin_of(entry)
        if kin is None or kin.carrier is not entry:
            return None
        hope, following = self._drop_carrier(entry.likeness, kin), kin.following
        if following is None or hope is None:
            return None
        following.plugins = kin.plugins
        return following, hope

    def remove(self, key: str, now: float) -> Entry | None:
        """Forget an entry; one that is not there is a no-op."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._leave(entry)
            self._pass_on(entry, now)
            entry.place = Place.TAKEN
        return entry

    def sweep(self, now: float) -> None:
        """Every half minute, wake what has rested for minutes."""
        if now - self._swept < self._pace.sweep_every:
            return
        self._swept = now
        for entry in list(self._resting.values()):
            if now - entry.tried >= self._pace.longest_rest:
                entry.tried = now
                self.wake_alone(entry, now, _FLUSH)

    def next_due(self, now: float) -> float | None:
        """When something is to be done although nothing happens; None if never."""
        times = [heap[0][4].due for heap in (self._failed,) if _trim(heap)]
        if self._resting:
            times.append(max(self._swept + self._pace.sweep_every, now))
        return min(times, default=None)

    @property
    def has_ready(self) -> bool:
        """Whether `pop` would return an entry even if no time passed."""
        return _trim(self._active) or _trim(self._backoff)

    def count(self) -> dict[Place, int]:
        """How many pods are where."""
        found = dict.fromkeys((Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE, Place.GATED), 0)
        for entry in self._entries.values():
            if entry.place in found:
                found[entry.place] += len(entry.pods)
        return found

    # How it is kept

    def _kin_of(self, entry: Entry) -> Kindred | None:
        return None if entry.likeness is None else self._kin.get(entry.likeness)

    def _rest(self, entry: Entry) -> None:
        self._go(entry, Place.UNSCHEDULABLE, "ScheduleAttemptFailure")
        self._resting[entry.key] = entry
        if entry.likeness is None:
            self._resting_alone[entry.key] = entry
            return
        kin = self._kin.setdefault(entry.likeness, Kindred())
        kin.plugins = entry.plugins
        kin.resting[entry.key] = entry

    def _leave(self, entry: Entry) -> None:
        """Take an entry from where it is. Tickets in heaps become void by themselves."""
        entry.serial = 0
        if self._resting.pop(entry.key, None) is not None:
            self._resting_alone.pop(entry.key, None)
            kin = self._kin_of(entry)
            if kin is not None:
                kin.resting.pop(entry.key, None)
                self._drop_if_empty(entry.likeness, kin)

    def _drop_carrier(self, likeness: Hashable, kin: Kindred) -> Stir | None:
        """Nobody is on the way any more for these kin. Returns the hope that they had."""
        hope, kin.carrier, kin.hope = kin.hope, None, None
        self._carried.pop(likeness, None)
        self._drop_if_empty(likeness, kin)
        return hope

    def _drop_if_empty(self, likeness: Hashable, kin: Kindred) -> None:
        if not kin.resting and kin.carrier is None:
            self._kin.pop(likeness, None)

    def _pass_on(self, entry: Entry, now: float) -> None:
        """If the entry was tried for all of its likeness, it is the turn of the next."""
        kin = self._kin_of(entry)
        if kin is not None and kin.carrier is entry:
            hope = self._drop_carrier(entry.likeness, kin)
            if hope is not None:
                kin.give(hope)
                self._send_next(kin, now, "ForceActivate")

    def _send_next(self, kin: Kindred, now: float, cause: str) -> None:
        following = kin.following
        if kin.carrier is None and following is not None:
            kin.carrier = following
            self._carried[following.likeness] = kin
            self._move(following, now, cause)

    def _move(self, entry: Entry, now: float, cause: str) -> None:
        """Out of rest, to be tried now or, if it was tried a moment ago, after backing off."""
        self._leave(entry)
        entry.was_flushed = cause == _FLUSH
        entry.due = self._backoff_end(entry)
        if entry.due <= now:
            entry.since = now
            self._activate(entry, cause)
            return
        self._go(entry, Place.BACKOFF, cause)
        heapq.heappush(self._backoff, self._ticket(entry, floor(entry.due)))

    def _activate(self, entry: Entry, cause: str) -> None:
        self._go(entry, Place.ACTIVE, cause)
        heapq.heappush(self._active, self._ticket(entry, 0.0))

    def _ticket(self, entry: Entry, turn: float) -> _Ticket:
        entry.serial = next(self._serials)
        return turn, -entry.priority, entry.since, entry.serial, entry

    def _go(self, entry: Entry, place: Place, cause: str) -> None:
        entry.place = place
        self._note(place, cause)

    def _note(self, place: Place, cause: str) -> None:
        self.incoming[place, cause] = self.incoming.get((place, cause), 0) + 1

    def _backoff_end(self, entry: Entry) -> float:
        attempts = entry.errors or entry.refusals
        # What fails may fail for ever: then even who is waited for backs off.
        is_urgent = entry.is_urgent and not entry.errors
        if not attempts or is_urgent or not self._pace.longest_backoff:
            return 0.0
        longest = self._pace.longest_backoff * sqrt(len(entry.pods))
        seconds = self._pace.first_backoff * 2.0 ** min(attempts - 1, 32)
        return entry.tried + min(seconds, longest)

    def _end_backoffs(self, now: float) -> None:
        for heap in (self._backoff, self._failed):
            while _trim(heap) and heap[0][4].due <= now:
                entry = heapq.heappop(heap)[4]
                entry.since = now
                self._activate(entry, "BackoffComplete")


def _trim(heap: list[_Ticket]) -> bool:
    """Drop tickets that are void from the top; whether one is left."""
    while heap and heap[0][3] != heap[0][4].serial:
        heapq.heappop(heap)
    return bool(heap)


def _pop_valid(heap: list[_Ticket]) -> Entry | None:
    return heapq.heappop(heap)[4] if _trim(heap) else None

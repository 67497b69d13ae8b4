"""Depth-first search for the first solution in kube-scheduler's order, complete and within a budget of steps.

Claims, requests, options, devices: each in order, the devices of one request ascending, and the first choice that
leads to the end counts. That is the whole of the plain search. A guide makes it bearable where it would explode: it
takes away devices, and whole branches, that provably lead nowhere. It never takes away what leads somewhere, so the
first solution stays the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from dray.allocator.arena import Arena, Option
from dray.allocator.capacity import CapacityRule
from dray.allocator.complaints import Complaint
from dray.allocator.outcome import FailureCode
from dray.allocator.requests import MAX_DEVICES
from dray.allocator.rules import Rule

__all__ = ["BudgetSpent", "Choice", "Guide", "InputFault", "Level", "Pick", "Search", "Taking", "Verdict"]


class Verdict(Enum):
    """How a branch ended. TOO_MANY: it would give one claim more devices than the API allows, whichever they are."""

    FOUND = "found"
    FAILED = "failed"
    TOO_MANY = "too many"


class BudgetSpent(Exception):
    """The search used up its steps."""


class InputFault(Exception):
    """The search came to a device that makes the whole attempt fail."""

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(complaint)
        self.complaint = complaint


@dataclass(frozen=True, slots=True)
class Pick:
    """One device for one demand."""

    option: Option
    place: int


@dataclass(slots=True, eq=False)
class Choice:
    """A level of the search: which option of a request."""

    request: int
    next_option: int = 0
    all_too_many: bool = True


@dataclass(slots=True, eq=False)
class Taking:
    """A level of the search: the device of an option after `count` others.

    `left` are the places still to try, ascending; `faults` those at which the attempt ends. `place` is the one taken
    now.
    """

    option: Option
    count: int
    left: int
    faults: int
    place: int = -1


Level: TypeAlias = Choice | Taking


class Guide(Protocol):
    """Knows what leads nowhere."""

    def is_hopeless(self, search: Search, request: int) -> bool:
        """Whether no choice for this request and those after it leads to the end."""

    def narrow(self, search: Search, option: Option, count: int, open_: int) -> int:
        """Those of the open places that may be among the devices which the option still takes; 0 if it gets too few."""

    def alike(self, search: Search, option: Option, place: int) -> int:
        """Places that lead nowhere, now that the open `place` proved to."""

    def note_failure(self, search: Search, request: int) -> Level | None:
        """Learn that the request failed. Returns the latest level that has a part in it; None if none has."""


class Search:
    """One search over one arena. `picks` hold the branch being looked at, in the end the solution.

    `rules` begin with the one about devices in use, because only that hides faults; `constraints` are by claim.
    `refusal` is the first device that a request for all devices could not get because of a constraint.
    """

    def __init__(
        self, arena: Arena, rules: Sequence[Rule], constraints: Sequence[Sequence[Rule]], max_steps: int
    ) -> None:
        self.arena = arena
        self.rules = rules
        self.constraints = constraints
        self.guide: Guide | None = None
        self.picks: list[Pick] = []
        self.stack: list[Level] = []
        self.picked = [0] * len(arena.constraints)
        self.steps = 0
        self.refusal: Complaint | None = None
        self._max_steps = max_steps
        self._jump: Level | None = None
        self._is_jumping = False
        self._before_constraints = [rule for rule in rules if not isinstance(rule, CapacityRule)]
        self._after_constraints = [rule for rule in rules if isinstance(rule, CapacityRule)]
        self._rules_of = {
            option.number: (*rules, *(constraints[option.claim][index] for index, _ in option.columns))
            for option in arena.options
        }

    def run(self, first_request: int = 0) -> Verdict:
        """Search to the end, leaving out requests before the first. Raises `InputFault` or `BudgetSpent`.

        Never returns TOO_MANY.
        """
        stack = self.stack
        step = self._enter(first_request)
        while True:
            if isinstance(step, Verdict):
                if step is Verdict.FOUND:
                    return step
                if not stack:
                    return Verdict.FAILED
                level, outcome = stack[-1], step
            else:
                stack.append(step)
                level, outcome = step, None
            self.steps += 1
            if self.steps > self._max_steps:
                raise BudgetSpent
            step = self._choose(level, outcome) if isinstance(level, Choice) else self._take(level, outcome)
            if isinstance(step, Verdict) and step is not Verdict.FOUND:
                stack.pop()

    def _enter(self, request: int) -> Level | Verdict:
        if request == len(self.arena.requests):
            return Verdict.FOUND
        if self.guide is not None and self.guide.is_hopeless(self, request):
            return Verdict.FAILED
        return Choice(request)

    def _choose(self, level: Choice, outcome: Verdict | None) -> Level | Verdict:
        """Try the next option; an exhausted level says how it ended."""
        request = self.arena.requests[level.request]
        while True:
            if outcome is Verdict.FAILED:
                level.all_too_many = False
            if self._skips(level) or level.next_option == len(request.options):
                break
            option = request.options[level.next_option]
            level.next_option += 1
            step = self._open(option, 0, option.selected if option.wants_all else option.candidates, -1)
            if step is Verdict.FOUND or not isinstance(step, Verdict):
                return step
            outcome = step
        if level.all_too_many:
            is_first = level.request == 0 or self.arena.requests[level.request - 1].claim != request.claim
            return Verdict.FAILED if is_first else Verdict.TOO_MANY
        if self.guide is not None and not self._is_jumping:
            self._is_jumping, self._jump = True, self.guide.note_failure(self, level.request)
        return Verdict.FAILED

    def _skips(self, level: Level) -> bool:
        """Whether the search is on its way back past this level."""
        if self._is_jumping and level is self._jump:
            self._is_jumping = False
        return self._is_jumping

    def _open(self, option: Option, count: int, left: int, after: int) -> Level | Verdict:
        """Go on to one more device of an option, among the places left, all of them in `after`."""
        if count == option.need:
            if option.wants_all and not count:
                return Verdict.FAILED
            return self._enter(option.request + 1)
        if self.picked[option.claim] + option.need - count > MAX_DEVICES:
            return Verdict.TOO_MANY
        faults = 0 if option.wants_all else self._faults(option, left, after)
        open_ = left if option.wants_all else left & ~self.shut(option)
        if self.guide is None:
            if not faults and open_.bit_count() < option.need - count:
                return Verdict.FAILED
        elif not self._is_bound_to_look(option, count, faults):
            narrowed = self.guide.narrow(self, option, count, open_)
            open_ = narrowed if not option.wants_all or narrowed == open_ else 0
        return Taking(option, count, open_, faults) if open_ or faults else Verdict.FAILED

    def _is_bound_to_look(self, option: Option, count: int, faults: int) -> bool:
        """Whether the plain search would come to a fault of this very option behind a device that leads nowhere."""
        return bool(option.derivation_faults) if option.wants_all else faults != 0 and option.need - count > 1

    def _faults(self, option: Option, left: int, after: int) -> int:
        """Places that end the attempt if the search comes to them."""
        faults = option.fault_mask & after
        if faults:
            faults &= ~self.rules[0].shut(option)
        if option.derivation_faults:
            faults |= self._derivation_faults(option, left)
        return faults

    def shut(self, option: Option) -> int:
        """Places that some rule, or a constraint of the claim, keeps from the option now."""
        return _shut_by(self._rules_of[option.number], option)

    def shut_by_rules(self, option: Option) -> int:
        """Places that are kept from the option whatever its claim's constraints say."""
        return _shut_by(self.rules, option)

    def _take(self, level: Taking, outcome: Verdict | None) -> Level | Verdict:
        """Take the next device; an exhausted level says how it ended."""
        option = level.option
        while True:
            if level.place >= 0:
                self._undo(level)
                if outcome is Verdict.TOO_MANY:
                    return outcome
                if self._skips(level) or option.wants_all:
                    return Verdict.FAILED
                if self.guide is not None:
                    level.left &= ~self.guide.alike(self, option, level.place)
                level.place = -1
            low = level.left & -level.left
            if level.faults:
                self._raise_fault(level, low)
            if not low or (option.wants_all and not self._accepts(option, low)):
                return Verdict.FAILED
            level.left ^= low
            level.place = low.bit_length() - 1
            self._pick(option, level.place)
            step = self._open(option, level.count + 1, level.left, -low << 1)
            if step is Verdict.FOUND or not isinstance(step, Verdict):
                return step
            outcome = step

    def _pick(self, option: Option, place: int) -> None:
        for rule in self._rules_of[option.number]:
            rule.take(option, place)
        self.picks.append(Pick(option, place))
        self.picked[option.claim] += 1

    def _undo(self, level: Taking) -> None:
        option = level.option
        self.picks.pop()
        self.picked[option.claim] -= 1
        for rule in reversed(self._rules_of[option.number]):
            rule.undo(option, level.place)

    def _accepts(self, option: Option, bit: int) -> bool:
        """Whether an option that wants all devices gets this one. Remembers if it was a constraint that refused it.

        Amounts are asked for last: where a share is too small and a constraint refuses too, the refusal counts.
        """
        if not bit & option.candidates & ~_shut_by(self._before_constraints, option):
            return False
        for index, column in option.columns:
            place = bit.bit_length() - 1
            if place in column.faults:
                raise InputFault(column.faults[place])
            if bit & self.constraints[option.claim][index].shut(option):
                self.refusal = self.refusal or _refusal(option, place)
                return False
        return not bit & _shut_by(self._after_constraints, option)

    def _derivation_faults(self, option: Option, left: int) -> int:
        """Places at which the plain search would derive an attribute and fail."""
        reached = left & option.candidates & ~self.shut_by_rules(option)
        found = 0
        for index, column in option.columns:
            for place in column.faults:
                found |= reached & 1 << place
            reached &= ~self.constraints[option.claim][index].shut(option)
        return found

    def _raise_fault(self, level: Taking, low: int) -> None:
        """End the attempt if the next place that matters is one that cannot be judged."""
        first = level.faults & -level.faults
        if not low or first <= low:
            place = first.bit_length() - 1
            fault = level.option.faults.get(place) or level.option.derivation_faults[place]
            raise InputFault(fault)


def _shut_by(rules: Iterable[Rule], option: Option) -> int:
    """Places that any of the rules keeps from the option now."""
    shut = 0
    for rule in rules:
        shut |= rule.shut(option)
    return shut


def _refusal(option: Option, place: int) -> Complaint:
    after = " because a claim constraint would not be satisfied"
    before = f"{option.demand.subject}: cannot add device "
    return Complaint(FailureCode.CONSTRAINT_EXCLUDES_ALL, before, option.claim, place, after)

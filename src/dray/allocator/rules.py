"""What a rule is: one reason why a device cannot be taken, kept up to date while devices are taken and given back.

A rule answers for all devices at once, as a set of places that are shut. So the search never tries a device only to
be refused, and what lies ahead can be judged without trying it. Everything taken is given back in reverse order,
which lets a rule keep its past on a stack: what `undo` restores is what was, bit for bit.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from dray.allocator.arena import Option

__all__ = ["Rule"]


class Rule(Protocol):
    """One idea about who may take what.

    While more is taken a rule shuts more places and opens none, except for shares of a device already shared.
    """

    def shut(self, option: Option) -> int:
        """Places that the rule keeps from the option now."""

    def take(self, option: Option, place: int) -> None:
        """Note that the option takes the device at a place that is not shut."""

    def undo(self, option: Option, place: int) -> None:
        """Forget the latest `take`, which was this one."""

    def state(self, places: int) -> Hashable:
        """What decides about the given places from now on: equal states shut them alike, now and later."""

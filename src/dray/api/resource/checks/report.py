"""Where a check puts what it finds, in the order the API server answers in.

The API server knows two sorts of rules: those written in code, which look at an object as a whole, and those declared
on a single field. It lists the faults of the first sort before those of the second. A check states every rule once, at
the field it is about, and says with `add` or `declare` of which sort it is; nothing else depends on the difference.
"""

from collections.abc import Iterable

from dray.api.checks import CheckContext
from dray.errors import FieldError

__all__ = ["Report"]


class Report:
    """The faults of one object, collected over one walk.

    `context` answers what the object alone cannot. `derived_cost` sums up what the derived attributes of the object may
    cost together.
    """

    __slots__ = ("_added", "_declared", "context", "derived_cost")

    def __init__(
        self,
        context: CheckContext,
        *,
        added: list[FieldError] | None = None,
        declared: list[FieldError] | None = None,
    ) -> None:
        self.context = context
        self.derived_cost = 0
        self._added: list[FieldError] = added if added is not None else []
        self._declared: list[FieldError] = declared if declared is not None else []

    def add(self, fault: FieldError) -> None:
        """Note a fault of a rule that is written in code."""
        self._added.append(fault)

    def declare(self, fault: FieldError) -> None:
        """Note a fault of a rule that is declared on its field."""
        self._declared.append(fault)

    def add_all(self, faults: Iterable[FieldError]) -> None:
        """Note several faults of rules that are written in code."""
        self._added.extend(faults)

    def declare_all(self, faults: Iterable[FieldError]) -> None:
        """Note several faults of rules that are declared on their fields."""
        self._declared.extend(faults)

    def declared_only(self) -> "Report":
        """A report that shares the declared faults with this one and forgets all others.

        Once members of a one-of contradict each other, or a list is longer than a rule in code allows, rules written in
        code no longer look inside, declared ones do.
        """
        return Report(self.context, declared=self._declared)

    def added_only(self) -> "Report":
        """A report that shares the faults of rules in code with this one and forgets all others.

        Once a list is longer than declared, declared rules no longer look inside, some of those written in code do.
        """
        return Report(self.context, added=self._added)

    def faults(self) -> list[FieldError]:
        """Everything found, in the order of an answer."""
        return self._added + self._declared

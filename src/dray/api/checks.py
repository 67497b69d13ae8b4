"""What checks are, and what they may ask beyond the object in front of them.

A check looks at the new object, at the stored one if there is one, and at a `CheckContext`; it returns every fault it
finds, in order, and raises nothing. What needs more than the object (a compiled expression, the namespace's labels, the
caller's permissions, the time) comes through the context, so that `api` depends on no part that can answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from dray.values.times import Time

__all__ = ["AccessQuestion", "CheckContext", "ExpressionVerdict"]


@dataclass(frozen=True, slots=True)
class ExpressionVerdict:
    """What the expression language says of one expression before it is admitted.

    `fault` is the complete detail of the field error, `compilation failed: ...` or a wrong result type, None if the
    expression is sound. `cost` is the worst case in cost units, 0 when there is a fault.
    """

    fault: str | None
    cost: int
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """One question to the authorizer about the caller of this request. An empty namespace asks cluster-wide."""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class CheckContext(Protocol):
    """What a check may ask beyond the object."""

    @property
    def now(self) -> Time:
        """The time of this request."""
        ...

    @property
    def verb(self) -> str:
        """The request's verb: create, update or patch."""
        ...

    @property
    def caller_node(self) -> str | None:
        """The node that a service-account caller is bound to, if any."""
        ...

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        """Compile a device selector for admission."""
        ...

    def judge_derived_attribute(self, expression: str) -> ExpressionVerdict:
        """Compile the expression of a derived attribute for admission."""
        ...

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        """Labels of a namespace, or None if it cannot be read."""
        ...

    def deny(self, question: AccessQuestion) -> str | None:
        """Why the caller may not do this, in the authorizer's words, or None if allowed."""
        ...

"""The `CheckContext` of the recordings: a client that may do everything, in namespaces that have no labels."""

from collections.abc import Mapping

from dray.api.checks import AccessQuestion, ExpressionVerdict
from dray.api.kind import Operation
from dray.cel.judge import judge_derived_attribute, judge_selector
from dray.values.times import Time, parse_time

__all__ = ["RecordingContext"]


class RecordingContext:
    """Answers as the recorded API server did."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation

    @property
    def now(self) -> Time:
        """When the recordings were made."""
        return parse_time("2026-11-18T20:00:00Z")

    @property
    def verb(self) -> str:
        """The verb of the recorded request."""
        return "create" if self._operation is Operation.CREATE else "update"

    @property
    def caller_node(self) -> str | None:
        """The client was no node."""
        return None

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        """Compile it as the server does."""
        return judge_selector(expression)

    def judge_derived_attribute(self, expression: str) -> ExpressionVerdict:
        """Compile it as the server does."""
        return judge_derived_attribute(expression)

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        """No namespace has labels."""
        return {}

    def deny(self, question: AccessQuestion) -> str | None:
        """The client may do everything."""
        return None

"""What checks may ask beyond the object, answered without a server."""

from collections.abc import Mapping
from typing import Any

from dray.api.checks import AccessQuestion, ExpressionVerdict
from dray.values.times import Time, parse_time

NOW = parse_time("2026-01-01T00:00:00Z")


class World:
    """Answers a check as it is told: `expressions`, `namespaces`, `denied` questions, `node` of the caller.

    Told nothing, it finds every expression sound, has one namespace without labels and allows everything.
    """

    verb = "update"

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._expressions = facts.get("expressions", {})
        self._namespaces = facts.get("namespaces", {"default": {}})
        self._denied = facts.get("denied", [])
        self.caller_node: str | None = facts.get("node")

    @property
    def now(self) -> Time:
        return NOW

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        verdict = self._expressions.get(expression, {})
        return ExpressionVerdict(verdict.get("fault"), verdict.get("cost", 1))

    judge_derived_attribute = judge_selector

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        labels: Mapping[str, str] | None = self._namespaces.get(namespace)
        return labels

    def deny(self, question: AccessQuestion) -> str | None:
        asked = f"{question.verb} {question.subresource} {question.name}".strip()
        return "no such permission" if asked in self._denied else None

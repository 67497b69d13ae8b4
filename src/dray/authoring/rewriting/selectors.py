"""Selectors of classes and requests."""

from __future__ import annotations

from collections.abc import Iterator

from dray.authoring.drafts import Draft
from dray.authoring.knowledge import Knowledge, find_driver
from dray.authoring.selecting import Issue, mend_expression
from dray.authoring.tree import Tree

__all__ = ["driver_of", "expressions_of", "rewrite_selectors"]


def rewrite_selectors(draft: Draft, holder: Tree, driver: str, knowledge: Knowledge) -> None:
    """Put the expressions of a class or of a request right; `driver` is theirs, if it is known."""
    for expression in expressions_of(holder):
        mended = mend_expression(expression.text, driver, knowledge)
        done = mended.text != expression.text
        if done:
            expression.comments.append(f"was: {expression.text.strip()}")
            expression.value = mended.text
        for issue in mended.issues:
            _note(draft, expression, issue, done=done)


def expressions_of(holder: Tree) -> Iterator[Tree]:
    """The expressions of selectors."""
    for selector in holder.items_at("selectors"):
        expression = selector.find("cel", "expression")
        if expression is not None and expression.text:
            yield expression


def driver_of(holder: Tree, knowledge: Knowledge) -> str:
    """The driver whose devices a class or request is for."""
    texts = [each.text for each in expressions_of(holder)]
    class_name = holder.text_at("deviceClassName")
    if class_name:
        return knowledge.driver_of(class_name, texts)
    return next(filter(None, map(find_driver, texts)), "")


def _note(draft: Draft, expression: Tree, issue: Issue, *, done: bool) -> None:
    if issue.use and done:
        draft.fault(issue.rule, expression, issue.message, hint=issue.use)
    elif issue.guess and done and issue.rule == "unknown-domain":
        draft.fault(issue.rule, expression, issue.message, hint=f"did you mean {issue.guess}?")
    else:
        hint = issue.use if issue.use else f"did you mean {issue.guess}?" if issue.guess else ""
        draft.point_out(issue.rule, expression, issue.message, hint=hint)

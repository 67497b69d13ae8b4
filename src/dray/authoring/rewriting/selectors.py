"""Selectors of classes and requests."""

from __future__ import annotations

from collections.abc import Iterator

from dray.authoring.drafts import Draft
from dray.authoring.knowledge import Knowledge, find_driver
from dray.authoring.selecting import Issue, mend_expression
from dray.authoring.tree import Tree

__all__ = ["driver_of", "expressions_of", "rewrite_selector_forms", "rewrite_selectors"]


def rewrite_selector_forms(draft: Draft, holder: Tree) -> None:
    """Give each selector its form: an expression under `cel`, in a list."""
    single = holder.find("selector")
    if single is not None and "selectors" not in holder.fields:
        holder.rename("selector", "selectors")
        draft.fault("wrong-name", single, "selector is called selectors, and is a list", hint="selectors:")
    selectors = holder.find("selectors")
    if selectors is None:
        return
    if isinstance(selectors.value, dict | str):
        selectors.value = [Tree(selectors.value, selectors.line, selectors.path)]
        if single is None:
            draft.fault("wrong-nesting", selectors, "selectors is a list", hint="selectors: [{cel: {expression: ...}}]")
    for selector in selectors.items:
        _wrap_expression(draft, selector)


def _wrap_expression(draft: Draft, selector: Tree) -> None:
    """Put an expression that stands too high where it belongs."""
    if isinstance(selector.value, str):
        stray = Tree(selector.value, selector.line, selector.path)
        selector.value = {"cel": Tree({"expression": stray}, selector.line, selector.path)}
    elif "expression" in selector.fields and "cel" not in selector.fields:
        stray = selector.fields.pop("expression")
        selector.fields["cel"] = Tree({"expression": stray}, selector.line, selector.path)
    elif isinstance(selector.fields.get("cel", selector).value, str):
        cel = selector.fields["cel"]
        stray = Tree(cel.value, cel.line, cel.path)
        cel.value = {"expression": stray}
    else:
        return
    hint = "cel: {expression: ...}"
    draft.fault("wrong-nesting", selector, "an expression stands under `cel`, as `expression`", hint=hint, at=stray)


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

"""Taint rules: which devices they are for is said by driver, pool and device alone."""

from __future__ import annotations

from typing import Final

from dray.authoring.drafts import Draft
from dray.authoring.knowledge import Knowledge
from dray.authoring.tree import Tree

__all__ = ["rewrite_taint_rule"]

_FORMER: Final = ("deviceClassName", "selectors")


def rewrite_taint_rule(draft: Draft, knowledge: Knowledge) -> None:
    """Say by the driver what was said by a class. A rule that would taint more devices than before is not written."""
    selector = draft.tree.find("spec", "deviceSelector")
    if selector is None or not any(name in selector.fields for name in _FORMER):
        return
    class_name = selector.find("deviceClassName")
    driver = knowledge.find_sole_driver(class_name.text) if class_name is not None else ""
    if "selectors" in selector.fields or class_name is None or not driver:
        named = "selectors" if "selectors" in selector.fields else f"the class {class_name.text if class_name else ''}"
        draft.refusal = (
            f"{selector.path} has {named}, which went in 1.35: a rule names driver, pool and device, and without "
            "them it would taint more devices than before"
        )
        return
    selector.rename("deviceClassName", "driver")
    selector.fields["driver"] = Tree(driver, class_name.line, class_name.path, stand=class_name.stand)
    draft.fault(
        "deprecated-form",
        selector.fields["driver"],
        f"was deviceClassName: {class_name.text}, whose devices are all those of this driver",
        hint=f"driver: {driver}",
    )

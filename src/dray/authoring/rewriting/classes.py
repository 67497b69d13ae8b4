"""Classes of devices."""

from __future__ import annotations

from dray.authoring.drafts import Draft
from dray.authoring.rewriting.configs import rewrite_config
from dray.authoring.rewriting.selectors import rewrite_selector_forms

__all__ = ["rewrite_class"]


def rewrite_class(draft: Draft) -> None:
    """Bring a class into the shape of v1, and drop what v1 has no field for."""
    spec = draft.tree.find("spec")
    if spec is None:
        return
    nodes = spec.fields.pop("suitableNodes", None)
    if nodes is not None:
        draft.change(spec, "suitableNodes went: slices say where devices are", at=nodes)
    rewrite_selector_forms(draft, spec)
    for config in spec.items_at("config"):
        rewrite_config(draft, config)

"""Classes of devices."""

from __future__ import annotations

from dray.authoring.drafts import Draft

__all__ = ["rewrite_class"]


def rewrite_class(draft: Draft) -> None:
    """Drop what v1 has no field for."""
    spec = draft.tree.find("spec")
    nodes = spec.fields.pop("suitableNodes", None) if spec is not None else None
    if spec is not None and nodes is not None:
        draft.change(spec, "suitableNodes went: slices say where devices are", at=nodes)

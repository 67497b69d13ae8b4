"""What every object has: apiVersion, kind, metadata."""

from __future__ import annotations

from typing import Final

from dray.api.registry import Registry
from dray.authoring.drafts import Draft

__all__ = ["GROUP", "rewrite_metadata", "rewrite_version"]

GROUP: Final = "resource.k8s.io"
_METADATA: Final = ("name", "generateName", "namespace", "labels", "annotations")


def rewrite_metadata(draft: Draft) -> None:
    """Put what belongs into metadata there."""
    for field in _METADATA:
        stray = draft.tree.fields.get(field)
        if stray is None or draft.tree.find("metadata", field) is not None:
            continue
        del draft.tree.fields[field]
        metadata = draft.tree.fields.get("metadata")
        if metadata is None:
            metadata = draft.tree.put_behind("kind", "metadata", {})
        metadata.open_map()[field] = stray
        draft.fault(
            "wrong-nesting",
            stray,
            f"{field} stood beside metadata; it belongs inside",
            hint=f"metadata: {{{field}: {stray.value if not isinstance(stray.value, dict) else '...'}}}",
        )


def rewrite_version(draft: Draft, registry: Registry) -> None:
    """Name the version that lasts: of a kind of the group, the one that is declared."""
    version = draft.tree.find("apiVersion")
    if version is None or draft.group != GROUP:
        return
    kind = next((each for each in registry if (each.group, each.name) == (GROUP, draft.kind)), None)
    if kind is None:
        return
    lasting = kind.api_version(kind.declared_version)
    if version.value != lasting:
        former = version.text
        version.value = lasting
        draft.change(version, f"was {former}")

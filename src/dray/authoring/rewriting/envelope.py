"""What every object has: apiVersion, kind, metadata."""

from __future__ import annotations

from typing import Final

from dray.api.history.versions import CLASSIC_KINDS
from dray.api.registry import Registry
from dray.authoring.drafts import Draft
from dray.authoring.spelling import find_meant
from dray.authoring.tree import Tree

__all__ = [
    "GROUP",
    "rewrite_doubles",
    "rewrite_kind",
    "rewrite_metadata",
    "rewrite_namespace",
    "rewrite_version",
]

GROUP: Final = "resource.k8s.io"
_TAKEN_FOR_GROUP: Final = ("resource.kubernetes.io", "resources.k8s.io", "dra.k8s.io", "k8s.io", "resource")
_FORMER_FINALIZER: Final = "dra.k8s.io/delete-protection"
_ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
_FORMER_ADMIN_LABEL: Final = "resource.k8s.io/admin-access"
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

    _drop_former_finalizer(draft)


def _drop_former_finalizer(draft: Draft) -> None:
    """Take out a finalizer that nobody takes out any more."""
    finalizers = draft.tree.find("metadata", "finalizers")
    if finalizers is not None and any(each.value == _FORMER_FINALIZER for each in finalizers.items):
        finalizers.value = [each for each in finalizers.items if each.value != _FORMER_FINALIZER]
        draft.change(finalizers, f"{_FORMER_FINALIZER} went: nothing would ever remove it")


def rewrite_doubles(draft: Draft) -> None:
    """Settle entries that are there twice: the last one counts, as for kubectl's reading of YAML."""
    for part in list(draft.tree.walk()):
        for double in part.doubles:
            name = double.path.removeprefix(part.path).lstrip(".")
            kept = part.fields.get(name)
            if kept is not None:
                message = f"{name} is there twice, on line {double.line} too; the last one counts"
                draft.fault("duplicate-field", kept, message, hint=f"remove one {name}")


def rewrite_namespace(draft: Draft) -> None:
    """Call the label that permits access by administrators by its name."""
    labels = draft.tree.find("metadata", "labels")
    former = labels.fields.get(_FORMER_ADMIN_LABEL) if labels is not None else None
    if labels is None or former is None or _ADMIN_LABEL in labels.fields:
        return
    labels.rename(_FORMER_ADMIN_LABEL, _ADMIN_LABEL)
    message = f"the label {_FORMER_ADMIN_LABEL} is called {_ADMIN_LABEL} since 1.34"
    draft.fault("deprecated-form", former, message, hint=f"{_ADMIN_LABEL}: {former.value}")


def rewrite_kind(draft: Draft, registry: Registry) -> None:
    """Spell the kind and the group of an object of DRA as they are spelled. What is meant must be beyond doubt."""
    _complete_kind(draft, registry)
    version, kind = draft.tree.find("apiVersion"), draft.tree.find("kind")
    if version is None or kind is None or not version.text or not kind.text:
        return
    kinds = {each.name for each in registry if each.group == GROUP} | CLASSIC_KINDS
    meant_kind = kind.text if kind.text in kinds else find_meant(kind.text.removesuffix("s"), kinds)
    meant_kind = meant_kind or (kind.text.removesuffix("s") if kind.text.removesuffix("s") in kinds else "")
    group, slash, name = version.text.rpartition("/")
    is_ours = group == GROUP or group in _TAKEN_FOR_GROUP or bool(find_meant(group, [GROUP]))
    if not meant_kind or not (is_ours or (not slash and name.startswith("v"))):
        return
    if kind.text != meant_kind:
        former, kind.value = kind.text, meant_kind
        draft.fault("unknown-kind", kind, f"the kind is called {meant_kind}, not {former}", hint=f"kind: {meant_kind}")
    if group != GROUP:
        former, version.value = version.text, f"{GROUP}/{name}"
        draft.fault("wrong-name", version, f"{meant_kind} is of the group {GROUP}", hint=f"apiVersion: {GROUP}/v1")


def _complete_kind(draft: Draft, registry: Registry) -> None:
    """Add the kind or the version to an object that tells by the rest what it is."""
    if "apiVersion" in draft.tree.fields and "kind" not in draft.tree.fields and draft.group == GROUP:
        kind = _guess_kind(draft.tree)
        if kind:
            draft.tree.put_behind("apiVersion", "kind", kind)
            message = f"the kind is missing; by its fields it is a {kind}"
            draft.fault("unknown-kind", draft.tree.fields["kind"], message, hint=f"kind: {kind}")
    elif draft.kind and "apiVersion" not in draft.tree.fields:
        found = [each for each in registry if each.name == draft.kind]
        if len(found) == 1:
            (only,) = found
            version = only.api_version(only.declared_version)
            draft.tree.put_first("apiVersion", Tree(version, draft.line, "apiVersion"))
            message = "the apiVersion is missing"
            draft.fault("unknown-kind", draft.tree.fields["apiVersion"], message, hint=f"apiVersion: {version}")


def _guess_kind(tree: Tree) -> str:
    if tree.find("spec", "spec") is not None:
        return "ResourceClaimTemplate"
    devices = tree.find("spec", "devices")
    if devices is not None and "requests" in devices.fields:
        return "ResourceClaim"
    return "ResourceSlice" if tree.find("spec", "pool") is not None else ""


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

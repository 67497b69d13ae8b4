"""Slices: devices without `basic`, amounts with `value`, and attributes that slid into each other."""

from __future__ import annotations

from typing import Final

from dray.authoring.drafts import Draft
from dray.authoring.tree import Tree

__all__ = ["rewrite_slice"]

_VALUES: Final = frozenset({"string", "int", "bool", "version", "strings", "ints", "bools", "versions"})
_FLAT_VERSIONS: Final = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2")
_BESIDE_ATTRIBUTES: Final = frozenset({"capacity", "consumesCounters", "taints", "allowMultipleAllocations"})


def rewrite_slice(draft: Draft) -> None:
    """Bring a ResourceSlice of v1alpha3 or v1beta1 into the shape of v1, and put its devices in order."""
    spec = draft.tree.find("spec")
    if spec is None:
        return
    _complete_pool(draft, spec)
    for device in spec.items_at("devices"):
        if isinstance(device.value, dict):
            _rewrite_device(draft, device)


def _complete_pool(draft: Draft, spec: Tree) -> None:
    pool = spec.find("pool")
    if pool is None or not pool.is_left_out:
        return
    node = spec.text_at("nodeName")
    pool.value = {}
    pool.is_flow = False
    pool.put("name", node or draft.name)
    pool.put("generation", 1)
    pool.put("resourceSliceCount", 1)
    draft.change(pool, "the pool was left out: one pool for the node, with this one slice, is usual")


def _rewrite_device(draft: Draft, device: Tree) -> None:
    basic = device.fields.pop("basic", None)
    if basic is not None:
        _hoist_name(draft, device, basic)
        device.fields.update({name: each for name, each in basic.fields.items() if name not in device.fields})
        if draft.former in _FLAT_VERSIONS:
            draft.fault("wrong-nesting", device, "devices have no `basic` in this version", at=basic)
        else:
            draft.change(device, "was wrapped in `basic`", at=basic)
    attributes = device.find("attributes")
    if attributes is not None and isinstance(attributes.value, dict):
        _Untangling(draft, device, attributes).run()
    capacity = device.find("capacity")
    for amount in capacity.fields.values() if capacity is not None else ():
        if not isinstance(amount.value, dict) and amount.value is not None:
            amount.value = {"value": Tree(amount.value, amount.line, amount.path)}
            draft.change(amount, "amounts stand under `value`", at=amount)


def _hoist_name(draft: Draft, device: Tree, basic: Tree) -> None:
    name = basic.fields.pop("name", None)
    if name is None or "name" in device.fields:
        return
    device.put_first("name", name)
    draft.fault(
        "wrong-nesting", device, "the name stood inside `basic`", hint=f"{device.path}.name: {name.value}", at=name
    )


class _Untangling:
    """Attributes stand side by side, each with one value; capacity stands beside them, not among them."""

    def __init__(self, draft: Draft, device: Tree, attributes: Tree) -> None:
        self._draft = draft
        self._device = device
        self._attributes = attributes
        self._strays: list[tuple[str, Tree, str]] = []

    def run(self) -> None:
        """Move everything to its place."""
        self._collect(self._attributes, "")
        for name, stray, owner in self._strays:
            self._settle(name, stray, owner)

    def _collect(self, holder: Tree, owner: str) -> None:
        """Take what does not belong into a value, or among attributes, out of there."""
        for name, child in list(holder.fields.items()):
            is_attribute = not owner and name not in _BESIDE_ATTRIBUTES
            if is_attribute:
                self._collect(child, name)
            elif not (owner and name in _VALUES) and isinstance(child.value, dict):
                del holder.fields[name]
                self._strays.append((name, child, owner))
                if name not in _BESIDE_ATTRIBUTES:
                    self._collect(child, name)

    def _settle(self, name: str, stray: Tree, owner: str) -> None:
        is_attribute = name not in _BESIDE_ATTRIBUTES
        home = self._attributes if is_attribute else self._device
        inside = f"inside the value of {owner}" if owner else "among the attributes"
        right = f"{home.path}.{name}".replace(".basic", "")
        home.fields.setdefault(name, stray)
        what = "is an attribute of its own" if is_attribute else "belongs beside attributes"
        self._draft.fault("wrong-nesting", stray, f"{name} stood {inside}; it {what}", hint=f"{right}: {_show(stray)}")


def _show(stray: Tree) -> str:
    """What the right place would hold, in one line."""
    shown = ", ".join(
        f"{name}: {each.value}" for name, each in stray.fields.items() if not isinstance(each.value, dict | list)
    )
    return "{" + shown + "}"

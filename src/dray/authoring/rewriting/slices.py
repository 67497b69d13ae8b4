"""Slices: devices without `basic`, values with their types, and attributes that slid into each other."""

from __future__ import annotations

import re
from typing import Final

from dray.authoring.drafts import Draft
from dray.authoring.tree import Json, Tree, plant
from dray.authoring.yamlwriting import write_inline

__all__ = ["rewrite_slice"]

_VALUES: Final = frozenset({"string", "int", "bool", "version", "strings", "ints", "bools", "versions"})
_CALLED: Final = {"integer": "int", "boolean": "bool", "semver": "version", "str": "string"} | {
    f"{name}Value": name for name in ("string", "int", "bool", "version")
}
"""Types by other names."""
_FLAT_VERSIONS: Final = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2")
_BESIDE_ATTRIBUTES: Final = frozenset({"capacity", "consumesCounters", "taints", "allowMultipleAllocations"})
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:[-+].*)?")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?[KMGTPE]i")


def rewrite_slice(draft: Draft) -> None:
    """Bring a ResourceSlice of any version into the shape of v1, and put its devices in order."""
    spec = draft.tree.find("spec")
    if spec is None:
        return
    driver = spec.find("driverName")
    if driver is not None and "driver" not in spec.fields:
        spec.rename("driverName", "driver")
        draft.fault("wrong-name", driver, "driverName is called driver", hint=f"driver: {driver.value}")
    _drop_unset(draft, spec)
    _complete_pool(draft, spec)
    for device in spec.items_at("devices"):
        if isinstance(device.value, dict):
            _rewrite_device(draft, device)
    _part_counters(draft, spec)


def _drop_unset(draft: Draft, spec: Tree) -> None:
    """Take out what earlier versions print for what is not set."""
    if draft.former in _FLAT_VERSIONS:
        return
    for name, unset in (("nodeName", '""'), ("allNodes", "false")):
        part = spec.find(name)
        if part is not None and part.value in ("", False):
            del spec.fields[name]
            draft.change(spec, f"{name}: {unset} went: it means not set", at=part)


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


def _part_counters(draft: Draft, spec: Tree) -> None:
    """Give counters a slice of their own, in the same pool."""
    counters = spec.find("sharedCounters")
    if counters is None or not counters.items or not spec.items_at("devices"):
        return
    del spec.fields["sharedCounters"]
    name = f"{draft.name}-counters"
    holder: dict[str, Json] = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}}
    made = plant(holder)
    shared = {each: plant(part.plain()) for each, part in spec.fields.items() if each in _OF_POOL}
    amount = spec.find("pool", "resourceSliceCount")
    if amount is not None and isinstance(amount.value, int):
        amount.value += 1
        draft.change(amount, "one more slice, for the counters")
        shared["pool"].put("resourceSliceCount", amount.value)
    made.open_map()["spec"] = Tree({**shared, "sharedCounters": counters})
    made.comments.append(f"new: the counters of {draft.name}, which stood beside its devices until 1.35")
    draft.additions.append(made)
    draft.change(spec, f"sharedCounters went into a slice of their own, {name}", at=counters)


_OF_POOL: Final = ("driver", "pool", "nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")


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
        for name, attribute in list(attributes.fields.items()):
            _type_attribute(draft, device, name, attribute)
    capacity = device.find("capacity")
    for amount in capacity.fields.values() if capacity is not None else ():
        _wrap_amount(draft, amount)


def _hoist_name(draft: Draft, device: Tree, basic: Tree) -> None:
    name = basic.fields.pop("name", None)
    if name is None or "name" in device.fields:
        return
    device.put_first("name", name)
    draft.fault(
        "wrong-nesting", device, "the name stood inside `basic`", hint=f"{device.path}.name: {name.value}", at=name
    )


def _wrap_amount(draft: Draft, amount: Tree) -> None:
    if isinstance(amount.value, dict):
        if "quantity" in amount.fields and "value" not in amount.fields:
            part = amount.fields["quantity"]
            amount.rename("quantity", "value")
            draft.fault("wrong-name", part, "quantity is called value", hint=f"{amount.path}: {{value: {part.value}}}")
        return
    if amount.value is None:
        return
    whole = Tree(amount.value, amount.line, amount.path, raw=amount.raw)
    whole.seal()
    amount.value = {"value": whole}
    if draft.former in _FLAT_VERSIONS:
        hint = f"{amount.path}: {{value: {whole.value}}}"
        draft.fault("wrong-nesting", amount, "amounts stand under `value`", hint=hint)
    else:
        draft.change(amount, "amounts stand under `value`")


def _type_attribute(draft: Draft, device: Tree, name: str, attribute: Tree) -> None:
    """Give the value of an attribute its type, if it has none, or one by another name."""
    path = attribute.path
    if isinstance(attribute.value, dict):
        for called in list(attribute.fields):
            if called in _CALLED and not _VALUES & attribute.fields.keys():
                attribute.rename(called, _CALLED[called])
                message = f"the type {called} is called {_CALLED[called]}"
                draft.fault("wrong-name", attribute, message, hint=f"{path}: {_show(attribute)}")
        amount = attribute.find("quantity") or attribute.find("value")
        if amount is None or len(attribute.fields) > 1:
            return
    else:
        amount = attribute
    if amount.value is None or isinstance(amount.value, dict | list):
        return
    if "quantity" in attribute.fields or (isinstance(amount.value, str) and _AMOUNT.fullmatch(amount.value)):
        _move_amount(draft, device, name, amount)
        return
    kind = _kind_of(amount.value)
    attribute.value = {kind: Tree(amount.value, amount.line, amount.path, raw=amount.raw)}
    attribute.fields[kind].seal()
    message = "the value of an attribute stands under its type"
    draft.fault("wrong-nesting", attribute, message, hint=f"{path}: {_show(attribute)}", at=amount)


def _kind_of(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "version" if _VERSION.fullmatch(str(value)) else "string"


def _move_amount(draft: Draft, device: Tree, name: str, amount: Tree) -> None:
    attributes = device.open("attributes")
    moved = attributes.fields.pop(name)
    moved.value = {"value": plant(amount.plain(), amount.line, amount.path)}
    device.open("capacity").fields.setdefault(name, moved)
    message = f"{name} is an amount: a capacity, not an attribute"
    hint = f"{device.path}.capacity.{name}: {_show(moved)}"
    draft.fault("attribute-or-capacity", moved, message, hint=hint, at=amount)


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
            is_attribute = not owner and (name not in _BESIDE_ATTRIBUTES or _VALUES & child.fields.keys())
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
        held = home.fields.setdefault(name, stray)
        if held is not stray and isinstance(held.value, dict):
            held.fields.update({each: part for each, part in stray.fields.items() if each not in held.fields})
        what = "is an attribute of its own" if is_attribute else "belongs beside attributes"
        self._draft.fault("wrong-nesting", stray, f"{name} stood {inside}; it {what}", hint=f"{right}: {_show(stray)}")


def _show(stray: Tree) -> str:
    """What the right place would hold, in one line."""
    return write_inline(
        {name: each.plain() for name, each in stray.fields.items() if not isinstance(each.value, dict | list)}
    )

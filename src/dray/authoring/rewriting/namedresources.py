"""Named resources, the devices of v1alpha2: instances with lists of attributes, and selectors over `attributes`."""

from __future__ import annotations

import re
from typing import Final

from dray.authoring.drafts import Draft
from dray.authoring.tree import Json, Tree

__all__ = ["rewrite_named_slice", "translate_selector"]

_NAMED = re.compile(
    r"""\battributes\s*\.\s*(quantity|string|bool|int|intslice|stringslice|version)\s*\[\s*(["'])(.+?)\2\s*\]"""
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCALARS: Final = ("string", "int", "bool", "version")
_LISTS: Final = {"intSlice": "ints", "stringSlice": "strings"}


def translate_selector(selector: str, driver: str) -> str:
    """A condition on named resources as one on devices."""

    def place(match: re.Match[str]) -> str:
        kind, quote, name = match[1], match[2], match[3]
        domain, _, own = name.rpartition("/")
        holder = "capacity" if kind == "quantity" else "attributes"
        return f"device.{holder}[{quote}{domain or driver}{quote}].{_identify(own)}"

    return _NAMED.sub(place, selector)


def _identify(name: str) -> str:
    """The name as an identifier, which names of attributes are in v1."""
    if _IDENTIFIER.fullmatch(name):
        return name
    first, *rest = [part for part in re.split(r"[^A-Za-z0-9_]+", name) if part] or ["attribute"]
    joined = first + "".join(part[:1].upper() + part[1:] for part in rest)
    return joined if _IDENTIFIER.fullmatch(joined) else f"_{joined}"


def rewrite_named_slice(draft: Draft) -> None:
    """Make a slice of v1alpha2 one of v1."""
    tree = draft.tree
    resources = tree.find("namedResources")
    instances = resources.items_at("instances") if resources is not None else []
    driver, node = tree.text_at("driverName"), tree.text_at("nodeName")
    for name in ("driverName", "nodeName", "namedResources"):
        tree.fields.pop(name, None)
    devices: list[Json] = [_device_of(draft, each) for each in instances]
    pool: dict[str, Json] = {"name": node or draft.name, "generation": 1, "resourceSliceCount": 1}
    spec: dict[str, Json] = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}
    made = tree.put("spec", spec)
    draft.change(made, "was driverName, nodeName and namedResources")
    where = f"node {node}" if node else "the driver"
    draft.miss(made.fields["pool"], f"the pool: written as if this were the only slice of {where}")


def _device_of(draft: Draft, instance: Tree) -> dict[str, Json]:
    attributes: dict[str, Json] = {}
    capacity: dict[str, Json] = {}
    for each in instance.items_at("attributes"):
        former = each.text_at("name")
        domain, slash, own = former.rpartition("/")
        name = f"{domain}{slash}{_identify(own)}"
        if name != former:
            draft.change(draft.tree, f"the attribute {former} is called {name}: names are identifiers", at=each)
        quantity = each.find("quantity")
        if quantity is not None:
            capacity[name] = {"value": quantity.plain()}
        for kind in _SCALARS:
            value = each.find(kind)
            if value is not None:
                attributes[name] = {kind: value.plain()}
        for kind, plural in _LISTS.items():
            value = each.find(kind, plural)
            if value is not None:
                attributes[name] = {plural: value.plain()}
    made: dict[str, Json] = {"name": instance.text_at("name")}
    return made | ({"attributes": attributes} if attributes else {}) | ({"capacity": capacity} if capacity else {})

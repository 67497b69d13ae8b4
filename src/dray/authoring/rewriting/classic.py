"""The classic API in v1: a skeleton that says what is known, and for each fact that is not, what to add where.

What a claim was for lay in parameters of the driver. Where the input has them in the form that the scheduler understood
(ResourceClaimParameters, ResourceClassParameters), they become requests and selectors; else they are missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from dray.api.history.versions import CLASSIC_KINDS
from dray.authoring.drafts import Draft
from dray.authoring.rewriting.envelope import GROUP
from dray.authoring.tree import Json, Tree, plant

__all__ = ["Parameters", "gather_parameters", "is_classic", "rewrite_classic"]

_V1: Final = f"{GROUP}/v1"
_NAMED = re.compile(
    r"""\battributes\s*\.\s*(quantity|string|bool|int|intslice|stringslice|version)\s*\[\s*(["'])(.+?)\2\s*\]"""
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCHEDULING: Final = ("PodScheduling", "PodSchedulingContext")
_SCALARS: Final = ("string", "int", "bool", "version")
_LISTS: Final = {"intSlice": "ints", "stringSlice": "strings"}


@dataclass(slots=True)
class Parameters:
    """The objects with parameters that the input has, by kind and name."""

    by_name: dict[tuple[str, str], Draft] = field(default_factory=dict)
    generated: dict[tuple[str, str], Draft] = field(default_factory=dict)
    """Those that a driver made of its own, by kind and name of that."""

    def find(self, reference: Tree) -> Draft | None:
        """What a parametersRef leads to."""
        key = (reference.text_at("kind"), reference.text_at("name"))
        return self.generated.get(key) or self.by_name.get(key)


def gather_parameters(drafts: Sequence[Draft]) -> Parameters:
    """Everything that a parametersRef may lead to."""
    parameters = Parameters()
    for draft in drafts:
        parameters.by_name[draft.kind, draft.name] = draft
        origin = draft.tree.find("generatedFrom")
        if origin is not None:
            parameters.generated[origin.text_at("kind"), origin.text_at("name")] = draft
    return parameters


def is_classic(draft: Draft) -> bool:
    """Whether an object is one of the classic API, by its kind or by what it holds."""
    if draft.group != GROUP:
        return False
    if draft.kind in CLASSIC_KINDS:
        return True
    if draft.kind == "ResourceSlice":
        return "namedResources" in draft.tree.fields or "driverName" in draft.tree.fields
    specs = (draft.tree.find("spec"), draft.tree.find("spec", "spec"))
    return any(spec is not None and "resourceClassName" in spec.fields for spec in specs)


def rewrite_classic(draft: Draft, parameters: Parameters) -> None:
    """Make of an object of the classic API what v1 has for it."""
    if draft.kind in _SCHEDULING:
        _drop(draft, f"{draft.kind} went: the scheduler allocates devices itself, nothing is to be written")
    elif draft.kind in CLASSIC_KINDS and draft.kind != "ResourceClass":
        _drop(draft, f"{draft.title} went: what it says stands in the claims and classes that referred to it")
    elif draft.kind == "ResourceClass":
        _rewrite_class(draft, parameters)
    elif draft.kind == "ResourceSlice":
        _rewrite_slice(draft)
    else:
        spec = draft.tree.find("spec")
        claim = spec.find("spec") if spec is not None and draft.kind == "ResourceClaimTemplate" else spec
        if claim is not None:
            _rewrite_claim(draft, claim, parameters)


def _drop(draft: Draft, why: str) -> None:
    draft.is_dropped = True
    draft.change(draft.tree, why)


def _rewrite_class(draft: Draft, parameters: Parameters) -> None:
    tree = draft.tree
    former = {name: tree.fields.pop(name, None) for name in ("driverName", "parametersRef", "suitableNodes")}
    tree.fields.pop("structuredParameters", None)
    tree.fields["kind"].value = "DeviceClass"
    draft.change(tree.fields["kind"], "was ResourceClass")
    driver = former["driverName"].text if former["driverName"] is not None else ""
    spec = tree.put("spec", {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]})
    draft.change(spec, f"was driverName: {driver}", at=former["driverName"] or tree)
    if former["suitableNodes"] is not None:
        draft.change(spec, "suitableNodes went: slices say where devices are", at=former["suitableNodes"])
    reference = former["parametersRef"]
    if reference is not None:
        _apply_class_parameters(draft, spec, reference, parameters)


def _apply_class_parameters(draft: Draft, spec: Tree, reference: Tree, parameters: Parameters) -> None:
    found = parameters.find(reference)
    if found is None or found.kind != "ResourceClassParameters":
        what = _name_reference(reference)
        draft.miss(spec, f"what {what} said, as selectors (which devices) or config (for the driver)")
        return
    draft.change(spec, f"selectors and config are those of {found.title}", at=reference)
    for each in found.tree.items_at("filters"):
        selector = _translate(each.text_at("namedResources", "selector"), each.text_at("driverName"))
        spec.open_list("selectors").append(plant({"cel": {"expression": selector}}))
    for each in found.tree.items_at("vendorParameters"):
        opaque: dict[str, Json] = {"driver": each.text_at("driverName")}
        content = each.find("parameters")
        opaque["parameters"] = content.plain() if content is not None else {}
        spec.open_list("config").append(plant({"opaque": opaque}))


def _name_reference(reference: Tree) -> str:
    return f"{reference.text_at('kind') or 'the object'} {reference.text_at('name')} of parametersRef"


def _rewrite_claim(draft: Draft, claim: Tree, parameters: Parameters) -> None:
    class_name = claim.text_at("resourceClassName")
    named = claim.fields.pop("resourceClassName", None) or claim
    reference = claim.fields.pop("parametersRef", None)
    mode = claim.fields.pop("allocationMode", None)
    devices = claim.open("devices")
    requests = devices.open_list("requests")
    found = parameters.find(reference) if reference is not None else None
    if found is not None and found.kind == "ResourceClaimParameters":
        requests += [plant(each, named.line, named.path) for each in _requests_of(found, class_name)]
        draft.change(devices, f"the requests are those of {found.title}", at=reference)
    else:
        request: dict[str, Json] = {"name": class_name.split(".")[0] or "device"}
        request["exactly"] = {"deviceClassName": class_name}
        requests.append(plant(request, named.line, named.path))
        draft.change(devices, f"was resourceClassName: {class_name}; one device of the class of that name", at=named)
        if reference is not None:
            _apply_claim_parameters(draft, requests[0], reference, found)
    if mode is not None:
        draft.change(devices, f"allocationMode: {mode.value} went: a claim is allocated when a pod needs it", at=mode)


def _apply_claim_parameters(draft: Draft, request: Tree, reference: Tree, found: Draft | None) -> None:
    what = _name_reference(reference)
    count = found.tree.find("spec", "count") if found is not None else None
    if count is not None and isinstance(count.value, int):
        request.fields["exactly"].put("count", count.value)
        draft.change(request, f"the count is that of {what}", at=reference)
    draft.miss(request, f"what {what} said: selectors for the devices, count, config for the driver")


def _requests_of(parameters: Draft, class_name: str) -> list[Json]:
    """A request for each instance that was wanted."""
    made: list[Json] = []
    for wanted in parameters.tree.items_at("driverRequests"):
        driver = wanted.text_at("driverName")
        for each in wanted.items_at("requests"):
            exactly: dict[str, Json] = {"deviceClassName": class_name}
            selector = each.text_at("namedResources", "selector")
            if selector and selector != "true":
                exactly["selectors"] = [{"cel": {"expression": _translate(selector, driver)}}]
            made.append({"name": f"request-{len(made)}", "exactly": exactly})
    return made


def _translate(selector: str, driver: str) -> str:
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
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _rewrite_slice(draft: Draft) -> None:
    tree = draft.tree
    instances = [
        each for part in [tree.find("namedResources")] if part is not None for each in part.items_at("instances")
    ]
    driver, node = tree.text_at("driverName"), tree.text_at("nodeName")
    for name in ("driverName", "nodeName", "namedResources"):
        tree.fields.pop(name, None)
    devices: list[Json] = [_device_of(draft, each) for each in instances]
    pool: dict[str, Json] = {"name": node or draft.name, "generation": 1, "resourceSliceCount": 1}
    spec: dict[str, Json] = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}
    made = tree.put("spec", spec)
    draft.change(made, "was driverName, nodeName and namedResources")
    if draft.tree.find("metadata", "name") is not None:
        draft.change(made.fields["pool"], "slices belong to pools: one for the node, with this one slice, is usual")


def _device_of(draft: Draft, instance: Tree) -> dict[str, Json]:
    attributes: dict[str, Json] = {}
    capacity: dict[str, Json] = {}
    for each in instance.items_at("attributes"):
        former = each.text_at("name")
        name = former if "/" in former else _identify(former)
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

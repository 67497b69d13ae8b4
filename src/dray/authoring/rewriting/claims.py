"""Claims: requests, constraints and configuration in the places and under the names that v1 has for them."""

from __future__ import annotations

from typing import Final

from dray.authoring.drafts import Draft
from dray.authoring.knowledge import STANDARD_DOMAIN, Knowledge, suggest
from dray.authoring.rewriting.configs import rewrite_config
from dray.authoring.tree import Tree

__all__ = ["rewrite_claim"]

_EXACT: Final = (
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
    "derivedAttributes",
)
_NESTING_VERSIONS: Final = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2")
"""Versions in which a request has `exactly`, so that it is a mistake to leave it out."""
_BELONG_IN_DEVICES: Final = ("requests", "constraints", "config")
_FORMER_DOMAIN: Final = "k8s.io"


def rewrite_claim(draft: Draft, claim: Tree, knowledge: Knowledge) -> None:
    """Bring the spec of a claim into the shape of v1."""
    _drop_controller(draft, claim)
    _gather_devices(draft, claim)
    devices = claim.find("devices")
    if devices is None:
        return
    requests = devices.find("requests")
    if requests is not None and requests.is_left_out and not requests.items:
        draft.refusal = f"{requests.path} is only an ellipsis: what is asked for is not shown"
        return
    for request in devices.items_at("requests"):
        _rewrite_request(draft, request, devices)
    for constraint in devices.items_at("constraints"):
        _rewrite_constraint(draft, constraint, knowledge, _drivers(devices, knowledge))
    for config in devices.items_at("config"):
        rewrite_config(draft, config)


def _drivers(devices: Tree, knowledge: Knowledge) -> list[str]:
    names = [
        part.text_at("deviceClassName")
        for request in devices.items_at("requests")
        for part in (request.find("exactly"), *request.items_at("firstAvailable"))
        if part is not None
    ]
    return [driver for name in names if (driver := knowledge.driver_of(name))]


def _drop_controller(draft: Draft, claim: Tree) -> None:
    controller = claim.fields.pop("controller", None)
    if controller is not None:
        draft.change(claim, f"controller: {controller.value} went: the scheduler allocates", at=controller)


def _gather_devices(draft: Draft, claim: Tree) -> None:
    """Move into `devices` what stands beside it."""
    for name in _BELONG_IN_DEVICES:
        stray = claim.fields.pop(name, None)
        if stray is None:
            continue
        devices = claim.open("devices")
        if devices.items_at(name):
            devices.fields[name].items.extend(stray.items)
        else:
            devices.fields[name] = stray
        right = f"{devices.path}.{name}"
        draft.fault("wrong-nesting", stray, f"{name} stood beside devices; it belongs inside", hint=right)
    _place_opaque(draft, claim)


def _place_opaque(draft: Draft, claim: Tree) -> None:
    """Give a stray `opaque` to the configuration that has none."""
    for holder in (claim, claim.find("devices")):
        stray = holder.fields.pop("opaque", None) if holder is not None else None
        if stray is None:
            continue
        devices = claim.open("devices")
        configs = devices.items_at("config")
        bare = next((each for each in configs if "opaque" not in each.fields), None)
        if bare is None:
            bare = Tree({}, stray.line, f"{devices.path}.config[{len(configs)}]")
            if "config" not in devices.fields:
                devices.fields["config"] = Tree([], stray.line, f"{devices.path}.config")
            devices.fields["config"].items.append(bare)
        bare.open_map()["opaque"] = stray
        place = f"{devices.path}.config[{devices.items_at('config').index(bare)}].opaque"
        draft.fault("wrong-nesting", stray, "opaque stood beside the entries of config; it is part of one", hint=place)


def _rewrite_request(draft: Draft, request: Tree, devices: Tree) -> None:
    if not isinstance(request.value, dict):
        return
    _name_request(draft, request, devices)
    inline = [name for name in _EXACT if name in request.fields]
    if inline and "exactly" not in request.fields:
        exactly = Tree({}, request.line, request.path)
        exactly.value = {name: each for name, each in request.fields.items() if name in _EXACT}
        request.value = {name: each for name, each in request.fields.items() if name not in _EXACT}
        request.fields["exactly"] = exactly
        if draft.former in _NESTING_VERSIONS:
            hint = f"exactly: {{deviceClassName: {exactly.text_at('deviceClassName')}, ...}}"
            where = exactly.fields[inline[0]]
            draft.fault("wrong-nesting", exactly, "the fields of a request stand under `exactly`", hint=hint, at=where)
        else:
            draft.change(exactly, "the fields of a request stand under `exactly`")
    for part in (request.find("exactly"), *request.items_at("firstAvailable")):
        if part is not None:
            _wrap_selectors(draft, part)


def _name_request(draft: Draft, request: Tree, devices: Tree) -> None:
    """Give a request the name that its class suggests."""
    if request.text_at("name"):
        return
    class_name = request.text_at("deviceClassName") or request.text_at("exactly", "deviceClassName")
    stem = class_name.split(".")[0] or "device"
    taken = {each.text_at("name") for each in devices.items_at("requests")}
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}-{number}", number + 1
    request.put_first("name", Tree(name, request.line, f"{request.path}.name"))
    draft.fault("missing-name", request, "a request needs a name", hint=f"name: {name}", at=request.fields["name"])


def _wrap_selectors(draft: Draft, part: Tree) -> None:
    """A selector holds its expression under `cel`."""
    for selector in part.items_at("selectors"):
        if "expression" in selector.fields and "cel" not in selector.fields:
            expression = selector.fields.pop("expression")
            selector.fields["cel"] = Tree({"expression": expression}, selector.line, selector.path)
            hint = "cel: {expression: ...}"
            draft.fault("wrong-nesting", selector, "expression stands under `cel`", hint=hint, at=expression)


def _rewrite_constraint(draft: Draft, constraint: Tree, knowledge: Knowledge, drivers: list[str]) -> None:
    former = constraint.find("requestNames")
    if former is not None and "requests" not in constraint.fields:
        constraint.rename("requestNames", "requests")
        draft.fault("wrong-name", former, "requestNames is called requests", hint="requests")
    for name in ("matchAttribute", "distinctAttribute"):
        attribute = constraint.find(name)
        if attribute is not None and attribute.text:
            _rewrite_attribute(draft, attribute, knowledge, drivers)


def _rewrite_attribute(draft: Draft, attribute: Tree, knowledge: Knowledge, drivers: list[str]) -> None:
    """Give an attribute the domain that was meant."""
    domain, slash, own = attribute.text.rpartition("/")
    known = {
        name for driver in drivers if driver in knowledge.drivers for name in knowledge.drivers[driver].attributes
    } or knowledge.names()
    if attribute.text in known:
        return
    meant = f"{STANDARD_DOMAIN}/{own}"
    if domain == _FORMER_DOMAIN or (not slash and meant in known):
        _replace(draft, attribute, meant, f"{attribute.text} is not the name of an attribute")
    elif not slash and drivers:
        _replace(draft, attribute, f"{drivers[0]}/{own}", f"{own} has no domain")
    elif near := suggest(attribute.text, known, cutoff=0.9):
        _replace(draft, attribute, near, f"no known device has the attribute {attribute.text}", is_guess=True)
    elif drivers and all(driver in knowledge.drivers for driver in drivers):
        message = f"no device of {' or '.join(drivers)} in {knowledge.source} has {attribute.text}"
        draft.point_out("unknown-attribute", attribute, message)


def _replace(draft: Draft, attribute: Tree, meant: str, message: str, *, is_guess: bool = False) -> None:
    attribute.value = meant
    if is_guess:
        draft.fault("unknown-attribute", attribute, message, hint=f"did you mean {meant}?")
    else:
        draft.fault("wrong-name", attribute, message, hint=meant)

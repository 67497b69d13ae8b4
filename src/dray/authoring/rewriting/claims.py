"""Claims: requests, constraints and configuration in the places and under the names that v1 has for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count
from typing import Final

import msgspec

from dray.api.resource.request import ExactDeviceRequest
from dray.authoring.drafts import Draft
from dray.authoring.knowledge import FORMER_DOMAINS, STANDARD_ATTRIBUTES, STANDARD_DOMAIN, Knowledge
from dray.authoring.rewriting.configs import rewrite_config
from dray.authoring.rewriting.envelope import GROUP
from dray.authoring.rewriting.selectors import rewrite_selector_forms
from dray.authoring.spelling import find_meant, suggest
from dray.authoring.tree import Tree

__all__ = ["place_claim_spec", "rewrite_claim"]

_EXACT: Final = tuple(each.encode_name for each in msgspec.structs.fields(ExactDeviceRequest))
"""What stands under `exactly`, and stood in the request itself before."""

_NESTING_VERSIONS: Final = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2")
"""Versions in which a request has `exactly`, so that it is a mistake to leave it out."""
_BELONG_IN_DEVICES: Final = ("requests", "constraints", "config")


def place_claim_spec(draft: Draft) -> None:
    """Give a template a claim's spec within its own, and a claim none but its own."""
    spec = draft.tree.find("spec")
    if spec is None or draft.group != GROUP or not spec.fields:
        return
    inner = spec.find("spec")
    if draft.kind == "ResourceClaim" and inner is not None:
        del spec.fields["spec"]
        spec.fields.update(inner.fields)
        message = "a claim has one spec; that of a template has another within"
        draft.fault("wrong-nesting", spec, message, hint=spec.path, at=inner)
    elif draft.kind == "ResourceClaimTemplate" and inner is None:
        strays = {name: each for name, each in spec.fields.items() if name != "metadata"}
        if not strays:
            return
        inner = Tree(strays, spec.line, spec.path)
        spec.value = {name: each for name, each in spec.fields.items() if name == "metadata"} | {"spec": inner}
        first = next(iter(strays.values()))
        message = "the spec of the claim stands within the spec of the template"
        draft.fault("wrong-nesting", inner, message, hint="spec.spec", at=first)


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
    _name_requests(draft, devices.items_at("requests"))
    for request in devices.items_at("requests"):
        _rewrite_request(draft, request)
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
        bare = next((each for each in configs if not {"opaque", "driver", "parameters"} & each.fields.keys()), None)
        if bare is None:
            bare = Tree({}, stray.line, f"{devices.path}.config[{len(configs)}]")
            if "config" not in devices.fields:
                devices.fields["config"] = Tree([], stray.line, f"{devices.path}.config")
            devices.fields["config"].items.append(bare)
        bare.open_map()["opaque"] = stray
        place = f"{devices.path}.config[{devices.items_at('config').index(bare)}].opaque"
        draft.fault("wrong-nesting", stray, "opaque stood beside the entries of config; it is part of one", hint=place)


def _rewrite_request(draft: Draft, request: Tree) -> None:
    if not isinstance(request.value, dict):
        return
    _name_requests(draft, request.items_at("firstAvailable"))
    rewrite_selector_forms(draft, request)
    _drop_unset(draft, request)
    inline = [name for name in _EXACT if name in request.fields]
    if inline:
        _nest(draft, request, inline)
    for part in (request.find("exactly"), *request.items_at("firstAvailable")):
        if part is not None:
            rewrite_selector_forms(draft, part)


def _drop_unset(draft: Draft, request: Tree) -> None:
    """Take out what a server prints for what is not set, where there are alternatives."""
    if "firstAvailable" not in request.fields:
        return
    inline = {name: request.fields[name] for name in _EXACT if name in request.fields}
    if any(each.value not in ("", 0, None) or each.value is False for each in inline.values()):
        return
    for name, part in inline.items():
        del request.fields[name]
        draft.change(request, f"an empty {name} went: the request is for one of its alternatives", at=part)


def _nest(draft: Draft, request: Tree, inline: list[str]) -> None:
    """Move the fields of a request to where v1 has them."""
    strays = {name: request.fields.pop(name) for name in inline}
    exactly = request.fields.get("exactly")
    if exactly is None or not isinstance(exactly.value, dict):
        exactly = request.fields["exactly"] = Tree({}, request.line, request.path)
    for name, stray in strays.items():
        exactly.fields.setdefault(name, stray)
    if draft.former in _NESTING_VERSIONS:
        hint = f"exactly: {{deviceClassName: {exactly.text_at('deviceClassName')}, ...}}"
        where = next(iter(strays.values()))
        draft.fault("wrong-nesting", exactly, "the fields of a request stand under `exactly`", hint=hint, at=where)
    else:
        draft.change(exactly, "the fields of a request stand under `exactly`")


def _name_requests(draft: Draft, requests: Sequence[Tree]) -> None:
    """Give requests, or the alternatives of one, the names that their classes suggest."""
    taken = {each.text_at("name") for each in requests}
    for request in requests:
        if request.text_at("name") or not isinstance(request.value, dict):
            continue
        class_name = request.text_at("deviceClassName") or request.text_at("exactly", "deviceClassName")
        stem = class_name.split(".")[0] or "device"
        name = next(each for each in chain([stem], (f"{stem}-{n}" for n in count(2))) if each not in taken)
        taken.add(name)
        request.put_first("name", Tree(name, request.line, f"{request.path}.name"))
        draft.fault("missing-name", request, "a request needs a name", hint=f"name: {name}", at=request.fields["name"])


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
    facts = [knowledge.drivers[driver] for driver in drivers if driver in knowledge.drivers]
    known = {*STANDARD_ATTRIBUTES, *(name for each in facts for name in each.attributes)}
    known = known if facts else knowledge.names()
    if attribute.text in known:
        return
    domain, slash, own = attribute.text.rpartition("/")
    if domain in FORMER_DOMAINS:
        _replace(draft, attribute, _standard(own), f"{attribute.text} is not the name of an attribute")
    elif not slash:
        _add_domain(draft, attribute, drivers, known)
    elif meant := find_meant(attribute.text, known):
        _replace(draft, attribute, meant, f"no known device has the attribute {attribute.text}", is_guess=True)
    elif drivers and len(facts) == len(drivers):
        message = f"no device of {' or '.join(drivers)} in {facts[0].source} has {attribute.text}"
        near = suggest(attribute.text, known)
        draft.point_out("unknown-attribute", attribute, message, hint=f"did you mean {near}?" if near else "")


def _standard(own: str) -> str:
    """The attribute of all drivers that has this name, in whatever spelling."""
    name = f"{STANDARD_DOMAIN}/{own}"
    return find_meant(name, STANDARD_ATTRIBUTES) or name


def _add_domain(draft: Draft, attribute: Tree, drivers: list[str], known: set[str]) -> None:
    """Complete a bare name: that of an attribute of all drivers, or of the first of these that has it."""
    own = attribute.text
    candidates = [_standard(own), *(f"{driver}/{own}" for driver in drivers)]
    meant = next((each for each in candidates if each in known), candidates[-1] if len(drivers) == 1 else "")
    if meant:
        _replace(draft, attribute, meant, f"{own} has no domain")


def _replace(draft: Draft, attribute: Tree, meant: str, message: str, *, is_guess: bool = False) -> None:
    attribute.value = meant
    if is_guess:
        draft.fault("unknown-attribute", attribute, message, hint=f"did you mean {meant}?")
    else:
        draft.fault("wrong-name", attribute, message, hint=meant)

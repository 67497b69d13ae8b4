"""The classic API in v1: a skeleton that says what is known, and for each fact that is not, what to add where.

What a claim was for lay in parameters of the driver. Where the input has them in the form that the scheduler understood
(ResourceClaimParameters, ResourceClassParameters), they become requests and selectors; else they are missing.
"""

from __future__ import annotations

from typing import Final

from dray.api.history.versions import CLASSIC_KINDS
from dray.authoring.drafts import Draft
from dray.authoring.expressions import read_names
from dray.authoring.knowledge import Knowledge
from dray.authoring.rewriting.envelope import GROUP
from dray.authoring.rewriting.namedresources import rewrite_named_slice, translate_selector
from dray.authoring.rewriting.parameters import Parameters
from dray.authoring.tree import Json, Tree, plant
from dray.authoring.yamlwriting import write_inline, write_yaml

__all__ = ["is_classic", "rewrite_classic", "rewrite_parameters"]

_SCHEDULING: Final = ("PodScheduling", "PodSchedulingContext")


def is_classic(draft: Draft) -> bool:
    """Whether an object is one of the classic API, by its kind or by what it holds."""
    if draft.group != GROUP:
        return False
    if draft.kind in CLASSIC_KINDS:
        return True
    if draft.kind == "ResourceSlice":
        return "namedResources" in draft.tree.fields or "driverName" in draft.tree.fields
    if draft.kind not in ("ResourceClaim", "ResourceClaimTemplate"):
        return False
    specs = (draft.tree.find("spec"), draft.tree.find("spec", "spec"))
    return any(spec is not None and "resourceClassName" in spec.fields for spec in specs)


def rewrite_classic(draft: Draft, parameters: Parameters, knowledge: Knowledge) -> None:
    """Make of an object of the classic API what v1 has for it."""
    if draft.kind in _SCHEDULING:
        _drop_scheduling(draft)
    elif draft.kind == "ResourceClass":
        _rewrite_class(draft, parameters, knowledge)
    elif draft.kind == "ResourceSlice":
        rewrite_named_slice(draft)
    elif draft.kind not in CLASSIC_KINDS:
        _rewrite_claim_object(draft, parameters, knowledge)
    elif draft not in parameters.found():
        rewrite_parameters(draft)
        draft.miss(draft.tree, "the claims or classes that refer to it: they are not in the input")


def rewrite_parameters(draft: Draft) -> None:
    """Take out an object that was there for the parametersRef of others; what it said stays as comments."""
    draft.is_dropped = True
    draft.change(draft.tree, f"{draft.title} went: what it said belongs in the claims and classes that referred to it")
    draft.tree.comments += write_yaml(draft.tree).splitlines()[len(draft.tree.comments) :]


def _drop_scheduling(draft: Draft) -> None:
    draft.is_dropped = True
    draft.change(draft.tree, f"{draft.title} went: the scheduler allocates devices and keeps no object about it")
    node = draft.tree.text_at("spec", "selectedNode")
    which = f"that the pod is to be on node {node}" if node else "which node the pod is to be on"
    draft.miss(draft.tree, f"{which}, if that matters: in the pod, by nodeSelector or affinity")


def _rewrite_class(draft: Draft, parameters: Parameters, knowledge: Knowledge) -> None:
    tree = draft.tree
    former = {name: tree.fields.pop(name, None) for name in ("driverName", "parametersRef", "suitableNodes")}
    structured = tree.fields.pop("structuredParameters", None)
    tree.fields["kind"].value = "DeviceClass"
    draft.change(tree.fields["kind"], "was ResourceClass")
    driver = former["driverName"].text if former["driverName"] is not None else ""
    spec = tree.put("spec", {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]} if driver else {})
    if driver:
        draft.change(spec, f"was driverName: {driver}", at=former["driverName"])
    else:
        draft.miss(spec, "the driver whose devices the class has, as a selector: device.driver == ...")
    if structured is not None:
        draft.change(spec, "structuredParameters went: all parameters are", at=structured)
    if former["suitableNodes"] is not None:
        draft.change(spec, "suitableNodes went: slices say where devices are", at=former["suitableNodes"])
    if former["parametersRef"] is not None:
        _apply_class_parameters(draft, spec, former["parametersRef"], parameters.of_class(former["parametersRef"]))
        for each in spec.items_at("selectors"):
            _doubt_names(draft, spec, each.text_at("cel", "expression"), knowledge)


def _apply_class_parameters(draft: Draft, spec: Tree, reference: Tree, found: Draft | None) -> None:
    if found is None or found.kind != "ResourceClassParameters":
        what = _name_reference(reference, found)
        draft.miss(spec, f"what {what} said, as selectors (which devices) or config (for the driver)")
        return
    draft.change(spec, f"selectors and config are those of {found.title}", at=reference)
    for each in found.tree.items_at("filters"):
        selector = translate_selector(each.text_at("namedResources", "selector"), each.text_at("driverName"))
        spec.open_list("selectors").append(plant({"cel": {"expression": selector}}, reference.line, spec.path))
    for each in found.tree.items_at("vendorParameters"):
        spec.open_list("config").append(plant(_opaque(each, "parameters", ()), reference.line, spec.path))


def _name_reference(reference: Tree, found: Draft | None) -> str:
    """What a parametersRef names, with what that says if the input has it."""
    name = f"{reference.text_at('kind') or 'the object'} {reference.text_at('name')} of parametersRef"
    said = found.tree.find("spec") or found.tree.find("data") if found is not None else None
    return f"{name} ({write_inline(said.plain())})" if said is not None else name


def _opaque(holder: Tree, field: str, requests: tuple[str, ...]) -> Json:
    """An entry of `config` with parameters for a driver."""
    content = holder.find(field)
    opaque: dict[str, Json] = {
        "driver": holder.text_at("driverName"),
        "parameters": content.plain() if content is not None else {},
    }
    return {"requests": list(requests), "opaque": opaque} if requests else {"opaque": opaque}


def _rewrite_claim_object(draft: Draft, parameters: Parameters, knowledge: Knowledge) -> None:
    status = draft.tree.fields.pop("status", None)
    if status is not None:
        draft.change(draft.tree, "status went: nobody writes it by hand", at=status)
    spec = draft.tree.find("spec")
    claim = spec.find("spec") if spec is not None and draft.kind == "ResourceClaimTemplate" else spec
    if claim is not None:
        _rewrite_claim(draft, claim, parameters, knowledge)


def _rewrite_claim(draft: Draft, claim: Tree, parameters: Parameters, knowledge: Knowledge) -> None:
    class_name = claim.text_at("resourceClassName")
    named = claim.fields.pop("resourceClassName", None) or claim
    reference = claim.fields.pop("parametersRef", None)
    mode = claim.fields.pop("allocationMode", None)
    devices = claim.open("devices")
    if devices.items_at("requests"):
        draft.change(devices, f"resourceClassName: {class_name} went: requests say what is wanted", at=named)
        return
    requests = devices.open_list("requests")
    found = parameters.of_claim(reference, draft.namespace) if reference is not None else None
    if reference is not None and found is not None and found.kind == "ResourceClaimParameters":
        draft.change(devices, f"the requests are those of {found.title}", at=reference)
        _apply_structured(devices, found, class_name)
        for request in requests:
            for selector in request.items_at("exactly", "selectors"):
                _doubt_names(draft, request, selector.text_at("cel", "expression"), knowledge)
    else:
        name = class_name.split(".")[0] or "device"
        made: dict[str, Json] = {"name": name, "exactly": {"deviceClassName": class_name}}
        requests.append(plant(made, named.line, named.path))
        draft.change(devices, f"was resourceClassName: {class_name}; one device of the class of that name", at=named)
        if reference is not None:
            _apply_claim_parameters(draft, requests[0], reference, found)
    if mode is not None:
        draft.change(devices, f"allocationMode: {mode.value} went: a claim is allocated when a pod needs it", at=mode)
    if class_name not in knowledge.classes:
        draft.miss(devices, f"a DeviceClass {class_name} in place of the ResourceClass: it is not in the input")


def _apply_claim_parameters(draft: Draft, request: Tree, reference: Tree, found: Draft | None) -> None:
    count = found.tree.find("spec", "count") if found is not None else None
    if count is not None and isinstance(count.value, int):
        request.fields["exactly"].put("count", count.value)
        draft.change(request, f"the count is that of {reference.text_at('kind')} {reference.text_at('name')}")
    what = _name_reference(reference, found)
    draft.miss(request, f"what {what} said: selectors for the devices, count, config for the driver")


def _apply_structured(devices: Tree, parameters: Draft, class_name: str) -> None:
    """A request for each instance that was wanted, and the configuration for them: what is for one alone comes last."""
    requests = devices.open_list("requests")
    configs: list[Json] = []
    own_configs: list[Json] = []
    for wanted in parameters.tree.items_at("driverRequests"):
        driver = wanted.text_at("driverName")
        names: list[str] = []
        for each in wanted.items_at("requests"):
            exactly: dict[str, Json] = {"deviceClassName": class_name}
            selector = each.text_at("namedResources", "selector")
            if selector and selector != "true":
                exactly["selectors"] = [{"cel": {"expression": translate_selector(selector, driver)}}]
            names.append(f"request-{len(requests)}")
            requests.append(plant({"name": names[-1], "exactly": exactly}, devices.line, devices.path))
            if "vendorParameters" in each.fields:
                own = Tree({**each.fields, "driverName": plant(driver)})
                own_configs.append(_opaque(own, "vendorParameters", (names[-1],)))
        if "vendorParameters" in wanted.fields:
            configs.append(_opaque(wanted, "vendorParameters", tuple(names)))
    for config in [*configs, *own_configs]:
        devices.open_list("config").append(plant(config, devices.line, devices.path))


def _doubt_names(draft: Draft, part: Tree, expression: str, knowledge: Knowledge) -> None:
    """Note attributes of which nobody can tell whether the driver still calls them so."""
    published = {name for facts in knowledge.drivers.values() for name in [*facts.attributes, *facts.capacities]}
    unknown = sorted(set(read_names(expression)) - published)
    if unknown:
        draft.miss(part, f"whether the driver still calls them so: {', '.join(unknown)}; its slices tell")

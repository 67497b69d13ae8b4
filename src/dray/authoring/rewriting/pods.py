"""Pods: references to claims in the form of v1, devices of device plugins as claims, images that were left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dray.authoring.drafts import Draft
from dray.authoring.knowledge import Knowledge
from dray.authoring.tree import Json, Tree, plant

__all__ = ["PLACEHOLDER_IMAGE", "find_device_resources", "rewrite_pod_spec"]

PLACEHOLDER_IMAGE: Final = "example.com/image:to-be-named"
"""Stands where an image is missing."""

_REFERENCES: Final = ("resourceClaimTemplateName", "resourceClaimName")
_FORMER_REFERENCES: Final = {
    "resourceClaimTemplate": "resourceClaimTemplateName",
    "resourceClaim": "resourceClaimName",
    "claimName": "resourceClaimName",
    "templateName": "resourceClaimTemplateName",
}
_MIG: Final = "nvidia.com/mig-"
_CLASSES: Final = {
    "nvidia.com/gpu": "gpu.nvidia.com",
    "amd.com/gpu": "gpu.amd.com",
    "gpu.intel.com/i915": "gpu.intel.com",
    "gpu.intel.com/xe": "gpu.intel.com",
    "habana.ai/gaudi": "gaudi.intel.com",
    "google.com/tpu": "tpu.google.com",
    "qat.intel.com/generic": "qat.intel.com",
    "furiosa.ai/rngd": "npu.furiosa.ai",
}
"""Classes of the drivers that took over from device plugins."""


@dataclass(frozen=True, slots=True)
class DeviceResource:
    """An extended resource that a container asks for."""

    name: str
    container: Tree
    part: Tree
    count: int


def rewrite_pod_spec(draft: Draft, spec: Tree, knowledge: Knowledge) -> None:
    """Bring the spec of a pod into the form of v1."""
    for entry in spec.items_at("resourceClaims"):
        _flatten_source(draft, entry)
        for former, name in _FORMER_REFERENCES.items():
            reference = entry.find(former)
            if reference is not None and name not in entry.fields:
                entry.rename(former, name)
                draft.fault("wrong-name", reference, f"{former} is called {name}", hint=f"{name}: {reference.value}")
    for resource in find_device_resources(spec):
        _claim_devices(draft, spec, resource, knowledge)
    for container in [*spec.items_at("initContainers"), *spec.items_at("containers")]:
        if isinstance(container.value, dict) and not container.text_at("image"):
            image = container.put_behind("name", "image", PLACEHOLDER_IMAGE)
            message = "the image was left out, and a container needs one: name yours"
            draft.fault("missing-image", image, message, hint="image: ...")


def _flatten_source(draft: Draft, entry: Tree) -> None:
    source = entry.fields.pop("source", None)
    if source is None:
        return
    entry.fields.update({name: each for name, each in source.fields.items() if name not in entry.fields})
    message = "the reference stood under `source`, which was flattened in 1.31"
    hint = ", ".join(f"{_FORMER_REFERENCES.get(name, name)}: {each.value}" for name, each in source.fields.items())
    draft.fault("deprecated-form", entry, message, hint=hint, at=source)


def find_device_resources(spec: Tree) -> list[DeviceResource]:
    """The extended resources of all containers that may be devices."""
    found = []
    for container in [*spec.items_at("initContainers"), *spec.items_at("containers")]:
        resources = container.find("resources")
        parts = [resources.find(each) for each in ("limits", "requests")] if resources is not None else []
        merged = {name: each for part in reversed(parts) if part is not None for name, each in part.fields.items()}
        for name, part in merged.items():
            if _is_extended(name) and (count := _whole(part.value)):
                found.append(DeviceResource(name, container, part, count))
    return found


def _is_extended(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def _whole(value: object) -> int:
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _claim_devices(draft: Draft, spec: Tree, resource: DeviceResource, knowledge: Knowledge) -> None:
    """Ask for the devices of one container by a claim."""
    class_name = knowledge.class_for_resource(resource.name) or _CLASSES.get(resource.name, "")
    class_name = "mig.nvidia.com" if resource.name.startswith(_MIG) else class_name
    if not class_name:
        message = f"{resource.name} stays: no DeviceClass is known for it"
        draft.point_out("device-plugin-style", resource.part, message)
        draft.miss(resource.part, f"which DeviceClass has the devices of {resource.name}")
        return
    _take_out(resource)
    entry = _name_entry(spec, resource)
    template = f"{draft.name or 'pod'}-{entry}"
    claims = spec.open_list("resourceClaims")
    claims.append(plant({"name": entry, "resourceClaimTemplateName": template}, resource.part.line, resource.part.path))
    uses = resource.container.open("resources").open_list("claims")
    uses.append(plant({"name": entry}, resource.part.line, resource.part.path))
    draft.additions.append(_template(draft, template, class_name, resource))
    message = f"was {resource.name}: {resource.count} of a device plugin; the claim asks class {class_name} for it"
    draft.fault("device-plugin-style", claims[-1], message, hint=f"deviceClassName: {class_name}", at=resource.part)


def _take_out(resource: DeviceResource) -> None:
    resources = resource.container.open("resources")
    for part in ("limits", "requests"):
        amounts = resources.fields.get(part)
        if amounts is not None:
            amounts.fields.pop(resource.name, None)
            if not amounts.fields:
                del resources.fields[part]


def _name_entry(spec: Tree, resource: DeviceResource) -> str:
    """A name for the claim in the pod: by the resource, then by the container."""
    stem = resource.name.rpartition("/")[2].replace(".", "-")
    taken = {each.text_at("name") for each in spec.items_at("resourceClaims")}
    candidates = [stem, f"{resource.container.text_at('name')}-{stem}"]
    return next((each for each in candidates if each not in taken), f"{candidates[-1]}-{len(taken)}")


def _template(draft: Draft, name: str, class_name: str, resource: DeviceResource) -> Tree:
    exactly: dict[str, Json] = {"deviceClassName": class_name}
    if resource.count > 1:
        exactly["count"] = resource.count
    if resource.name.startswith(_MIG):
        profile = resource.name.removeprefix(_MIG)
        expression = f"device.attributes['gpu.nvidia.com'].profile == '{profile}'"
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    metadata: dict[str, Json] = {"name": name}
    if namespace := draft.tree.text_at("metadata", "namespace"):
        metadata["namespace"] = namespace
    made = plant(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": metadata,
            "spec": {"spec": {"devices": {"requests": [{"name": "device", "exactly": exactly}]}}},
        }
    )
    made.comments.append(f"new: {resource.count} of {resource.name} for {draft.title}, as a claim for each pod")
    return made

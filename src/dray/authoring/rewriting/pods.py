"""Pods: references to claims in the form of v1, devices of device plugins as claims, images that were left out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, count
from typing import Final

from dray.authoring.drafts import Draft
from dray.authoring.knowledge import Knowledge
from dray.authoring.tree import Json, Tree, plant

__all__ = ["PLACEHOLDER_IMAGE", "Names", "rewrite_pod_spec"]

PLACEHOLDER_IMAGE: Final = "example.com/image:to-be-named"
"""Stands where an image is missing."""

_REFERENCES: Final = ("resourceClaimTemplateName", "resourceClaimName")
_FORMER_REFERENCES: Final = {
    "resourceClaimTemplate": "resourceClaimTemplateName",
    "resourceClaim": "resourceClaimName",
    "claimName": "resourceClaimName",
    "templateName": "resourceClaimTemplateName",
}
_IMPLICIT: Final = "deviceclass.resource.kubernetes.io/"
"""Before the name of a class: what each class is called as an extended resource."""

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


_NAME = re.compile(r"[^a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class DeviceResource:
    """An extended resource that a container asks for."""

    name: str
    container: Tree
    part: Tree
    count: int
    is_passing: bool
    """Whether the container ends before others begin, so that its devices are theirs then."""


@dataclass(slots=True)
class Names:
    """The templates of the input and of what is added to it, by namespace and name."""

    taken: set[tuple[str, str]]

    def choose(self, namespace: str, wanted: str) -> str:
        """A name that no template has."""
        name = next(
            each for each in chain([wanted], (f"{wanted}-{n}" for n in count(2))) if (namespace, each) not in self.taken
        )
        self.taken.add((namespace, name))
        return name


def rewrite_pod_spec(draft: Draft, spec: Tree, knowledge: Knowledge, names: Names) -> None:
    """Bring the spec of a pod into the form of v1."""
    for container in _containers(spec):
        _place_claims(draft, spec, container)
    for entry in spec.items_at("resourceClaims"):
        _flatten_source(draft, entry)
        for former, name in _FORMER_REFERENCES.items():
            reference = entry.find(former)
            if reference is not None and name not in entry.fields:
                entry.rename(former, name)
                draft.fault("wrong-name", reference, f"{former} is called {name}", hint=f"{name}: {reference.value}")
    _Devices(draft, spec, knowledge, names).rewrite()
    for container in _containers(spec):
        if not container.text_at("image"):
            image = container.put_behind("name", "image", PLACEHOLDER_IMAGE)
            message = "the image was left out, and a container needs one: name yours"
            draft.fault("missing-image", image, message, hint="image: ...")


def _containers(spec: Tree) -> list[Tree]:
    both = [*spec.items_at("initContainers"), *spec.items_at("containers")]
    return [each for each in both if isinstance(each.value, dict)]


def _place_claims(draft: Draft, spec: Tree, container: Tree) -> None:
    """Put what a container says of claims where it belongs."""
    uses = container.fields.pop("claims", None)
    if uses is not None:
        container.open("resources").fields.setdefault("claims", uses)
        message = "claims stood beside resources; it belongs inside"
        draft.fault("wrong-nesting", uses, message, hint="resources: {claims: [{name: ...}]}")
    entries = container.fields.pop("resourceClaims", None)
    if entries is not None:
        spec.open_list("resourceClaims").extend(entries.items)
        message = "resourceClaims stood in a container; it belongs to the pod"
        place = f"{spec.path}.resourceClaims"
        draft.fault("wrong-nesting", spec.fields["resourceClaims"], message, hint=place, at=entries)
    for use in container.items_at("resources", "claims"):
        if isinstance(use.value, str):
            use.value = {"name": Tree(use.value, use.line, use.path)}
            message = "a container names a claim of the pod under `name`"
            draft.fault("wrong-nesting", use, message, hint=f"name: {use.text_at('name')}")


def _flatten_source(draft: Draft, entry: Tree) -> None:
    source = entry.fields.pop("source", None)
    if source is None:
        return
    entry.fields.update({name: each for name, each in source.fields.items() if name not in entry.fields})
    message = "the reference stood under `source`, which was flattened in 1.31"
    hint = ", ".join(f"{_FORMER_REFERENCES.get(name, name)}: {each.value}" for name, each in source.fields.items())
    draft.fault("deprecated-form", entry, message, hint=hint, at=source)


def _find_device_resources(spec: Tree) -> list[DeviceResource]:
    """The extended resources of all containers that may be devices; those of containers that stay first."""
    found = []
    initial = spec.items_at("initContainers")
    for container in _containers(spec):
        is_passing = container in initial and container.text_at("restartPolicy") != "Always"
        resources = container.find("resources")
        parts = [resources.find(each) for each in ("limits", "requests")] if resources is not None else []
        merged = {name: each for part in reversed(parts) if part is not None for name, each in part.fields.items()}
        for name, part in merged.items():
            if _is_extended(name) and (amount := _whole(part.value)):
                found.append(DeviceResource(name, container, part, amount, is_passing))
    return sorted(found, key=lambda each: each.is_passing)


def _is_extended(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    if name.startswith(_IMPLICIT):
        return True
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def _whole(value: object) -> int:
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


class _Devices:
    """Devices of device plugins as claims: an entry of the pod for each container, a template for each wish."""

    def __init__(self, draft: Draft, spec: Tree, knowledge: Knowledge, names: Names) -> None:
        self._draft = draft
        self._spec = spec
        self._knowledge = knowledge
        self._names = names
        self._entries: dict[tuple[str, int], str] = {}
        """The entry of a container that stays, by resource and count."""
        self._templates: dict[tuple[str, int], str] = {}

    def rewrite(self) -> None:
        """Ask for all of them by claims."""
        for resource in _find_device_resources(self._spec):
            class_name = self._class_of(resource.name)
            if class_name:
                self._claim(resource, class_name)
                continue
            message = f"which DeviceClass has the devices of {resource.name}: none is known"
            self._draft.miss(resource.part, message, rule="device-plugin-style")

    def _class_of(self, name: str) -> str:
        if name.startswith(_IMPLICIT):
            return name.removeprefix(_IMPLICIT)
        if name.startswith(_MIG):
            return "mig.nvidia.com"
        return self._knowledge.class_for_resource(name) or _CLASSES.get(name, "")

    def _claim(self, resource: DeviceResource, class_name: str) -> None:
        part, wish = resource.part, (resource.name, resource.count)
        _take_out(resource)
        uses = resource.container.open("resources").open_list("claims")
        shared = self._entries.get(wish, "") if resource.is_passing else ""
        if shared:
            uses.append(plant({"name": shared}, part.line, part.path))
            message = f"was {resource.name}: {resource.count}; an init container has the devices of another before it"
            self._draft.fault("device-plugin-style", uses[-1], message, hint=f"name: {shared}", at=part)
            return
        stem = _NAME.sub("-", resource.name.rpartition("/")[2].lower()).strip("-") or "device"
        entry = self._name_entry(resource, stem)
        template = self._templates.get(wish) or self._add_template(resource, stem, class_name)
        self._entries.setdefault(wish, entry)
        claims = self._spec.open_list("resourceClaims")
        claims.append(plant({"name": entry, "resourceClaimTemplateName": template}, part.line, part.path))
        uses.append(plant({"name": entry}, part.line, part.path))
        message = f"was {resource.name}: {resource.count} of a device plugin; the claim asks class {class_name} for it"
        self._draft.fault("device-plugin-style", claims[-1], message, hint=f"deviceClassName: {class_name}", at=part)

    def _name_entry(self, resource: DeviceResource, stem: str) -> str:
        """A name for the claim in the pod: by the resource, then by the container."""
        taken = {each.text_at("name") for each in self._spec.items_at("resourceClaims")}
        base = f"{resource.container.text_at('name')}-{stem}"
        candidates = chain([stem, base], (f"{base}-{n}" for n in count(2)))
        return next(each for each in candidates if each not in taken)

    def _add_template(self, resource: DeviceResource, stem: str, class_name: str) -> str:
        draft, wish = self._draft, (resource.name, resource.count)
        name = self._names.choose(draft.namespace, f"{draft.name or 'pod'}-{stem}")
        self._templates[wish] = name
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
        draft.additions.append(made)
        return name


def _take_out(resource: DeviceResource) -> None:
    resources = resource.container.open("resources")
    for part in ("limits", "requests"):
        amounts = resources.fields.get(part)
        if amounts is not None:
            amounts.fields.pop(resource.name, None)
            if not amounts.fields:
                del resources.fields[part]

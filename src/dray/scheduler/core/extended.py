"""Extended resources that devices serve: which class stands behind a name, and the claim a pod needs for them.

A pod may ask for `nvidia.com/gpu: 2` and know nothing of claims. Where a node has no such resource of its own, devices
of the class of that name serve it, by a claim that the scheduler makes for the pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from dray.api.core.containers import Container
from dray.api.core.pod import Pod
from dray.api.core.podresources import is_sidecar
from dray.api.core.podstatus import ContainerExtendedResourceRequest
from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.podclaims import EXTENDED_RESOURCE_ANNOTATION
from dray.api.resource.request import AllocationMode, DeviceRequest, ExactDeviceRequest

__all__ = ["ClassNames", "DeviceServed", "is_unmade", "plan_claim", "served_resources", "to_create"]

IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
_UNMADE_NAME: Final = "<extended-resources>"
"""Deliberately no name that an object could have."""


class ClassNames:
    """Which device class serves which extended resource. Follows the classes."""

    def __init__(self) -> None:
        self._classes: dict[str, DeviceClass] = {}
        self._by_resource: dict[str, str] = {}

    def put(self, device_class: DeviceClass) -> None:
        """Add a class or replace it."""
        self._classes[device_class.metadata.name] = device_class
        self._index()

    def remove(self, name: str) -> None:
        """Forget a class."""
        self._classes.pop(name, None)
        self._index()

    def find(self, resource: str) -> str | None:
        """The class that serves a resource: the youngest of those that name it, by name if they are of one age."""
        if resource.startswith(IMPLICIT_PREFIX):
            name = resource.removeprefix(IMPLICIT_PREFIX)
            return name if name in self._classes else None
        return self._by_resource.get(resource)

    def _index(self) -> None:
        named = [each for each in self._classes.values() if each.spec.extended_resource_name]
        named.sort(key=_age_then_name, reverse=True)
        self._by_resource = {str(each.spec.extended_resource_name): each.metadata.name for each in named}


def _age_then_name(device_class: DeviceClass) -> tuple[int, str]:
    """Smallest for the class that wins."""
    created = device_class.metadata.creation_timestamp
    return (0 if created is None else -created.unix_seconds, device_class.metadata.name)


class DeviceServed(NamedTuple):
    """A claim for the extended resources of a pod, and which request of it stands for which resource."""

    claim: ResourceClaim
    mappings: tuple[ContainerExtendedResourceRequest, ...]


class _Part(NamedTuple):
    """What one container asks of one resource."""

    number: int
    container: Container
    request: str
    wanted: int


def served_resources(pod: Pod, classes: ClassNames) -> dict[str, str]:
    """The extended resources the pod asks for that a class serves, with the class. Amounts of zero do not count."""
    if not any("/" in name for each in _containers(pod) for name in each.resources.requests):
        return {}
    found: dict[str, str] = {}
    for container in _containers(pod):
        for name, amount in container.resources.requests.items():
            device_class = classes.find(name) if "/" in name and amount.value() else None
            if device_class is not None:
                found[name] = device_class
    return dict(sorted(found.items()))


def plan_claim(pod: Pod, served: Mapping[str, str]) -> DeviceServed:
    """The claim a pod needs on nodes where devices serve these resources. It has no place in the API yet."""
    requests: list[DeviceRequest] = []
    mappings: list[ContainerExtendedResourceRequest] = []
    for resource, device_class in sorted(served.items()):
        counts, used = _share_out(pod, resource)
        requests += [_request(name, device_class, count) for name, count in counts.items()]
        mappings += [
            ContainerExtendedResourceRequest(container_name=container, resource_name=resource, request_name=request)
            for container, request in used
        ]
    mappings.sort(key=lambda each: (each.container_name, each.resource_name, each.request_name))
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=tuple(sorted(requests, key=lambda each: each.name))))
    return DeviceServed(ResourceClaim(metadata=_metadata(pod), spec=spec), tuple(mappings))


def is_unmade(claim: ResourceClaim) -> bool:
    """Whether a claim exists in our plans alone."""
    return claim.metadata.name == _UNMADE_NAME


def to_create(claim: ResourceClaim) -> ResourceClaim:
    """What to send to the server for a claim that exists in our plans alone."""
    return replace(claim, metadata=replace(claim.metadata, name="", uid=""))


def _metadata(pod: Pod) -> ObjectMeta:
    meta = pod.metadata
    owner = OwnerReference(api_version="v1", kind="Pod", name=meta.name, uid=meta.uid, controller=True)
    return ObjectMeta(
        name=_UNMADE_NAME,
        generate_name=f"{meta.name}-extended-resources-",
        namespace=meta.namespace,
        uid=f"{_UNMADE_NAME} {meta.uid}",
        annotations={EXTENDED_RESOURCE_ANNOTATION: "true"},
        owner_references=(owner,),
    )


def _request(name: str, device_class: str, count: int) -> DeviceRequest:
    exactly = ExactDeviceRequest(
        device_class_name=device_class, allocation_mode=AllocationMode.EXACT_COUNT, count=count
    )
    return DeviceRequest(name=name, exactly=exactly)


def _containers(pod: Pod) -> Iterator[Container]:
    yield from pod.spec.init_containers
    yield from pod.spec.containers


def _parts(pod: Pod, resource: str) -> Iterable[_Part]:
    for number, container in enumerate(_containers(pod)):
        requests = container.resources.requests
        amount = requests[resource].value() if resource in requests else 0
        if amount:
            place = sorted(requests).index(resource)
            yield _Part(number, container, f"container-{number}-request-{place}", amount)


def _share_out(pod: Pod, resource: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Requests with their counts, and which container uses which.

    Containers that run together get a request each. Init containers that end before use what later ones will have;
    what they lack is one request for all of them, since they run one after the other.
    """
    begun = len(pod.spec.init_containers)
    parts = list(_parts(pod, resource))
    lasting = [part for part in parts if part.number >= begun or is_sidecar(part.container)]
    counts = {part.request: part.wanted for part in lasting}
    used = [(part.container.name, part.request) for part in lasting]
    lacking: list[_Part] = []
    for part in parts:
        if part in lasting:
            continue
        missing = part.wanted
        for other in lasting:
            if other.number >= part.number and missing > 0:
                used.append((part.container.name, other.request))
                missing -= other.wanted
        if missing > 0:
            lacking.append(part._replace(wanted=missing))
    if lacking:
        largest = max(lacking, key=lambda part: part.wanted)
        counts[largest.request] = largest.wanted
        used += [(part.container.name, largest.request) for part in lacking]
    return counts, used

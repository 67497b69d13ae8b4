"""What may be said of a pod: claims and devices that its spec knows, addresses, and no way back from an end."""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dray.api.core.checks.naming import key_faults, label_faults, subdomain_faults
from dray.api.core.containers import Container
from dray.api.core.containerstatus import ContainerStatus, ResourceStatus
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.api.core.podstatus import (
    NodeAllocatableResourceClaimStatus,
    PodExtendedResourceClaimStatus,
    PodResourceClaimStatus,
    PodStatus,
)
from dray.errors import FieldError, duplicate, forbidden, invalid, not_supported, required, too_long
from dray.values.fieldpath import FieldPath
from dray.values.names import byte_length
from dray.values.quantity import ZERO

__all__ = ["nomination_faults", "pod_status_faults", "pod_transition_faults"]

_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_MAX_HEALTH_MESSAGE = 1024
_OWN_CONDITIONS = frozenset(
    {"PodScheduled", "Ready", "Initialized", "ContainersReady", "DisruptionTarget", "PodReadyToStartContainers"}
)
_IP_RULE = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_NO_CLAIM = (
    "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' "
    "when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty"
)
_NO_REQUEST = "must match one of the container's resource requests"
_NO_CONTAINER = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
_NO_EXTENDED = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests "
    "or spec.containers.resources.requests"
)


def pod_status_faults(pod: Pod, path: FieldPath) -> Iterator[FieldError]:
    """What a status says on its own and beside the spec."""
    spec, status = pod.spec, pod.status
    for index, condition in enumerate(status.conditions):
        if condition.type not in _OWN_CONDITIONS:
            yield from key_faults(condition.type, path / "conditions" / index / "Type")
    if status.nominated_node_name:
        yield from subdomain_faults(status.nominated_node_name, path / "nominatedNodeName")
    yield from _claim_status_faults(status.resource_claim_statuses, spec, path / "resourceClaimStatuses")
    if status.extended_resource_claim_status is not None:
        at = path / "extendedResourceClaimStatus"
        yield from _extended_faults(status.extended_resource_claim_status, _all_containers(spec), at)
    at = path / "nodeAllocatableResourceClaimStatuses"
    yield from _allocatable_faults(status, spec, at)
    yield from _address_faults([each.ip for each in status.pod_ips], path / "podIPs")
    yield from _address_faults([each.ip for each in status.host_ips], path / "hostIPs")
    yield from _health_faults(pod, path)


def _all_containers(spec: PodSpec) -> dict[str, Container]:
    return {container.name: container for container in (*spec.init_containers, *spec.containers)}


def _claim_status_faults(
    statuses: Sequence[PodResourceClaimStatus], spec: PodSpec, path: FieldPath
) -> Iterator[FieldError]:
    known = {claim.name for claim in spec.resource_claims}
    seen: set[str] = set()
    for index, status in enumerate(statuses):
        at = path / index
        if status.name not in known:
            yield invalid(at / "name", status.name, "must match the name of an entry in `spec.resourceClaims`")
        if status.name in seen:
            yield duplicate(at / "name", status.name)
        seen.add(status.name)
        if status.resource_claim_name is not None:
            yield from subdomain_faults(status.resource_claim_name, at / "resourceClaimName")


def _extended_faults(
    status: PodExtendedResourceClaimStatus, containers: Mapping[str, Container], path: FieldPath
) -> Iterator[FieldError]:
    if status.resource_claim_name:
        yield from subdomain_faults(status.resource_claim_name, path / "resourceClaimName")
    else:
        yield required(path / "resourceClaimName")
    if not status.request_mappings:
        yield required(path / "requestMappings", "at least one request mapping is required")
    seen: set[tuple[str, str, str]] = set()
    for index, mapping in enumerate(status.request_mappings):
        at = path / "requestMappings" / index
        triple = (mapping.container_name, mapping.resource_name, mapping.request_name)
        if triple in seen:
            for name, part in zip(("containerName", "resourceName", "requestName"), triple, strict=True):
                yield duplicate(at / name, part)
        seen.add(triple)
        container = containers.get(mapping.container_name)
        if container is None:
            yield invalid(at / "containerName", mapping.container_name, _NO_CONTAINER)
        if container is None or mapping.resource_name not in container.resources.requests:
            yield invalid(at / "resourceName", mapping.resource_name, _NO_EXTENDED)
        # The API server leaves the index out here.
        yield from label_faults(mapping.request_name, path / "requestName")


def _allocatable_faults(status: PodStatus, spec: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    known = {claim.resource_claim_name for claim in spec.resource_claims}
    known |= {claim.resource_claim_name for claim in status.resource_claim_statuses}
    if status.extended_resource_claim_status is not None:
        known.add(status.extended_resource_claim_status.resource_claim_name)
    seen: set[str] = set()
    for index, claim in enumerate(status.node_allocatable_resource_claim_statuses):
        at = path / index
        name = claim.resource_claim_name
        if not name:
            yield required(at / "resourceClaimName")
        elif name in seen:
            yield duplicate(at, name)
        elif name not in known:
            yield invalid(at / "resourceClaimName", name, "no mapping found in pod reference")
        seen.add(name)
        yield from _allocatable_amount_faults(claim, at)


def _allocatable_amount_faults(claim: NodeAllocatableResourceClaimStatus, path: FieldPath) -> Iterator[FieldError]:
    repeated = len(claim.containers) != len(set(claim.containers))
    for index, container in enumerate(claim.containers if repeated else ()):
        if container in claim.containers[:index]:
            yield duplicate(path / "containers" / index, container)
    seen: set[str] = set()
    for index, mapping in enumerate(claim.mapping):
        at = path / "mapping" / index
        yield from _allocatable_name_faults(mapping.name, seen, at)
        if mapping.quantity is None:
            yield required(at / "quantity")
        elif mapping.quantity.sign < 0:
            yield invalid(at / "quantity", str(mapping.quantity), "must be non-negative")
    seen = set()
    for index, overhead in enumerate(claim.overhead):
        at = path / "overhead" / index
        yield from _allocatable_name_faults(overhead.name, seen, at)
        if overhead.per_pod is None and overhead.per_container is None:
            yield invalid(at, "", "at least one of perPod or perContainer must be set")
        for name, amount in (("perPod", overhead.per_pod), ("perContainer", overhead.per_container)):
            if amount is not None and amount.sign < 0:
                yield invalid(at / name, str(amount), "must be non-negative")


def _allocatable_name_faults(name: str, seen: set[str], path: FieldPath) -> Iterator[FieldError]:
    if not name:
        yield required(path / "name")
    elif name in seen:
        yield duplicate(path, name)
    elif name not in ("cpu", "memory") and not name.startswith("hugepages-"):
        yield invalid(path / "name", name, "must be a node allocatable resource name")
    seen.add(name)


def _address_faults(addresses: Sequence[str], path: FieldPath) -> Iterator[FieldError]:
    versions: list[int] = []
    for index, text in enumerate(addresses):
        try:
            versions.append(ipaddress.ip_address(text).version)
        except ValueError:
            yield invalid(path / index, text, _IP_RULE)
        if text in addresses[:index]:
            yield duplicate(path / index, text)
    if len(versions) != len(set(versions)):
        yield invalid(path, list(addresses), "may specify no more than one IP for each IP family")


@dataclass(frozen=True, slots=True)
class _Devices:
    """What the health in a container's status may be about."""

    requests: frozenset[str]
    claims: frozenset[str]

    @classmethod
    def of(cls, container: Container, extended: PodExtendedResourceClaimStatus | None) -> "_Devices":
        requests = container.resources.requests
        claims = {f"{use.name}/{use.request}" if use.request else use.name for use in container.resources.claims}
        for mapping in extended.request_mappings if extended is not None else ():
            is_asked = not requests.get(mapping.resource_name, ZERO).is_zero
            if extended is not None and mapping.container_name == container.name and is_asked:
                claims.add(f"{extended.resource_claim_name}/{mapping.request_name}")
        return cls(frozenset(requests), frozenset(claims))


def _health_faults(pod: Pod, path: FieldPath) -> Iterator[FieldError]:
    extended = pod.status.extended_resource_claim_status
    for name, statuses, containers in (
        ("containerStatuses", pod.status.container_statuses, pod.spec.containers),
        ("initContainerStatuses", pod.status.init_container_statuses, pod.spec.init_containers),
    ):
        devices = {container.name: _Devices.of(container, extended) for container in containers}
        for index, status in enumerate(statuses):
            for number, resource in enumerate(status.allocated_resources_status):
                at = path / name / index / "allocatedResourcesStatus" / number
                yield from _one_health_faults(resource, devices.get(status.name), at)
    for index, status in enumerate(pod.status.ephemeral_container_statuses):
        if status.allocated_resources_status:
            at = path / "ephemeralContainerStatuses" / index / "allocatedResourcesStatus"
            yield forbidden(at, "must not be specified in container status")


def _one_health_faults(resource: ResourceStatus, devices: _Devices | None, path: FieldPath) -> Iterator[FieldError]:
    claim = resource.name.removeprefix("claim:")
    if devices is not None and claim != resource.name:
        if claim not in devices.claims:
            yield invalid(path / "name", resource.name, _NO_CLAIM)
    elif devices is not None and resource.name not in devices.requests:
        yield invalid(path / "name", resource.name, _NO_REQUEST)
    seen: set[str] = set()
    for index, device in enumerate(resource.resources):
        at = path / "resources" / index
        if device.health not in _HEALTH:
            yield not_supported(at / "health", device.health, _HEALTH)
        if device.resource_id in seen:
            yield duplicate(at / "resourceID", device.resource_id)
        seen.add(device.resource_id)
        if device.message == "":
            yield invalid(at / "message", "", "must not be empty")
        elif device.message is not None and byte_length(device.message) > _MAX_HEALTH_MESSAGE:
            yield too_long(at / "message", _MAX_HEALTH_MESSAGE)


def nomination_faults(new: Pod, old: Pod, path: FieldPath) -> Iterator[FieldError]:
    """A node is held for a pod until it is on one."""
    nominated = new.status.nominated_node_name
    if nominated and nominated != old.status.nominated_node_name and new.spec.node_name:
        yield forbidden(path / "nominatedNodeName", "may not be set on pods that are already bound to a node")


def pod_transition_faults(new: Pod, old: Pod, path: FieldPath) -> Iterator[FieldError]:
    """The quality of service stays, and containers that have ended for good do not come back."""
    if new.status.qos_class != old.status.qos_class:
        yield invalid(path / "qosClass", new.status.qos_class, "field is immutable")
    policy = old.spec.restart_policy
    free = {
        container.name
        for container in (*old.spec.containers, *old.spec.init_containers)
        if container.restart_policy is not None or container.restart_policy_rules
    }
    pairs = (
        ("containerStatuses", new.status.container_statuses, old.status.container_statuses),
        ("initContainerStatuses", new.status.init_container_statuses, old.status.init_container_statuses),
    )
    for name, now, before in pairs if policy != "Always" else ():
        by_name = {status.name: status for status in now}
        for index, status in enumerate(before):
            follower = by_name.get(status.name)
            if follower is None or status.name in free or follower.state.terminated is not None:
                continue
            if _has_ended_for_good(status, policy):
                detail = "may not be transitioned to non-terminated state"
                yield forbidden(path / name / index / "state", detail)


def _has_ended_for_good(status: ContainerStatus, policy: str) -> bool:
    ended = status.state.terminated
    return ended is not None and not (policy == "OnFailure" and ended.exit_code != 0)

"""What is reported of the health of devices: by drivers in claims and attributes, by nodes in the status of pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from dray.allocator.ids import DeviceId
from dray.api.core.containerstatus import ResourceHealth
from dray.api.core.pod import Pod
from dray.api.resource.allocation import DeviceRequestAllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import Device
from dray.api.resource.podclaims import find_choice

__all__ = ["Ailments"]

_CLAIM: Final = "claim:"
_UNWELL: Final = (("healthy", False, None), ("health", None, "Unhealthy"))
"""Attributes by which drivers tell of a failed device: name, truth value, text."""


class Ailments:
    """Everything that is reported and not well, by device. Health that is not reported is taken for good."""

    def __init__(self, pods: Iterable[Pod], claims: Iterable[ResourceClaim]) -> None:
        self._found: dict[DeviceId, dict[str, None]] = {}
        by_name = {(each.metadata.namespace, each.metadata.name): each for each in claims}
        for claim in by_name.values():
            for each in claim.status.devices:
                for condition in each.conditions or ():
                    if condition.type == "Ready" and condition.status == "False":
                        self._note(DeviceId(each.driver, each.pool, each.device), f"not ready: {condition.reason}")
        for pod in pods:
            for device, text in _read_pod(pod, by_name):
                self._note(device, text)

    def _note(self, device: DeviceId, text: str) -> None:
        self._found.setdefault(device, {})[text] = None

    def find(self, name: DeviceId, device: Device) -> tuple[str, ...]:
        """What is wrong with a device."""
        found = dict(self._found.get(name, {}))
        for key, attribute in device.attributes.items():
            if (key.rpartition("/")[2], attribute.bool, attribute.string) in _UNWELL:
                found.setdefault("unhealthy", None)
        return tuple(found)


def _read_pod(pod: Pod, claims: Mapping[tuple[str, str], ResourceClaim]) -> Iterator[tuple[DeviceId, str]]:
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    for status in statuses:
        for each in status.allocated_resources_status:
            results = _find_results(pod, each.name, claims)
            for health in each.resources:
                if health.health == "Unhealthy":
                    for result in _match(health, results):
                        text = f"unhealthy: {health.message}" if health.message else "unhealthy"
                        yield DeviceId(result.driver, result.pool, result.device), text


def _find_results(
    pod: Pod, name: str, claims: Mapping[tuple[str, str], ResourceClaim]
) -> Sequence[DeviceRequestAllocationResult]:
    """The devices that `claim:entry`, or `claim:entry/request`, of a pod stands for."""
    entry_name, _, request = name.removeprefix(_CLAIM).partition("/")
    entry = next((each for each in pod.spec.resource_claims if each.name == entry_name), None)
    choice = None if entry is None or not name.startswith(_CLAIM) else find_choice(pod, entry)
    claim = None if choice is None else claims.get((pod.metadata.namespace, choice.name))
    allocation = None if claim is None else claim.status.allocation
    results = () if allocation is None else allocation.devices.results
    return [each for each in results if not request or each.request.partition("/")[0] == request]


def _match(
    health: ResourceHealth, results: Sequence[DeviceRequestAllocationResult]
) -> Iterator[DeviceRequestAllocationResult]:
    """The device that a report is about: the only one, or the one in whose identity its name is found."""
    if len(results) == 1:
        yield results[0]
        return
    for each in results:
        if health.resource_id.endswith((f"/{each.device}", f"-{each.device}", f"={each.device}")):
            yield each

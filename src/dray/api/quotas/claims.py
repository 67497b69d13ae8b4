"""What resource claims are charged for: themselves, and the most devices of each class they can be given."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podresources import sum_pod_requests
from dray.api.meta import OwnerReference
from dray.api.quotas.meter import ONE, Amounts, Meter, Surroundings
from dray.api.quotas.pods import IMPLICIT_PREFIX, REQUESTS_PREFIX, is_extended_quota_name
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_CLAIM
from dray.api.resource.request import DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from dray.values.quantity import ZERO, Quantity

__all__ = ["CLAIM_METER", "count_devices"]

_COUNT: Final = "count/resourceclaims.resource.k8s.io"
_BY_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
_MOST_DEVICES: Final = 32
"""What `All` can come to: an allocation has no more results."""
_FOR_EXTENDED_RESOURCES: Final = "resource.kubernetes.io/extended-resource-claim"


def _covers(name: str) -> bool:
    return name == _COUNT or name.endswith(_BY_CLASS) or is_extended_quota_name(name)


def count_devices(claim: ResourceClaim) -> Counter[str]:
    """The most devices of each class that the claim can be given.

    Of alternatives one is taken, so each class counts with its largest.
    """
    total: Counter[str] = Counter()
    for request in claim.spec.devices.requests or ():
        worst: Counter[str] = Counter()
        for option in _list_options(request):
            worst |= Counter({option.device_class_name: _count_option(option)})
        total += worst
    return total


def _list_options(request: DeviceRequest) -> Iterator[ExactDeviceRequest | DeviceSubRequest]:
    if request.exactly is not None:
        yield request.exactly
    yield from request.first_available


def _count_option(option: ExactDeviceRequest | DeviceSubRequest) -> int:
    if option.allocation_mode == "All":
        return _MOST_DEVICES
    return option.count if option.allocation_mode == "ExactCount" else 0


def _measure(claim: ResourceClaim, surroundings: Surroundings) -> Amounts:
    """Devices under three names: of the class, of its implicit extended resource, and of the one it declares."""
    charged: dict[str, Quantity] = {_COUNT: ONE}
    extended: Counter[str] = Counter()
    for class_name, devices in count_devices(claim).items():
        charged[class_name + _BY_CLASS] = Quantity.of(devices)
        extended[IMPLICIT_PREFIX + class_name] += devices
        device_class = surroundings.objects.find(DEVICE_CLASS, "", class_name)
        if device_class is not None and device_class.spec.extended_resource_name:
            extended[device_class.spec.extended_resource_name] += devices
    owner = _find_charged_pod(claim, surroundings) if extended else None
    paid = sum_pod_requests(owner.spec) if owner is not None else {}
    for resource, devices in extended.items():
        rest = Quantity.of(devices) - paid.get(resource, ZERO)
        if rest.sign > 0:
            charged[REQUESTS_PREFIX + resource] = rest
    return charged


def _find_charged_pod(claim: ResourceClaim, surroundings: Surroundings) -> Pod | None:
    """The pod whose request for an extended resource the claim fulfils, and which has been charged for it."""
    owner = _find_pod_reference(claim)
    if owner is None:
        return None
    pod = surroundings.objects.find(POD, claim.metadata.namespace, owner.name)
    if pod is None or pod.metadata.uid != owner.uid:
        return None
    status = pod.status.extended_resource_claim_status
    if status is not None:
        return pod if status.resource_claim_name == claim.metadata.name else None
    # Until the pod says which claim is its own, it is the oldest: later ones are leftovers of failed attempts.
    rivals = surroundings.objects.list(RESOURCE_CLAIM, claim.metadata.namespace)
    age = _age(claim)
    is_oldest = all(_age(rival) >= age for rival in rivals if _find_pod_reference(rival) == owner)
    return pod if is_oldest else None


def _find_pod_reference(claim: ResourceClaim) -> OwnerReference | None:
    if claim.metadata.annotations.get(_FOR_EXTENDED_RESOURCES) != "true":
        return None
    for owner in claim.metadata.owner_references:
        if owner.controller and owner.kind == "Pod" and owner.api_version == "v1":
            return owner
    return None


def _age(claim: ResourceClaim) -> tuple[int, str]:
    created = claim.metadata.creation_timestamp
    return (created.unix_seconds if created is not None else 0, claim.metadata.name)


CLAIM_METER: Final[Meter[ResourceClaim]] = Meter(
    kind=RESOURCE_CLAIM, covers=_covers, measure=_measure, charges_updates=True
)
"""How claims are charged."""

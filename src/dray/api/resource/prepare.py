"""What each way of writing may not touch, and what the server keeps up itself.

Preparing comes before checking: an update of the object leaves its status as stored, an update of the status leaves all
else, and changes of a spec are counted where the kind counts them.
"""

from collections.abc import Set as AbstractSet
from typing import TypeVar

from msgspec.structs import replace

from dray.api.meta import ObjectMeta
from dray.api.resource.allocation import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.equality import is_same
from dray.api.resource.poolstatus import ResourcePoolStatusRequest
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule, DeviceTaintRuleStatus
from dray.values.times import Time

__all__ = [
    "prepare_claim_create",
    "prepare_claim_status",
    "prepare_claim_update",
    "prepare_class_update",
    "prepare_pool_status_request_create",
    "prepare_pool_status_request_status",
    "prepare_pool_status_request_update",
    "prepare_slice_update",
    "prepare_taint_rule_create",
    "prepare_taint_rule_status",
    "prepare_taint_rule_update",
    "restore_metadata",
]

Counted = TypeVar("Counted", ResourceSlice, DeviceClass, DeviceTaintRule)
DeviceKey = tuple[str, str, str, str | None]
"""Driver, pool, device, share."""


def restore_metadata(new: ObjectMeta, old: ObjectMeta) -> ObjectMeta:
    """Metadata as a write of the status leaves it: what users set stays as stored."""
    return replace(
        new,
        deletion_timestamp=old.deletion_timestamp,
        generation=old.generation,
        self_link=old.self_link,
        labels=old.labels,
        annotations=old.annotations,
        finalizers=old.finalizers,
        owner_references=old.owner_references,
    )


def _count_change(new: Counted, old: Counted) -> Counted:
    """Raise the generation if the spec means something else than before."""
    generation = old.metadata.generation + (not is_same(new.spec, old.spec))
    return replace(new, metadata=replace(new.metadata, generation=generation))


def prepare_claim_create(new: ResourceClaim) -> ResourceClaim:
    """Nobody is born with devices."""
    return replace(new, status=ResourceClaimStatus())


def prepare_claim_update(new: ResourceClaim, old: ResourceClaim, now: Time) -> ResourceClaim:
    """Keep the stored status."""
    return replace(new, status=old.status)


def prepare_claim_status(new: ResourceClaim, old: ResourceClaim, now: Time) -> ResourceClaim:
    """Keep all but the status, and forget what drivers reported of devices that the claim has just lost.

    Reports of devices that it never had stay, for a check to refuse.
    """
    lost = _device_keys(old.status.allocation) - _device_keys(new.status.allocation)
    reported = tuple(each for each in new.status.devices if _device_key(each) not in lost)
    return replace(
        new,
        metadata=restore_metadata(new.metadata, old.metadata),
        spec=old.spec,
        status=replace(new.status, devices=reported),
    )


def _device_keys(allocation: AllocationResult | None) -> AbstractSet[DeviceKey]:
    return {_device_key(result) for result in allocation.devices.results} if allocation else frozenset()


def _device_key(device: AllocatedDeviceStatus | DeviceRequestAllocationResult) -> DeviceKey:
    return device.driver, device.pool, device.device, device.share_id


def prepare_slice_update(new: ResourceSlice, old: ResourceSlice, now: Time) -> ResourceSlice:
    """Count the change."""
    return _count_change(new, old)


def prepare_class_update(new: DeviceClass, old: DeviceClass, now: Time) -> DeviceClass:
    """Count the change."""
    return _count_change(new, old)


def prepare_taint_rule_create(new: DeviceTaintRule) -> DeviceTaintRule:
    """Start without a status."""
    return replace(new, status=DeviceTaintRuleStatus())


def prepare_taint_rule_update(new: DeviceTaintRule, old: DeviceTaintRule, now: Time) -> DeviceTaintRule:
    """Keep the stored status, count the change, and date the taint anew if its effect is another one.

    A client that changes the date as well gets the date it sent.
    """
    taint, before = new.spec.taint, old.spec.taint
    if taint.effect != before.effect and taint.time_added == before.time_added:
        new = replace(new, spec=replace(new.spec, taint=replace(taint, time_added=now)))
    return _count_change(replace(new, status=old.status), old)


def prepare_taint_rule_status(new: DeviceTaintRule, old: DeviceTaintRule, now: Time) -> DeviceTaintRule:
    """Keep all but the status."""
    return replace(new, metadata=restore_metadata(new.metadata, old.metadata), spec=old.spec)


def prepare_pool_status_request_create(new: ResourcePoolStatusRequest) -> ResourcePoolStatusRequest:
    """Start without an answer."""
    return replace(new, status=None)


def prepare_pool_status_request_update(
    new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest, now: Time
) -> ResourcePoolStatusRequest:
    """Keep the stored answer."""
    return replace(new, status=old.status)


def prepare_pool_status_request_status(
    new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest, now: Time
) -> ResourcePoolStatusRequest:
    """Keep all but the answer."""
    return replace(new, metadata=restore_metadata(new.metadata, old.metadata), spec=old.spec)

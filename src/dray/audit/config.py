"""Which configuration goes with an allocation: of classes, in the order of requests, then the claim's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dray.api.resource.allocation import AllocationConfigSource, DeviceAllocationConfiguration
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.audit.wishes import Wish

__all__ = ["expected_config"]


def expected_config(
    claim: ResourceClaim, served: Sequence[Wish], class_of: Callable[[Wish], DeviceClass | None]
) -> tuple[DeviceAllocationConfiguration, ...]:
    """The configuration of a claim whose requests were served as the wishes `served` say, one each, in their order."""
    references_by_class: dict[str, list[str]] = {}
    for wish in served:
        references_by_class.setdefault(wish.terms.device_class_name, []).append(wish.reference)
    entries = [
        DeviceAllocationConfiguration(
            source=AllocationConfigSource.CLASS, requests=_unless_all(references, served), opaque=config.opaque
        )
        for wish in served
        if (references := references_by_class.pop(wish.terms.device_class_name, None)) is not None
        and (device_class := class_of(wish)) is not None
        for config in device_class.spec.config
    ]
    entries += [
        DeviceAllocationConfiguration(
            source=AllocationConfigSource.CLAIM, requests=_unless_all(config.requests, served), opaque=config.opaque
        )
        for config in claim.spec.devices.config
        if not config.requests or any(wish.is_named_in(config.requests) for wish in served)
    ]
    return tuple(entries)


def _unless_all(references: Sequence[str], served: Sequence[Wish]) -> tuple[str, ...]:
    """The references, or none, which means all, if they cover every request."""
    return () if all(wish.is_named_in(references) for wish in served) else tuple(references)

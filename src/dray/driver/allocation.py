"""From a claim as the API server has it to what one driver is to prepare.

Pure: the same claim always gives the same devices in the same order. Refusals are `ClaimRefused`, with the words that
the pod's event shows.
"""

from collections.abc import Iterable, Sequence

from dray.api.resource.allocation import (
    AllocationConfigSource,
    DeviceAllocationConfiguration,
    DeviceRequestAllocationResult,
)
from dray.api.resource.claim import ResourceClaim
from dray.driver.claims import AllocatedDevice, ClaimRef, DeviceKey
from dray.driver.config import ConfigError, DriverConfig, decode_config
from dray.errors import DrayError

__all__ = ["ClaimRefused", "check_current", "find_overlap", "get_base_request", "list_allocated_devices"]


class ClaimRefused(DrayError):
    """The claim cannot be prepared as it is."""


def get_base_request(request: str) -> str:
    """The request of `request/alternative`."""
    return request.partition("/")[0]


def check_current(claim: ResourceClaim, wanted: ClaimRef) -> None:
    """Refuse a claim that is another one under the same name, or has no devices."""
    if claim.metadata.uid != wanted.uid:
        raise ClaimRefused(f"claim {wanted} got replaced: its uid is {claim.metadata.uid}, not {wanted.uid}")
    if claim.status.allocation is None:
        raise ClaimRefused(f"claim {wanted} not allocated")


def list_allocated_devices(
    claim: ResourceClaim, driver: str, config_kinds: Sequence[type[DriverConfig]]
) -> tuple[AllocatedDevice, ...]:
    """The devices of one driver in an allocated claim, in the order of its results, with their configuration.

    Every configuration for the driver is decoded, used or not: one that nobody can read is a mistake someone wants to
    hear about. Raises ClaimRefused.
    """
    if claim.status.allocation is None:
        return ()
    devices = claim.status.allocation.devices
    configs = _order_configs(devices.config, driver)
    decoded = [(config, _decode(index, config, config_kinds)) for index, config in configs]
    return tuple(
        _allocated(result, tuple(kept for config, kept in decoded if _is_meant(config, result)))
        for result in devices.results
        if result.driver == driver
    )


def _allocated(result: DeviceRequestAllocationResult, configs: tuple[DriverConfig, ...]) -> AllocatedDevice:
    return AllocatedDevice(
        key=DeviceKey(get_base_request(result.request), result.pool, result.device, result.share_id),
        alternative=result.request.partition("/")[2],
        admin_access=bool(result.admin_access),
        consumed_capacity=result.consumed_capacity,
        configs=configs,
    )


def _order_configs(
    configs: Sequence[DeviceAllocationConfiguration], driver: str
) -> list[tuple[int, DeviceAllocationConfiguration]]:
    """Those for the driver, with their places, the one that counts most first."""
    ours = [(index, each) for index, each in enumerate(configs) if each.opaque is None or each.opaque.driver == driver]
    return sorted(ours, key=lambda each: (each[1].source == AllocationConfigSource.CLAIM, each[0]), reverse=True)


def _decode(index: int, config: DeviceAllocationConfiguration, kinds: Sequence[type[DriverConfig]]) -> DriverConfig:
    at = f"status.allocation.devices.config[{index}]"
    if config.source not in set(AllocationConfigSource):
        raise ClaimRefused(f"{at}.source: unknown source {config.source!r}")
    if config.opaque is None:
        raise ClaimRefused(f"{at}: only opaque configuration is understood")
    try:
        return decode_config(bytes(config.opaque.parameters), kinds)
    except ConfigError as fault:
        raise ClaimRefused(f"{at}.opaque.parameters: {fault}") from fault


def _is_meant(config: DeviceAllocationConfiguration, result: DeviceRequestAllocationResult) -> bool:
    """For all requests, for this one, or for this alternative of it."""
    names = (result.request, get_base_request(result.request))
    return not config.requests or any(request in names for request in config.requests)


def find_overlap(ours: Sequence[AllocatedDevice], theirs: Iterable[DeviceKey]) -> DeviceKey | None:
    """A device that two claims would hold at once, though neither has a share of it."""
    exclusive = {(each.pool, each.name) for each in ours if not each.share_id and not each.admin_access}
    return next((key for key in theirs if not key.share_id and (key.pool, key.device) in exclusive), None)

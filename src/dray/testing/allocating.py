"""Claims as a scheduler leaves them, without a scheduler: the test says which devices they get."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dray.api.meta import ObjectMeta
from dray.api.resource.allocation import (
    AllocationConfigSource,
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
)
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.resource.request import DeviceRequest, DeviceSubRequest, ExactDeviceRequest, OpaqueDeviceConfiguration
from dray.client.port import Client, ObjectName
from dray.driver import ClaimRef, DriverConfig, encode_config, parse_quantity
from dray.testing.apiserver import NAMESPACE_NAME

__all__ = ["Wanted", "allocate", "deallocate", "ref_to"]


class Wanted(Struct, frozen=True, kw_only=True):
    """A device that a claim gets, and under which circumstances."""

    device: str
    request: str = "device"
    pool: str = ""
    """Empty means the node's."""
    config: DriverConfig | Mapping[str, object] | None = None
    """What the claim says to the driver about this request."""
    class_config: DriverConfig | Mapping[str, object] | None = None
    """What the DeviceClass says."""
    share_id: str | None = None
    consumed_capacity: Mapping[str, str] = {}
    admin_access: bool = False


def ref_to(claim: ResourceClaim) -> ClaimRef:
    """What a kubelet calls a claim."""
    metadata = claim.metadata
    return ClaimRef(namespace=metadata.namespace, name=metadata.name, uid=metadata.uid)


async def allocate(client: Client, driver: str, node_name: str, name: str, wanted: Sequence[Wanted]) -> ResourceClaim:
    """Create a claim and give it devices."""
    requests = tuple(_request(name, driver) for name in dict.fromkeys(each.request for each in wanted))
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=requests))
    metadata = ObjectMeta(name=name, namespace=NAMESPACE_NAME)
    created = await client.create(RESOURCE_CLAIM, ResourceClaim(metadata=metadata, spec=spec))
    results = tuple(_result(each, driver, node_name) for each in wanted)
    config = tuple(each for one in wanted for each in _configs(one, driver))
    allocation = AllocationResult(devices=DeviceAllocationResult(results=results, config=config))
    given = replace(created, status=replace(created.status, allocation=allocation))
    return await client.update(RESOURCE_CLAIM, given, subresource="status")


async def deallocate(client: Client, claim: ClaimRef) -> None:
    """Delete a claim, as happens once nobody needs it."""
    await client.delete(RESOURCE_CLAIM, ObjectName(claim.name, claim.namespace))


def _request(name: str, device_class: str) -> DeviceRequest:
    """A request, or one that lists the alternative which is to be chosen."""
    base, _, alternative = name.partition("/")
    if alternative:
        chosen = DeviceSubRequest(name=alternative, device_class_name=device_class)
        return DeviceRequest(name=base, first_available=(chosen,))
    return DeviceRequest(name=base, exactly=ExactDeviceRequest(device_class_name=device_class))


def _result(wanted: Wanted, driver: str, node_name: str) -> DeviceRequestAllocationResult:
    return DeviceRequestAllocationResult(
        request=wanted.request,
        driver=driver,
        pool=wanted.pool or node_name,
        device=wanted.device,
        share_id=wanted.share_id,
        consumed_capacity={name: parse_quantity(text) for name, text in wanted.consumed_capacity.items()},
        admin_access=wanted.admin_access or None,
    )


def _configs(wanted: Wanted, driver: str) -> list[DeviceAllocationConfiguration]:
    given = ((wanted.class_config, AllocationConfigSource.CLASS), (wanted.config, AllocationConfigSource.CLAIM))
    return [
        DeviceAllocationConfiguration(
            source=source,
            requests=(wanted.request,),
            opaque=OpaqueDeviceConfiguration(driver=driver, parameters=msgspec.Raw(_encode(config))),
        )
        for config, source in given
        if config is not None
    ]


def _encode(config: DriverConfig | Mapping[str, object]) -> bytes:
    return encode_config(config) if isinstance(config, DriverConfig) else msgspec.json.encode(config)

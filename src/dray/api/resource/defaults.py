"""What the API server fills in when it decodes an object of `resource.k8s.io`.

Filling in twice changes nothing more, except that `now` moves on: a taint without a time gets the time of the request.
"""

from typing import TypeVar

from msgspec.structs import replace

from dray.api.resource.allocation import ResourceClaimStatus
from dray.api.resource.claim import ResourceClaim, ResourceClaimSpec
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.device import Device, DeviceTaint
from dray.api.resource.poolstatus import ResourcePoolStatusRequest
from dray.api.resource.request import (
    AllocationMode,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    TolerationOperator,
)
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.values.times import Time

__all__ = [
    "DEFAULT_POOL_LIMIT",
    "default_claim",
    "default_claim_spec",
    "default_claim_template",
    "default_pool_status_request",
    "default_slice",
    "default_taint_rule",
]

Demand = TypeVar("Demand", ExactDeviceRequest, DeviceSubRequest)

DEFAULT_POOL_LIMIT = 100
"""Pools in an answer to a ResourcePoolStatusRequest that does not say how many it wants."""


def default_claim(new: ResourceClaim, now: Time) -> ResourceClaim:
    """Fill in modes, counts and operators, also in the tolerations that an allocation copied."""
    return replace(new, spec=default_claim_spec(new.spec), status=_default_status(new.status))


def default_claim_template(new: ResourceClaimTemplate, now: Time) -> ResourceClaimTemplate:
    """Fill in what claims made from the template would get anyway."""
    return replace(new, spec=replace(new.spec, spec=default_claim_spec(new.spec.spec)))


def default_slice(new: ResourceSlice, now: Time) -> ResourceSlice:
    """Date the taints that are not dated."""
    devices = new.spec.devices
    if devices is None or all(taint.time_added is not None for device in devices for taint in device.taints):
        return new
    return replace(new, spec=replace(new.spec, devices=tuple(_default_device(device, now) for device in devices)))


def default_taint_rule(new: DeviceTaintRule, now: Time) -> DeviceTaintRule:
    """Date the taint if it is not dated."""
    return replace(new, spec=replace(new.spec, taint=_default_taint(new.spec.taint, now)))


def default_pool_status_request(new: ResourcePoolStatusRequest, now: Time) -> ResourcePoolStatusRequest:
    """Limit the answer."""
    if new.spec.limit is not None:
        return new
    return replace(new, spec=replace(new.spec, limit=DEFAULT_POOL_LIMIT))


def default_claim_spec(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    """Fill in modes, counts and operators of all requests."""
    if spec.devices.requests is None:
        return spec
    requests = tuple(_default_request(request) for request in spec.devices.requests)
    return replace(spec, devices=replace(spec.devices, requests=requests))


def _default_request(request: DeviceRequest) -> DeviceRequest:
    return replace(
        request,
        exactly=request.exactly and _default_demand(request.exactly),
        first_available=tuple(_default_demand(each) for each in request.first_available),
    )


def _default_demand(demand: Demand) -> Demand:
    mode = demand.allocation_mode or AllocationMode.EXACT_COUNT
    # A count of 0 cannot be told from none and becomes 1 too. Other modes, known or not, have no default count.
    count = demand.count or (1 if mode == AllocationMode.EXACT_COUNT else 0)
    return replace(
        demand,
        allocation_mode=str(mode),
        count=count,
        tolerations=tuple(_default_toleration(each) for each in demand.tolerations),
    )


def _default_toleration(toleration: DeviceToleration) -> DeviceToleration:
    return toleration if toleration.operator else replace(toleration, operator=TolerationOperator.EQUAL.value)


def _default_status(status: ResourceClaimStatus) -> ResourceClaimStatus:
    if status.allocation is None:
        return status
    devices = status.allocation.devices
    results = tuple(
        replace(each, tolerations=tuple(_default_toleration(one) for one in each.tolerations))
        for each in devices.results
    )
    return replace(status, allocation=replace(status.allocation, devices=replace(devices, results=results)))


def _default_device(device: Device, now: Time) -> Device:
    return replace(device, taints=tuple(_default_taint(taint, now) for taint in device.taints))


def _default_taint(taint: DeviceTaint, now: Time) -> DeviceTaint:
    return taint if taint.time_added is not None else replace(taint, time_added=now)

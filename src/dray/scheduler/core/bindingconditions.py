"""Devices that get ready after they were allocated: whether a pod may be bound, must wait, or waits in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from dray.api.meta import Condition
from dray.api.resource.allocation import AllocatedDeviceStatus, DeviceRequestAllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.values.quoting import quote
from dray.values.times import MicroTime

__all__ = ["Readiness", "ReadyState", "deadline_of", "has_binding_conditions", "judge_readiness"]

_TRUE = "True"


class ReadyState(Enum):
    """Where the devices of a claim stand. The values are those of the metrics."""

    READY = "success"
    NOT_READY = "waiting"
    FAILED = "failure"
    TIMED_OUT = "timeout"


class Readiness(NamedTuple):
    """Where the devices of a claim stand, and why it is hopeless if it is."""

    state: ReadyState
    message: str = ""


def has_binding_conditions(claim: ResourceClaim) -> bool:
    """Whether anything allocated to the claim has to get ready."""
    return any(True for _ in _conditional(claim))


def judge_readiness(claim: ResourceClaim, now: MicroTime, timeout_seconds: float) -> Readiness:
    """Whether all devices of an allocated claim are ready. Failures count before time that is up."""
    is_ready = claim.status.allocation is not None
    for result in _conditional(claim):
        status = _find_status(claim, result)
        conditions = {each.type: each for each in (status.conditions or ())} if status is not None else {}
        failed = _first_true(result.binding_failure_conditions, conditions)
        if failed is not None:
            text = f"claim={claim.metadata.name}, reason={failed.reason}, message={quote(failed.message)}"
            return Readiness(ReadyState.FAILED, f"device binding failed: {text}")
        if any(name not in conditions or conditions[name].status != _TRUE for name in result.binding_conditions):
            is_ready = False
            break
    if is_ready:
        return Readiness(ReadyState.READY)
    deadline = deadline_of(claim, timeout_seconds)
    if deadline is not None and deadline < now:
        return Readiness(ReadyState.TIMED_OUT, f"device binding timeout: claim={claim.metadata.name}")
    return Readiness(ReadyState.NOT_READY)


def deadline_of(claim: ResourceClaim, timeout_seconds: float) -> MicroTime | None:
    """When waiting for the claim is in vain; None if it has nothing to wait for, or nobody knows since when."""
    allocation = claim.status.allocation
    if allocation is None or allocation.allocation_timestamp is None or not has_binding_conditions(claim):
        return None
    return allocation.allocation_timestamp.to_micro_time().plus_seconds(timeout_seconds)


def _conditional(claim: ResourceClaim) -> Iterator[DeviceRequestAllocationResult]:
    allocation = claim.status.allocation
    if allocation is not None:
        yield from (result for result in allocation.devices.results if result.binding_conditions)


def _find_status(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    wanted = (result.driver, result.pool, result.device, result.share_id)
    return next(
        (each for each in claim.status.devices if (each.driver, each.pool, each.device, each.share_id) == wanted), None
    )


def _first_true(names: Iterable[str], conditions: dict[str, Condition]) -> Condition | None:
    return next((conditions[name] for name in names if name in conditions and conditions[name].status == _TRUE), None)

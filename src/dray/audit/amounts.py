"""How much of each capacity of a device a request takes, and whether the device can give that at all."""

from __future__ import annotations

from collections.abc import Mapping

from dray.api.resource.device import CapacityRequestPolicy, CapacityRequestPolicyRange, Device, DeviceCapacity
from dray.values.quantity import MAX_INT64, Quantity

__all__ = ["amount_of", "amounts_taken"]

_NANOS_PER_MILLI = 10**6
_NANOS_PER_UNIT = 10**9


def amounts_taken(device: Device, requested: Mapping[str, Quantity]) -> dict[str, Quantity] | None:
    """The amount of every capacity that one allocation takes; None if the device can never serve the request."""
    if not requested.keys() <= device.capacity.keys():
        return None
    amounts: dict[str, Quantity] = {}
    for name, capacity in device.capacity.items():
        amount = amount_of(capacity, requested.get(name))
        if amount is None or amount > capacity.value or not _is_permitted(capacity, amount):
            return None
        amounts[name] = amount
    return amounts


def amount_of(capacity: DeviceCapacity, requested: Quantity | None) -> Quantity | None:
    """What a request makes of one capacity; None if that is negative, or beyond what the policy's range can count."""
    policy = capacity.request_policy
    amount: Quantity | None = requested
    if requested is None:
        amount = capacity.value if policy is None or policy.default is None else policy.default
    elif policy is not None and policy.valid_range is not None and policy.valid_range.min is not None:
        amount = _in_range(policy.valid_range, policy.valid_range.min, requested)
    elif policy is not None:
        amount = min((value for value in policy.valid_values if value >= requested), default=requested)
    return None if amount is None or amount.sign < 0 else amount


def _in_range(valid: CapacityRequestPolicyRange, least: Quantity, requested: Quantity) -> Quantity | None:
    """At least `min`, and `min` plus a whole number of steps; None if 64 bits of the range's unit cannot hold it."""
    if requested < least:
        return least
    if valid.step is None or valid.step.sign <= 0:
        return requested
    unit = _unit_nanos(valid)
    wanted = _units(requested, unit)
    if wanted > MAX_INT64 or (unit == _NANOS_PER_MILLI and requested.as_exact_milli() is None):
        return None
    first, step = _units(least, unit), _units(valid.step, unit)
    rounded = first + (wanted - first + step - 1) // step * step
    return Quantity(rounded * unit, valid.step.family) if rounded <= MAX_INT64 else None


def _is_permitted(capacity: DeviceCapacity, amount: Quantity) -> bool:
    """The amount is the default, or one that the policy allows."""
    policy: CapacityRequestPolicy | None = capacity.request_policy
    if policy is None or amount == policy.default:
        return True
    if policy.valid_values:
        return amount in policy.valid_values
    valid = policy.valid_range
    if valid is None:
        return True
    if valid.max is not None and amount > valid.max:
        return False
    if valid.min is None or valid.step is None or valid.step.sign <= 0:
        return True
    unit = _unit_nanos(valid)
    return (_units(amount, unit) - _units(valid.min, unit)) % _units(valid.step, unit) == 0


def _unit_nanos(valid: CapacityRequestPolicyRange) -> int:
    """A stepped range counts in thousandths if min, max and step can be counted so, else in whole units."""
    bounds = [bound for bound in (valid.min, valid.max, valid.step) if bound is not None]
    return _NANOS_PER_UNIT if any(bound.as_exact_milli() is None for bound in bounds) else _NANOS_PER_MILLI


def _units(quantity: Quantity, unit: int) -> int:
    """How many units a quantity has, a part counting as one."""
    return (quantity.nanos + unit - 1) // unit

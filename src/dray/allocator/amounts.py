"""How much of each capacity a request takes from a device, by the capacity's request policy.

Quantities are exact integers of billionths; nothing here changes one. Ranges with a step are counted in thousandths
where `min`, `max` and `step` allow it, else in whole units, and only within 64 bits: what does not fit is an
`AmountError`, not a device that is passed by.
"""

from __future__ import annotations

from collections.abc import Mapping

from dray.api.resource.device import CapacityRequestPolicy, CapacityRequestPolicyRange, Device, DeviceCapacity
from dray.values.quantity import MAX_INT64, Quantity

__all__ = ["AmountError", "amounts_taken"]

_NANOS = 10**9
_NANOS_PER_MILLI = 10**6


class AmountError(Exception):
    """An amount of a capacity cannot be worked with; stops the whole attempt."""

    def __init__(self, capacity: str, cause: str) -> None:
        super().__init__(capacity, cause)
        self.capacity = capacity
        self.cause = cause

    def __str__(self) -> str:
        return f'capacity "{self.capacity}": {self.cause}'


def amounts_taken(device: Device, requested: Mapping[str, Quantity]) -> dict[str, Quantity] | None:
    """Work out the amount taken of every capacity of `device`; None if the device cannot serve the request at all.

    None means: a capacity is missing, its policy forbids the amount, or the whole device has less. Raises `AmountError`
    for amounts that cannot be represented or are negative, even if another capacity rules the device out.
    """
    capacities = device.capacity
    if any(name not in capacities for name in requested):
        return None
    amounts = {name: _amount(name, capacity, requested.get(name)) for name, capacity in capacities.items()}
    for name, amount in amounts.items():
        capacity = capacities[name]
        if amount > capacity.value or _violates(capacity.request_policy, amount):
            return None
    return amounts


def _amount(name: str, capacity: DeviceCapacity, requested: Quantity | None) -> Quantity:
    policy = capacity.request_policy
    if requested is None:
        amount = policy.default if policy is not None and policy.default is not None else capacity.value
    elif policy is None:
        amount = requested
    else:
        amount = _by_policy(name, policy, requested)
    if amount.nanos < 0:
        raise AmountError(name, "capacity value is negative")
    return amount


def _by_policy(name: str, policy: CapacityRequestPolicy, requested: Quantity) -> Quantity:
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _round_in_range(name, policy.valid_range, policy.valid_range.min, requested)
    # Above every valid value the request stays as it is, and is refused by the policy afterwards.
    return min((value for value in policy.valid_values if value >= requested), default=requested)


def _round_in_range(name: str, valid: CapacityRequestPolicyRange, low: Quantity, requested: Quantity) -> Quantity:
    """Raise to `min`, then up to the next multiple of `step` above it."""
    if requested < low:
        return low
    step = valid.step
    if step is None or step.nanos <= 0:
        return requested
    unit = _unit(valid)
    first, stride, wanted = (_count(each, unit) for each in (low, step, requested))
    if unit == _NANOS_PER_MILLI and requested.nanos % _NANOS_PER_MILLI:
        raise _unrepresentable(name, f"{requested} is finer than one thousandth")
    rounded = first + -(-(wanted - first) // stride) * stride
    if wanted > MAX_INT64 or rounded > MAX_INT64:
        raise _unrepresentable(name, f"{requested} is beyond 64 bits")
    return Quantity(rounded * unit, step.family)


def _unrepresentable(name: str, detail: str) -> AmountError:
    return AmountError(name, f"capacity request cannot be represented in the device's range arithmetic: {detail}")


def _unit(valid: CapacityRequestPolicyRange) -> int:
    """The unit, in billionths, that a stepped range is counted in."""
    ends = (valid.min, valid.max, valid.step)
    is_milli = all(end is None or end.as_exact_milli() is not None for end in ends)
    return _NANOS_PER_MILLI if is_milli else _NANOS


def _count(quantity: Quantity, unit: int) -> int:
    """How many units a quantity is, rounded up."""
    return -(-quantity.nanos // unit)


def _violates(policy: CapacityRequestPolicy | None, amount: Quantity) -> bool:
    if policy is None or amount == policy.default:
        return False
    if policy.valid_values:
        return amount not in policy.valid_values
    valid = policy.valid_range
    if valid is None:
        return False
    if valid.max is not None and amount > valid.max:
        return True
    if valid.min is None or valid.step is None or valid.step.nanos <= 0:
        return False
    unit = _unit(valid)
    return (_count(amount, unit) - _count(valid.min, unit)) % _count(valid.step, unit) != 0

"""Capacities of devices, and the policies that say which amounts requests may take of them."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.names import check_qualified_name, shorten_key
from dray.api.resource.checks.report import Report
from dray.api.resource.device import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from dray.errors import FieldError, forbidden, invalid, required
from dray.values.fieldpath import FieldPath, key
from dray.values.quantity import Quantity

__all__ = ["inspect_capacities"]

_MAX_VALID_VALUES = 10
_NANOS = 10**9
_MAX_INT64 = 2**63 - 1
_BOTH = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def inspect_capacities(
    capacities: Mapping[str, DeviceCapacity], path: FieldPath, report: Report, *, is_shareable: bool
) -> None:
    """Names are sound, and only a device that allows several allocations has request policies."""
    for name, capacity in capacities.items():
        report.add_all(check_qualified_name(name, path))
        policy = capacity.request_policy
        if policy is None:
            continue
        at = path / key(shorten_key(name)) / "requestPolicy"
        if is_shareable:
            _inspect_policy(policy, capacity.value, at, report)
        else:
            hint = "set allowMultipleAllocations to true, or remove requestPolicy"
            report.add(forbidden(at, "allowMultipleAllocations must be true", hint=hint))


def _inspect_policy(policy: CapacityRequestPolicy, capacity: Quantity, path: FieldPath, report: Report) -> None:
    """A policy has values or a range, and a default that fits them. Without either the default is not looked at."""
    if policy.valid_values and policy.valid_range is not None:
        report.add(forbidden(path, _BOTH, hint="remove validValues, or remove validRange"))
    elif policy.valid_values:
        if policy.default is None:
            report.add(required(path / "default", "required when validValues is defined"))
        else:
            _inspect_values(policy.valid_values, policy.default, capacity, path / "validValues", report)
    elif policy.valid_range is not None:
        if policy.default is None:
            report.add(required(path / "default", "required when validRange is defined"))
        else:
            report.add_all(_range_faults(policy.valid_range, policy.default, capacity, path / "validRange"))


def _inspect_values(
    values: tuple[Quantity, ...], default: Quantity, capacity: Quantity, path: FieldPath, report: Report
) -> None:
    for index, (value, following) in enumerate(pairwise(values), start=1):
        if value > following:
            report.add(invalid(path / index, str(following), "values must be sorted in ascending order"))
    if fits(values, _MAX_VALID_VALUES, path, report.add):
        for index, value in enumerate(values):
            if value > capacity:
                detail = f"option is larger than capacity value: {capacity}"
                report.add(invalid(path / index, str(value), detail))
        note_duplicates(values, [_format_decimal(value) for value in values], path, report.add)
    if default not in values[:_MAX_VALID_VALUES] or len(values) > _MAX_VALID_VALUES:
        detail = "default value is not valid according to the requestPolicy"
        report.add(invalid(path, str(default), detail, hint="make default one of the validValues"))


def _range_faults(
    amounts: CapacityRequestPolicyRange, default: Quantity, capacity: Quantity, path: FieldPath
) -> Iterator[FieldError]:
    least = amounts.min
    if least is None:
        yield required(path / "min", "required when validRange is defined")
        return
    if least > capacity:
        yield invalid(path / "min", str(least), f"min is larger than capacity value: {capacity}")
    if default < least:
        yield invalid(path / "default", str(default), f"default is less than min: {least}")
    if amounts.max is not None:
        yield from _maximum_faults(amounts.max, least, default, capacity, path)
    yield from _grid_faults(amounts, least, default, capacity, path)


def _maximum_faults(
    most: Quantity, least: Quantity, default: Quantity, capacity: Quantity, path: FieldPath
) -> Iterator[FieldError]:
    if least > most:
        yield invalid(path / "max", str(least), f"min is larger than max: {most}")
    if most > capacity:
        yield invalid(path / "max", str(most), f"max is larger than capacity value: {capacity}")
    if default > most:
        yield invalid(path / "default", str(default), f"default is more than max: {most}")


def _grid_faults(
    amounts: CapacityRequestPolicyRange, least: Quantity, default: Quantity, capacity: Quantity, path: FieldPath
) -> Iterator[FieldError]:
    """Amounts can be counted, in thousandths as soon as one of them is a fraction, and lie on the grid."""
    named = {"default": default, "min": least, "max": amounts.max, "step": amounts.step}
    given = {name: amount for name, amount in named.items() if amount is not None}
    is_fractional = any(amount.nanos % _NANOS for amount in given.values())
    if is_fractional:
        unsafe = list(_milli_faults(given, path))
        yield from unsafe
        if unsafe:
            return
    if amounts.step is not None:
        yield from _step_faults(given, amounts.step, capacity, path, is_fractional=is_fractional)


def _step_faults(
    given: Mapping[str, Quantity], step: Quantity, capacity: Quantity, path: FieldPath, *, is_fractional: bool
) -> Iterator[FieldError]:
    """One step up from the minimum is possible, and default and maximum lie on the grid."""
    if step.sign <= 0:
        yield invalid(path / "step", str(step), "must be greater than zero")
        return
    least = given["min"]
    one_step = least + step
    if one_step > capacity:
        yield invalid(path / "step", str(step), f"one step {one_step} is larger than capacity value: {capacity}")
    if not is_fractional:
        unsafe = list(_integer_faults(given, path))
        yield from unsafe
        if unsafe:
            return
    for name in ("default", "max"):
        amount = given.get(name)
        if amount is not None and (amount.nanos - least.nanos) % step.nanos:
            detail = f"value is not a multiple of a given step ({step}) from ({least})"
            yield invalid(path / "step", str(amount), detail, hint=f"make {name} min plus a multiple of step")


def _milli_faults(given: Mapping[str, Quantity], path: FieldPath) -> Iterator[FieldError]:
    # Fractional grids are counted in thousandths of 64 bits; finer or larger amounts have no place on them.
    for name, amount in given.items():
        if amount.as_exact_milli() is None:
            yield invalid(path / name, str(amount), "value cannot be represented as a milli value")


def _integer_faults(given: Mapping[str, Quantity], path: FieldPath) -> Iterator[FieldError]:
    # Other grids are counted in non-negative integers of 64 bits.
    for name, amount in given.items():
        if amount.sign < 0:
            yield invalid(path / name, str(amount), "must be greater than or equal to 0")
        elif amount.nanos > _MAX_INT64 * _NANOS:
            yield invalid(path / name, str(amount), f"must not be larger than {_MAX_INT64}")


def _format_decimal(amount: Quantity) -> str:
    """Print the plain number, without suffix."""
    whole, rest = divmod(abs(amount.nanos), _NANOS)
    text = f"{whole}.{rest:09d}".rstrip("0").rstrip(".")
    return f"-{text}" if amount.sign < 0 else text

"""Quantities and versions, on dray's own exact types."""

from __future__ import annotations

from dray.cel.errors import EvaluationError
from dray.cel.functions import Overload, declare
from dray.cel.values import Sum, Value
from dray.values.quantity import Quantity, QuantityError, parse_quantity
from dray.values.semver import Semver, SemverError, parse_semver

__all__ = ["AUTHORIZATION", "QUANTITIES", "SEMVERS"]


def _parse_quantity(text: str) -> Quantity:
    try:
        return parse_quantity(text)
    except QuantityError as error:
        raise EvaluationError(error.message) from None


def _is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except QuantityError:
        return False
    return True


def _plain(value: Quantity | Sum) -> Quantity:
    return value.quantity if isinstance(value, Sum) else value


def _compare(one: Quantity | Sum, other: Quantity | Sum) -> int:
    first, second = _plain(one), _plain(other)
    return (first > second) - (first < second)


def _as_integer(value: Quantity | Sum) -> int:
    number = _plain(value).as_integer()
    if number is None:
        raise EvaluationError("cannot convert value to integer")
    return number


def _add(one: Quantity | Sum, other: Quantity | Sum | int) -> Sum:
    return Sum(_plain(one) + _amount(other))


def _subtract(one: Quantity | Sum, other: Quantity | Sum | int) -> Sum:
    return Sum(_plain(one) - _amount(other))


def _amount(value: Quantity | Sum | int) -> Quantity:
    return Quantity.of(value) if isinstance(value, int) else _plain(value)


QUANTITIES: list[Overload] = declare(
    ("string_to_quantity: quantity(string) -> Quantity", _parse_quantity),
    ("is_quantity_string: isQuantity(string) -> bool", _is_quantity),
    ("quantity_sign: sign(Quantity) -> int", lambda value: _plain(value).sign),
    ("quantity_is_greater_than: Quantity::isGreaterThan(Quantity) -> bool", lambda a, b: _compare(a, b) > 0),
    ("quantity_is_less_than: Quantity::isLessThan(Quantity) -> bool", lambda a, b: _compare(a, b) < 0),
    ("quantity_compare_to: Quantity::compareTo(Quantity) -> int", _compare),
    (
        "quantity_get_float: Quantity::asApproximateFloat() -> double",
        lambda value: _plain(value).as_approximate_float(),
    ),
    ("quantity_get_int: Quantity::asInteger() -> int", _as_integer),
    ("quantity_is_integer: Quantity::isInteger() -> bool", lambda value: _plain(value).is_integer),
    ("quantity_add: Quantity::add(Quantity) -> Quantity", _add),
    ("quantity_add_int: Quantity::add(int) -> Quantity", _add),
    ("quantity_sub: Quantity::sub(Quantity) -> Quantity", _subtract),
    ("quantity_sub_int: Quantity::sub(int) -> Quantity", _subtract),
)


def _parse_semver(text: str, normalise: Value = False) -> Semver:
    try:
        return parse_semver(text, normalise=bool(normalise))
    except SemverError as error:
        raise EvaluationError(str(error)) from None


def _is_semver(text: str, normalise: Value = False) -> bool:
    try:
        parse_semver(text, normalise=bool(normalise))
    except SemverError:
        return False
    return True


SEMVERS: list[Overload] = declare(
    ("string_to_semver: semver(string) -> Semver", _parse_semver),
    ("string_bool_to_semver: semver(string, bool) -> Semver", _parse_semver),
    ("is_semver_string: isSemver(string) -> bool", _is_semver),
    ("is_semver_string_bool: isSemver(string, bool) -> bool", _is_semver),
    ("semver_is_greater_than: Semver::isGreaterThan(Semver) -> bool", lambda a, b: a > b),
    ("semver_is_less_than: Semver::isLessThan(Semver) -> bool", lambda a, b: a < b),
    ("semver_compare_to: Semver::compareTo(Semver) -> int", lambda a, b: (a > b) - (a < b)),
    ("semver_major: Semver::major() -> int", lambda version: version.major),
    ("semver_minor: Semver::minor() -> int", lambda version: version.minor),
    ("semver_patch: Semver::patch() -> int", lambda version: version.patch),
)


def _no_authorizer(*_: Value) -> Value:
    """Kubernetes declares these in every environment; no device expression has an authorizer to call them on."""
    raise EvaluationError("no such overload")


AUTHORIZATION: list[Overload] = declare(
    *(
        (signature, _no_authorizer)
        for signature in (
            "authorizer_path: Authorizer::path(string) -> PathCheck",
            "authorizer_group: Authorizer::group(string) -> GroupCheck",
            "authorizer_serviceaccount: Authorizer::serviceAccount(string, string) -> Authorizer",
            "groupcheck_resource: GroupCheck::resource(string) -> ResourceCheck",
            "resourcecheck_subresource: ResourceCheck::subresource(string) -> ResourceCheck",
            "resourcecheck_namespace: ResourceCheck::namespace(string) -> ResourceCheck",
            "resourcecheck_name: ResourceCheck::name(string) -> ResourceCheck",
            "pathcheck_check: PathCheck::check(string) -> Decision",
            "resourcecheck_check: ResourceCheck::check(string) -> Decision",
            "decision_errored: Decision::errored() -> bool",
            "decision_error: Decision::error() -> string",
            "decision_allowed: Decision::allowed() -> bool",
            "decision_reason: Decision::reason() -> string",
            "authorizer_fieldselector: ResourceCheck::fieldSelector(string) -> ResourceCheck",
            "authorizer_labelselector: ResourceCheck::labelSelector(string) -> ResourceCheck",
        )
    )
)

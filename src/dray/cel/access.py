"""Fields and indices: `a.b`, `a[b]`, `a.?b`, `has(a.b)`.

Along a chain a `?` makes what follows optional too: an absent step ends it quietly, in an absent value.
"""

from __future__ import annotations

from dray.cel.errors import EvaluationError
from dray.cel.library.standard import describe
from dray.cel.values import INT_MAX, NONE, MapValue, Optional, Uint, Value, type_name

__all__ = ["check_key", "index_value", "is_field_present", "select_field"]

_GO_TYPES = {
    "bytes": "types.Bytes",
    "google.protobuf.Duration": "types.Duration",
    "google.protobuf.Timestamp": "types.Timestamp",
    "kubernetes.NamedFormat": "cel.Format",
    "kubernetes.Quantity": "cel.Quantity",
    "kubernetes.Semver": "cel.Semver",
    "kubernetes.URL": "cel.URL",
    "list": "*types.baseList",
    "map": "*types.baseMap",
    "net.CIDR": "cel.CIDR",
    "net.IP": "cel.IP",
    "null_type": "types.Null",
    "optional_type": "*types.Optional",
    "type": "*types.Type",
}
"""What messages call the types that nothing can be looked up by."""


def check_key(key: Value) -> None:
    """Refuse what nothing can be looked up by."""
    if not isinstance(key, str | int | float):
        name = type_name(key)
        raise EvaluationError(f"invalid qualifier type: {_GO_TYPES.get(name, name)}")


def select_field(value: Value, name: str) -> Value:
    """`value.name`."""
    if isinstance(value, MapValue):
        is_found, found = value.find(name)
        if is_found:
            return found
        raise _no_such_key(name)
    return index_value(value, name, is_optional=False)


def index_value(value: Value, key: Value, *, is_optional: bool) -> Value:
    """`value[key]`, or `value[?key]` with `is_optional`; an optional value yields an optional one."""
    check_key(key)
    if isinstance(value, Optional):
        if not value.is_present:
            return NONE
        value, is_optional = value.value, True
    is_found, found = _look_up(value, key, is_optional=is_optional)
    if is_optional:
        return Optional(found, is_present=True) if is_found else NONE
    return found


def is_field_present(value: Value, name: str) -> bool:
    """`has(value.name)`: of what has no fields, nothing is present."""
    if isinstance(value, Optional):
        if not value.is_present:
            return False
        value = value.value
    return _look_up(value, name, is_optional=True)[0]


def _look_up(value: Value, key: Value, *, is_optional: bool) -> tuple[bool, Value]:
    if isinstance(value, MapValue):
        is_found, found = value.find(key)
        if not is_found and not is_optional:
            raise _no_such_key(key)
        return is_found, found
    if isinstance(value, tuple):
        at = _position(key)
        if 0 <= at < len(value):
            return True, value[at]
        if not is_optional:
            raise EvaluationError(f"index out of bounds: {describe(key)}")
        return False, None
    if not is_optional:
        raise _no_such_key(key)
    return False, None


def _no_such_key(key: Value) -> EvaluationError:
    return EvaluationError(f"no such key: {describe(key)}")


def _position(key: Value) -> int:
    if type(key) is int:
        return key
    if isinstance(key, Uint) and key <= INT_MAX:
        return int(key)
    if isinstance(key, float) and key.is_integer() and abs(key) <= INT_MAX:
        return int(key)
    if isinstance(key, Uint | float):
        raise EvaluationError(f"unsupported index value {describe(key)} in list")
    raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")

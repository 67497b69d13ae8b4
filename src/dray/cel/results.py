"""What an expression came to, as the API needs it: a truth value, or the value of an attribute."""

from __future__ import annotations

from dray.api.resource.device import DeviceAttribute
from dray.cel.errors import RuntimeFault
from dray.cel.values import NOTHING_THERE, Optional, Uint, Value, type_name
from dray.values.semver import Semver

__all__ = ["to_attribute", "to_bool"]

_NO_BOOL = {
    "int": "unsupported type conversion from 'int' to bool",
    "uint": "unsupported type conversion from 'uint' to bool",
    "double": "type conversion error from Double to 'bool'",
    "string": "unsupported native conversion from string to 'bool'",
    "bytes": "type conversion error from Bytes to 'bool'",
    "list": "type conversion error from list to 'bool'",
    "map": "type conversion error from map to 'bool'",
    "null_type": "type conversion error from 'null_type' to 'bool'",
    "google.protobuf.Duration": "type conversion error from 'Duration' to 'bool'",
    "google.protobuf.Timestamp": "type conversion error from 'Timestamp' to 'bool'",
    "kubernetes.Semver": "type conversion error from 'Semver' to 'bool'",
    "kubernetes.Quantity": "type conversion error from 'Quantity' to 'bool'",
    "kubernetes.NamedFormat": "type conversion error from 'Format' to 'bool'",
    "kubernetes.URL": "type conversion error from 'URL' to 'bool'",
    "net.IP": "type conversion error from 'IP' to 'bool'",
    "net.CIDR": "type conversion error from 'CIDR' to 'bool'",
    "type": "type conversion not supported for 'type'",
}

_GO_TYPES = {
    "bool": "bool",
    "int": "int64",
    "uint": "uint64",
    "double": "float64",
    "string": "string",
    "bytes": "[]uint8",
    "null_type": "structpb.NullValue",
    "kubernetes.Semver": "semver.Version",
    "kubernetes.Quantity": "*resource.Quantity",
    "google.protobuf.Duration": "time.Duration",
    "google.protobuf.Timestamp": "time.Time",
}
_SCALARS = {"bool": "bool", "int": "int64", "string": "string", "kubernetes.Semver": "semver"}
"""What a list may hold, and what messages call it."""


def to_bool(value: Value) -> bool | RuntimeFault:
    """The answer of a selector."""
    kind = type_name(value)
    while isinstance(value, Optional) and value.is_present:
        value = value.value
    if isinstance(value, bool):
        return value
    if isinstance(value, Optional):
        cause = NOTHING_THERE
    else:
        cause = _NO_BOOL.get(type_name(value), f"type conversion error from '{type_name(value)}' to 'bool'")
    return RuntimeFault(f"CEL result of type {kind} could not be converted to bool: {cause}")


def to_attribute(value: Value) -> DeviceAttribute | RuntimeFault:
    """The value of a derived attribute."""
    match value:
        case bool():
            return DeviceAttribute(bool=value)
        case int() if not isinstance(value, Uint):
            return DeviceAttribute(int=value)
        case str():
            return DeviceAttribute(string=value)
        case Semver():
            return DeviceAttribute(version=str(value))
        case tuple():
            return _to_list(value)
        case _:
            return RuntimeFault(f"unsupported CEL return type: {_go_type(value)}")


def _to_list(values: tuple[Value, ...]) -> DeviceAttribute | RuntimeFault:
    if not values:
        return DeviceAttribute(strings=())
    kind = type_name(values[0])
    if kind not in _SCALARS:
        return RuntimeFault(f"unsupported list element type: {_go_type(values[0])}")
    for at, each in enumerate(values):
        if type_name(each) != kind:
            return RuntimeFault(f"expected list element at index {at} to be {_SCALARS[kind]}, got {_go_type(each)}")
    match kind:
        case "bool":
            return DeviceAttribute(bools=tuple(bool(each) for each in values))
        case "int":
            return DeviceAttribute(ints=tuple(each for each in values if isinstance(each, int)))
        case "string":
            return DeviceAttribute(strings=tuple(map(str, values)))
        case _:
            return DeviceAttribute(versions=tuple(map(str, values)))


def _go_type(value: Value) -> str:
    kind = type_name(value)
    return _GO_TYPES.get(kind, kind)

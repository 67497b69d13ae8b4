"""The shapes of v1beta1 that differ from v1, and the way between them.

Two types differ. A request has the fields of `exactly` inline, beside `firstAvailable`; a device has all fields but
its name under `basic`. Both are derived from the declared types: a field added there is here too. Besides, the
`nodeName: ""` and `allNodes: false` of a slice mean that they are not set.

The way is total in both directions, and from v1 to here and back is the identity, except for what v1beta1 has no words
for: an `exactly` in which nothing is set, an empty node name, `allNodes: false`. All of those are refused in v1.
"""

from collections.abc import Callable
from types import new_class
from typing import Annotated, Any, get_args

import msgspec
from msgspec import NODEFAULT, Meta
from msgspec.structs import FieldInfo

from dray.api.kind import JsonObject, Upgrade
from dray.api.resource import device, request
from dray.api.struct import ApiStruct, always

__all__ = ["CLAIM", "CLAIM_TEMPLATE", "SLICE", "BasicDevice", "Device", "DeviceRequest"]

_INLINE = tuple(field.encode_name for field in msgspec.structs.fields(request.ExactDeviceRequest))
"""Wire names of what a v1beta1 request holds itself."""

_Field = tuple[str, Any, Any]
"""Name, type and default of a field."""
_Rewrite = Callable[[JsonObject], JsonObject]


def _copy(field: FieldInfo) -> _Field:
    """The same field for another type."""
    if field.default is not NODEFAULT:
        return field.name, field.type, msgspec.field(default=field.default, name=field.encode_name)
    return field.name, field.type, msgspec.field(default_factory=field.default_factory, name=field.encode_name)


def _keep_empty(field: FieldInfo) -> _Field:
    """The same field, but an empty list is something else than none.

    `exactly` exists as soon as one of its fields does, and an empty list is enough for that.
    """
    if field.default != ():
        return _copy(field)
    listed, meta = get_args(field.type)
    return field.name, Annotated[listed | None, meta], msgspec.field(default=None, name=field.encode_name)


def _copies(declared: type[ApiStruct]) -> dict[str, _Field]:
    return {field.name: _copy(field) for field in msgspec.structs.fields(declared)}


def _derive(name: str, doc: str, *fields: _Field) -> type[ApiStruct]:
    """Make a type of v1beta1, as a class statement with these fields would."""
    namespace: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": doc,
        "__annotations__": {field: type_ for field, type_, _ in fields},
        **{field: default for field, _, default in fields},
    }
    derived = new_class(name, (ApiStruct,), exec_body=lambda body: body.update(namespace))
    assert issubclass(derived, ApiStruct)
    return derived


_device = _copies(device.Device)
_request = _copies(request.DeviceRequest)

BasicDevice = _derive(
    "BasicDevice",
    "A device without its name.",
    *(copied for name, copied in _device.items() if name != "name"),
)

Device = _derive(
    "Device",
    "A name, and a device that bears it. Without `basic` the device has no properties.",
    _device["name"],
    ("basic", Annotated[BasicDevice | None, Meta(description="All properties of the device but its name.")], None),
)

DeviceRequest = _derive(
    "DeviceRequest",
    """A named demand for devices, either by the fields that stand here or by alternatives.

    Once any of the fields between `name` and `first_available` is set, even to an empty list, the request is exact.
    """,
    _request["name"],
    (
        "device_class_name",
        Annotated[
            str,
            Meta(
                description="DeviceClass whose selectors and configuration apply besides those given here. "
                "Required unless there are alternatives."
            ),
        ],
        always(str),
    ),
    *(
        _keep_empty(field)
        for field in msgspec.structs.fields(request.ExactDeviceRequest)
        if field.name != "device_class_name"
    ),
    _request["first_available"],
)


def _nest(old: JsonObject) -> JsonObject:
    """A request of v1beta1 as v1 has it."""
    declared = {name: value for name, value in old.items() if name not in _INLINE}
    inline = {name: old[name] for name in _INLINE if old.get(name) is not None}
    # Empty text and zero count as absent; empty lists, empty objects and `adminAccess: false` do not.
    if any(value is False or value not in ("", 0) for value in inline.values()):
        declared["exactly"] = {name: value for name, value in inline.items() if value != []}
    return declared


def _inline(declared: JsonObject) -> JsonObject:
    """A request of v1 as v1beta1 has it, which writes the class name even where there is none."""
    exactly = declared.get("exactly") or {"deviceClassName": ""}
    return {"name": declared["name"], **exactly} | {
        name: value for name, value in declared.items() if name != "exactly"
    }


def _flatten(old: JsonObject) -> JsonObject:
    """A device of v1beta1 as v1 has it."""
    return {"name": old["name"], **(old.get("basic") or {})}


def _wrap(declared: JsonObject) -> JsonObject:
    """A device of v1 as v1beta1 has it."""
    return {
        "name": declared["name"],
        "basic": {name: value for name, value in declared.items() if name != "name"},
    }


def _rewrite_items(path: tuple[str, ...], rewrite: _Rewrite) -> _Rewrite:
    """Apply a rewrite to each item of the list at `path` of an object."""
    *parents, last = path

    def rewrite_object(whole: JsonObject) -> JsonObject:
        holder = whole
        for name in parents:
            holder = holder.get(name) or {}
        if holder.get(last):
            holder[last] = [rewrite(item) for item in holder[last]]
        return whole

    return rewrite_object


def _upgrade_requests(*path: str) -> Upgrade:
    return Upgrade(
        replaced={request.DeviceRequest: DeviceRequest},
        to_declared=_rewrite_items(path, _nest),
        from_declared=_rewrite_items(path, _inline),
    )


def _drop_zero_nodes(piece: JsonObject) -> JsonObject:
    """Take `nodeName: ""` and `allNodes: false` of a slice for absent."""
    spec = piece.get("spec") or {}
    for name in ("nodeName", "allNodes"):
        if not spec.get(name):
            spec.pop(name, None)
    return piece


def _slice_to_declared(old: JsonObject) -> JsonObject:
    return _drop_zero_nodes(_rewrite_items(("spec", "devices"), _flatten)(old))


def _slice_from_declared(declared: JsonObject) -> JsonObject:
    return _drop_zero_nodes(_rewrite_items(("spec", "devices"), _wrap)(declared))


CLAIM = _upgrade_requests("spec", "devices", "requests")
CLAIM_TEMPLATE = _upgrade_requests("spec", "spec", "devices", "requests")
SLICE = Upgrade(
    replaced={device.Device: Device},
    to_declared=_slice_to_declared,
    from_declared=_slice_from_declared,
)

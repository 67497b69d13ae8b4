"""A device as an expression sees it, made once and used for every expression.

Beside the values it holds one hashable token for each, by a name such as `attributes:gpu.example.com/model`. Two
devices whose tokens agree on what an expression reads get the same verdict.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from dray.api.resource.device import Device, DeviceAttribute
from dray.cel.values import MapValue, Value
from dray.values.semver import SemverError, parse_semver

__all__ = [
    "ALLOW_MULTIPLE_ALLOCATIONS",
    "ATTRIBUTES",
    "CAPACITY",
    "DRIVER",
    "DeviceFacts",
    "describe_device",
    "token_name",
]

DRIVER = "driver"
ALLOW_MULTIPLE_ALLOCATIONS = "allowMultipleAllocations"
ATTRIBUTES, CAPACITY = "attributes", "capacity"

_Domains: TypeAlias = dict[Value, Value]
_NO_IDS = MapValue()


class DeviceFacts:
    """What an expression may know of one device.

    `fault` is set when an attribute is broken; then no expression can be evaluated, whatever it reads.
    """

    __slots__ = ("_everything", "fault", "tokens", "value")

    def __init__(self, value: MapValue, tokens: dict[str, Hashable], fault: str | None) -> None:
        self.value = value
        self.tokens = tokens
        self.fault = fault
        self._everything: Hashable = None

    @property
    def everything(self) -> Hashable:
        """One token for all there is to read."""
        if self._everything is None:
            self._everything = tuple(sorted(self.tokens.items(), key=lambda item: item[0]))
        return self._everything


def token_name(kind: str, domain: str, name: str) -> str:
    """The name of one attribute's or capacity's token."""
    return f"{kind}:{domain}/{name}"


def describe_device(driver: str, device: Device) -> DeviceFacts:
    """Read a device. Names without a domain belong to the driver's; a full name wins over a bare one."""
    tokens: dict[str, Hashable] = {
        DRIVER: driver,
        ALLOW_MULTIPLE_ALLOCATIONS: bool(device.allow_multiple_allocations),
    }
    attributes: _Domains = {}
    capacity: _Domains = {}
    fault: str | None = None
    for qualified_name, attribute in sorted(device.attributes.items()):
        try:
            value, token = _read_attribute(attribute)
        except ValueError as reason:
            fault = fault or f"attribute {qualified_name}: {reason}"
            continue
        domain, name = _split(qualified_name, driver)
        _file(attributes, domain, name, value)
        tokens[token_name(ATTRIBUTES, domain, name)] = token
    for qualified_name, amount in sorted(device.capacity.items()):
        quantity = amount.value
        domain, name = _split(qualified_name, driver)
        _file(capacity, domain, name, quantity)
        tokens[token_name(CAPACITY, domain, name)] = (quantity, quantity.is_integer)
    value = MapValue(
        {
            DRIVER: driver,
            ALLOW_MULTIPLE_ALLOCATIONS: bool(device.allow_multiple_allocations),
            ATTRIBUTES: MapValue(attributes, fallback=_NO_IDS),
            CAPACITY: MapValue(capacity, fallback=_NO_IDS),
        }
    )
    return DeviceFacts(value, tokens, fault)


def _split(qualified_name: str, driver: str) -> tuple[str, str]:
    domain, slash, name = qualified_name.partition("/")
    return (domain, name) if slash else (driver, qualified_name)


def _file(domains: _Domains, domain: str, name: str, value: Value) -> None:
    ids = domains.get(domain)
    if not isinstance(ids, MapValue):
        ids = domains[domain] = MapValue()
    ids.put(name, value)


def _read_attribute(attribute: DeviceAttribute) -> tuple[Value, Hashable]:
    """The value and a token that tells kinds apart, as `True == 1` would not. Lists win over single values."""
    if attribute.ints is not None:
        return attribute.ints, ("ints", attribute.ints)
    if attribute.bools is not None:
        return attribute.bools, ("bools", attribute.bools)
    if attribute.strings is not None:
        return attribute.strings, ("strings", attribute.strings)
    if attribute.versions is not None:
        return tuple(map(_version, attribute.versions)), ("versions", attribute.versions)
    return _read_single(attribute)


def _read_single(attribute: DeviceAttribute) -> tuple[Value, Hashable]:
    if attribute.int is not None:
        return attribute.int, attribute.int
    if attribute.bool is not None:
        return attribute.bool, ("bool", attribute.bool)
    if attribute.string is not None:
        return attribute.string, attribute.string
    if attribute.version is not None:
        return _version(attribute.version), ("version", attribute.version)
    raise ValueError("unsupported attribute value")


def _version(text: str) -> Value:
    try:
        return parse_semver(text)
    except SemverError as error:
        raise ValueError(f"parse semantic version: {error}") from None

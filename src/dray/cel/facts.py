"""A device as an expression sees it, made once and used for every expression.

For each thing there is to read it holds a token, which stands for the value and is quick to hash, by a name such as
`attributes:gpu.example.com/model`. Devices whose tokens agree on what an expression reads get the same verdict, so the
values themselves are made only for devices that are evaluated.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache

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

_NO_IDS = MapValue()
_REMEMBERED_TOKENS = 65_536


class DeviceFacts:
    """What an expression may know of one device.

    `fault` is set when an attribute is broken; then no expression can be evaluated, whatever it reads.
    """

    __slots__ = ("_device", "_driver", "_everything", "_value", "fault", "tokens")

    def __init__(self, driver: str, device: Device, tokens: dict[str, Hashable], fault: str | None) -> None:
        self.tokens = tokens
        self.fault = fault
        self._driver = driver
        self._device = device
        self._value: MapValue | None = None
        self._everything: Hashable = None

    @property
    def everything(self) -> Hashable:
        """One token for all there is to read."""
        if self._everything is None:
            self._everything = frozenset(self.tokens.items())
        return self._everything

    @property
    def value(self) -> MapValue:
        """The value of the variable `device`. Domains and ids come in the order of their names."""
        if self._value is None:
            attributes = ((name, _value(each)) for name, each in sorted(self._device.attributes.items()))
            capacity = ((name, each.value) for name, each in sorted(self._device.capacity.items()))
            self._value = MapValue(
                {
                    DRIVER: self._driver,
                    ALLOW_MULTIPLE_ALLOCATIONS: bool(self._device.allow_multiple_allocations),
                    ATTRIBUTES: _by_domain(self._driver, attributes),
                    CAPACITY: _by_domain(self._driver, capacity),
                }
            )
        return self._value


def token_name(kind: str, domain: str, name: str) -> str:
    """The name of one attribute's or capacity's token."""
    return f"{kind}:{domain}/{name}"


def describe_device(driver: str, device: Device) -> DeviceFacts:
    """Read a device. Names without a domain belong to the driver's; a full name wins over a bare one."""
    tokens: dict[str, Hashable] = {
        DRIVER: driver,
        ALLOW_MULTIPLE_ALLOCATIONS: device.allow_multiple_allocations is True,
    }
    fault: str | None = None
    for name, attribute in device.attributes.items():
        try:
            token = _token(attribute)
        except ValueError as reason:
            fault = fault or f"attribute {name}: {reason}"
        else:
            _file(tokens, ATTRIBUTES, (driver, name), token)
    for name, amount in device.capacity.items():
        quantity = amount.value
        _file(tokens, CAPACITY, (driver, name), _stand_in(quantity.nanos, quantity.is_integer))
    return DeviceFacts(driver, device, tokens, fault)


def _file(tokens: dict[str, Hashable], kind: str, name: tuple[str, str], token: Hashable) -> None:
    driver, own_name = name
    if "/" in own_name:
        tokens[f"{kind}:{own_name}"] = token
    else:
        tokens.setdefault(f"{kind}:{driver}/{own_name}", token)


class _StandIn:
    """Stands for one value that is slow to hash, or that Python takes for another: equal to itself alone."""


@lru_cache(maxsize=_REMEMBERED_TOKENS)
def _stand_in(*_: Hashable) -> _StandIn:
    """The same token for the same value, as long as it is remembered; afterwards a new one, which only costs time."""
    return _StandIn()


_TRUE, _FALSE = _StandIn(), _StandIn()


def _token(attribute: DeviceAttribute) -> Hashable:
    """What stands for an attribute's value; refuses a broken one. Lists win over single values."""
    for kind, values in (
        ("ints", attribute.ints),
        ("bools", attribute.bools),
        ("strings", attribute.strings),
    ):
        if values is not None:
            return _stand_in(kind, values)
    if attribute.versions is not None:
        return _versions_token(attribute.versions)
    if attribute.int is not None:
        return attribute.int
    if attribute.bool is not None:
        return _TRUE if attribute.bool else _FALSE
    if attribute.string is not None:
        return attribute.string
    if attribute.version is not None:
        return _versions_token(attribute.version)
    raise ValueError("unsupported attribute value")


@lru_cache(maxsize=_REMEMBERED_TOKENS)
def _versions_token(versions: str | tuple[str, ...]) -> Hashable:
    for text in (versions,) if isinstance(versions, str) else versions:
        _version(text)
    return _stand_in("versions", versions)


def _version(text: str) -> Value:
    try:
        return parse_semver(text)
    except SemverError as error:
        raise ValueError(f"parse semantic version: {error}") from None


def _value(attribute: DeviceAttribute) -> Value:
    """The value of a sound attribute."""
    if attribute.versions is not None:
        return tuple(map(_version, attribute.versions))
    for value in (
        attribute.ints,
        attribute.bools,
        attribute.strings,
        attribute.int,
        attribute.bool,
        attribute.string,
    ):
        if value is not None:
            return value
    return _version(attribute.version or "")


def _by_domain(driver: str, values: Iterable[tuple[str, Value]]) -> MapValue:
    """Domain to id to value; an unknown domain is empty, not missing."""
    domains: dict[str, dict[Value, Value]] = {}
    for name, value in values:
        domain, slash, own_name = name.partition("/")
        if slash:
            domains.setdefault(domain, {})[own_name] = value
        else:
            domains.setdefault(driver, {}).setdefault(name, value)
    return MapValue({domain: MapValue(ids) for domain, ids in sorted(domains.items())}, fallback=_NO_IDS)

"""What a claim says about the interface it is given: the `NetworkConfig` of DRANET, by its rules.

It bears neither `apiVersion` nor `kind`. Settings that need more than netlink are understood and refused.
"""

import ipaddress
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from msgspec import field

from dray.driver.config import ConfigPart, DriverConfig

__all__ = ["InterfaceConfig", "NeighborConfig", "NetworkConfig", "RouteConfig", "RuleConfig"]

_NAME: Final = re.compile(r"[^/\s:]{1,15}")
_MAC: Final = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_LEAST_MTU: Final = 68
_LINK_SCOPE: Final = 253
_HIGHEST_PRIORITY: Final = 32767


def _check_network(text: str, what: str) -> None:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError as fault:
        raise ValueError(f"{what} must be a network such as 10.0.0.0/24, is {text!r}") from fault


def _check_address(text: str, what: str) -> None:
    try:
        ipaddress.ip_address(text)
    except ValueError as fault:
        raise ValueError(f"{what} must be an IP address, is {text!r}") from fault


class InterfaceConfig(ConfigPart, frozen=True, kw_only=True):
    """The interface itself. What is absent stays as it is on the host."""

    name: str = ""
    addresses: tuple[str, ...] = ()
    dhcp: bool = False
    mtu: int | None = None
    hardware_addr: str = ""
    gso_max_size: int | None = None
    gro_max_size: int | None = None
    gso_ipv4_max_size: int | None = field(default=None, name="gsoIPv4MaxSize")
    gro_ipv4_max_size: int | None = field(default=None, name="groIPv4MaxSize")
    disable_ebpf_programs: bool = False
    forwarding: bool | None = None
    arp_ignore: int | None = None
    arp_announce: int | None = None
    vrf: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what no interface can have."""
        if self.name and (not _NAME.fullmatch(self.name) or self.name in (".", "..")):
            raise ValueError(f"name must have 1 to 15 characters without slashes, colons and blanks, is {self.name!r}")
        for address in self.addresses:
            try:
                ipaddress.ip_interface(address)
            except ValueError as fault:
                raise ValueError(f"addresses must be such as 10.0.0.1/24, one is {address!r}") from fault
            if "/" not in address:
                raise ValueError(f"addresses need the length of their network, one is {address!r}")
        if self.mtu is not None and self.mtu < _LEAST_MTU:
            raise ValueError(f"mtu must be at least {_LEAST_MTU}, is {self.mtu}")
        if self.hardware_addr and not _MAC.fullmatch(self.hardware_addr):
            raise ValueError(f"hardwareAddr must be such as 02:00:00:00:00:01, is {self.hardware_addr!r}")
        self._refuse_what_is_beyond_us()

    def _refuse_what_is_beyond_us(self) -> None:
        if self.dhcp and self.addresses:
            raise ValueError("dhcp and addresses exclude each other")
        beyond = {
            "dhcp": self.dhcp,
            "disableEbpfPrograms": self.disable_ebpf_programs,
            "vrf": self.vrf is not None,
            "forwarding": self.forwarding is not None,
            "arpIgnore": self.arp_ignore is not None,
            "arpAnnounce": self.arp_announce is not None,
        }
        asked = [name for name, is_asked in beyond.items() if is_asked]
        if asked:
            raise ValueError(f"{', '.join(asked)}: not supported by this driver")


class RouteConfig(ConfigPart, frozen=True, kw_only=True):
    """A route of the pod through the interface."""

    destination: str
    gateway: str = ""
    source: str = ""
    scope: int = 0
    table: int = 0

    def __post_init__(self) -> None:
        """Refuse routes that lead nowhere."""
        _check_network(self.destination, "destination")
        if self.scope not in (0, _LINK_SCOPE):
            raise ValueError(f"scope must be 0 or {_LINK_SCOPE}, is {self.scope}")
        if self.gateway:
            _check_address(self.gateway, "gateway")
        elif self.scope != _LINK_SCOPE:
            raise ValueError("gateway must be set unless scope is 253")
        if self.source:
            _check_address(self.source, "source")


class RuleConfig(ConfigPart, frozen=True, kw_only=True):
    """Which table the pod looks into for which traffic."""

    table: int
    priority: int = 0
    source: str = ""
    destination: str = ""

    def __post_init__(self) -> None:
        """Refuse rules that no kernel takes."""
        if not 0 <= self.priority <= _HIGHEST_PRIORITY:
            raise ValueError(f"priority must be from 0 to {_HIGHEST_PRIORITY}, is {self.priority}")
        for text, what in ((self.source, "source"), (self.destination, "destination")):
            if text:
                _check_network(text, what)


class NeighborConfig(ConfigPart, frozen=True, kw_only=True):
    """The hardware address of a neighbour, for good."""

    destination: str
    hardware_addr: str

    def __post_init__(self) -> None:
        """Refuse what is no address."""
        _check_address(self.destination, "destination")
        if not _MAC.fullmatch(self.hardware_addr):
            raise ValueError(f"hardwareAddr must be such as 02:00:00:00:00:01, is {self.hardware_addr!r}")


class NetworkConfig(DriverConfig, frozen=True, kw_only=True):
    """For interfaces."""

    api_version: ClassVar[str] = ""

    interface: InterfaceConfig = InterfaceConfig()
    routes: tuple[RouteConfig, ...] = ()
    rules: tuple[RuleConfig, ...] = ()
    neighbors: tuple[NeighborConfig, ...] = ()
    ethtool: Mapping[str, Any] | None = None
    profile: str = ""

    def __post_init__(self) -> None:
        """Refuse settings that need more than netlink."""
        if self.ethtool is not None or self.profile:
            raise ValueError(f"{'ethtool' if self.ethtool is not None else 'profile'}: not supported by this driver")

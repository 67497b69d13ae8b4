"""What is to be done to an interface for a pod, and how it finds its way home. Pure.

Before it leaves, an interface is given an alias that says what it was. The alias stays with it in the pod's namespace,
so that whoever finds it there, even after a crash, can give it back as it was.
"""

from typing import Final

import msgspec
from msgspec import Struct

from dray.drivers.net.config import NeighborConfig, NetworkConfig, RouteConfig, RuleConfig
from dray.drivers.net.interface import Interface, name_device

__all__ = ["Attachment", "Home", "plan_attachment", "read_home", "write_home"]

_MARK: Final = "dray:"
_MAX_ALIAS: Final = 255
"""Bytes of the longest alias that the kernel keeps."""


class Attachment(Struct, frozen=True, kw_only=True):
    """What the interface is to be in the pod."""

    name: str
    addresses: tuple[str, ...] = ()
    mtu: int | None = None
    mac: str | None = None
    routes: tuple[RouteConfig, ...] = ()
    rules: tuple[RuleConfig, ...] = ()
    neighbors: tuple[NeighborConfig, ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    """Largest segments that are made and merged, by the names that netlink has for them."""


class Home(
    Struct,
    frozen=True,
    kw_only=True,
    rename={
        "device": "d",
        "name": "n",
        "mtu": "m",
        "mac": "h",
        "is_up": "u",
        "alias": "l",
        "addresses": "a",
    },
    omit_defaults=True,
):
    """What the interface was on the host. Short on the wire, as an alias holds little."""

    device: str
    name: str
    mtu: int
    mac: str
    is_up: bool = False
    alias: str = ""
    addresses: tuple[str, ...] = ()


def plan_attachment(interface: Interface, config: NetworkConfig) -> Attachment:
    """The pod's side: what is configured, and else what the interface is on the host."""
    wanted = config.interface
    sizes = (
        ("gso_max_size", wanted.gso_max_size),
        ("gro_max_size", wanted.gro_max_size),
        ("gso_ipv4_max_size", wanted.gso_ipv4_max_size),
        ("gro_ipv4_max_size", wanted.gro_ipv4_max_size),
    )
    return Attachment(
        name=wanted.name or interface.name,
        addresses=wanted.addresses or interface.addresses,
        mtu=wanted.mtu,
        mac=wanted.hardware_addr or None,
        routes=config.routes,
        rules=config.rules,
        neighbors=config.neighbors,
        sizes=tuple((name, size) for name, size in sizes if size is not None),
    )


def write_home(interface: Interface) -> str:
    """The alias for the time away. Addresses that do not fit are given up: the claim could not keep them either."""
    home = Home(
        device=name_device(interface),
        name=interface.name,
        mtu=interface.mtu,
        mac=interface.mac,
        is_up=interface.is_up,
        alias=interface.alias,
        addresses=interface.addresses,
    )
    text = _encode(home)
    while len(text.encode()) > _MAX_ALIAS and (home.addresses or home.alias):
        home = msgspec.structs.replace(
            home, addresses=home.addresses[:-1], alias="" if not home.addresses else home.alias
        )
        text = _encode(home)
    return text


def read_home(alias: str) -> Home | None:
    """The inverse; None for an alias of another make."""
    if not alias.startswith(_MARK):
        return None
    try:
        return msgspec.json.decode(alias.removeprefix(_MARK), type=Home)
    except msgspec.DecodeError:
        return None


def _encode(home: Home) -> str:
    return _MARK + msgspec.json.encode(home).decode()

"""Moving interfaces into the namespace of a pod and back home.

Every step can be repeated: an interface that is away is found by its alias, whatever it is called and wherever it was
left. It arrives under a name that nothing else has, `dray` and its number, and is called what it is to be called only
there, so that a name that is taken never leaves it stranded on the way.
"""

import ipaddress
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec import Struct
from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]

from dray.drivers.net.attachment import Attachment, Home, read_home, write_home
from dray.drivers.net.interface import Interface, name_device
from dray.drivers.net.namespaces import NamespaceError, Namespaces
from dray.errors import DrayError

__all__ = ["Arrival", "MoveError", "attach", "bring_home"]

_FAMILIES: Final = {4: 2, 6: 10}


class MoveError(DrayError):
    """An interface cannot be moved, or not be made what it is to be."""


class Arrival(Struct, frozen=True):
    """What an interface is in the pod."""

    name: str
    mac: str
    addresses: tuple[str, ...]


def attach(namespaces: Namespaces, namespace: str, interface: Interface, attachment: Attachment) -> Arrival:
    """Move an interface of the calling thread's namespace into another and make it what it is to be there.

    Where that fails the interface is given back first. Raises MoveError or NamespaceError.
    """
    with IPRoute() as netlink:
        index = next(iter(netlink.link_lookup(ifname=interface.name)), None)
        if index is None:
            raise MoveError(f"there is no interface {interface.name}")
        _ask(f"mark {interface.name}", netlink.link, "set", index=index, ifalias=write_home(interface))
    try:
        with open(namespaces.path(namespace)) as place, IPRoute() as netlink:
            _send(netlink, index, place.fileno())
        return namespaces.inside(namespace, lambda: _furnish(interface, attachment))
    except BaseException:
        bring_home(namespaces, namespace, name_device(interface))
        raise


def bring_home(namespaces: Namespaces, namespace: str, device: str) -> bool:
    """Give the interface that a device stands for back to the calling thread's namespace as it was.

    One that was left half on its way is settled too. Returns whether it was away.
    """
    with open("/proc/thread-self/ns/net") as here, suppress(NamespaceError):
        namespaces.inside(namespace, lambda: _send_home(device, here.fileno()))
    with IPRoute() as netlink:
        return _settle(netlink, device)


def _send(netlink: IPRoute, index: int, namespace: int) -> None:
    """Move a link, under a name that no other has."""
    _ask("take the interface down", netlink.link, "set", index=index, state="down")
    _ask("move the interface", netlink.link, "set", index=index, net_ns_fd=namespace, ifname=f"dray{index}")


def _furnish(interface: Interface, attachment: Attachment) -> Arrival:
    """In the pod's namespace: name the link and give it all it is to have."""
    with IPRoute() as netlink:
        found = _find_visitor(netlink, name_device(interface))
        if found is None:
            raise MoveError(f"interface {interface.name} did not arrive")
        index, _ = found
        _bring_loopback_up(netlink)
        _ask(f"name it {attachment.name}", netlink.link, "set", index=index, ifname=attachment.name)
        settings: dict[str, object] = dict(attachment.sizes)
        if attachment.mtu is not None:
            settings["mtu"] = attachment.mtu
        if attachment.mac is not None:
            settings["address"] = attachment.mac
        for name, value in settings.items():
            _ask(f"set {name} to {value}", netlink.link, "set", index=index, **{name: value})
        for address in attachment.addresses:
            _add_address(netlink, index, address)
        _ask("bring it up", netlink.link, "set", index=index, state="up")
        _add_ways(netlink, index, attachment)
        (link,) = netlink.get_links(index)
        return Arrival(attachment.name, link.get_attr("IFLA_ADDRESS") or "", attachment.addresses)


def _add_ways(netlink: IPRoute, index: int, attachment: Attachment) -> None:
    for route in attachment.routes:
        wanted: dict[str, object] = {"dst": route.destination, "oif": index, "scope": route.scope}
        wanted |= {"gateway": route.gateway} if route.gateway else {}
        wanted |= {"prefsrc": route.source} if route.source else {}
        wanted |= {"table": route.table} if route.table else {}
        _ask(f"route to {route.destination}", netlink.route, "replace", **wanted)
    for rule in attachment.rules:
        network = ipaddress.ip_network(rule.source or rule.destination or "0.0.0.0/0", strict=False)
        wanted = {"table": rule.table, "priority": rule.priority, "family": _FAMILIES[network.version]}
        wanted |= {"src": rule.source} if rule.source else {}
        wanted |= {"dst": rule.destination} if rule.destination else {}
        _ask(f"rule for table {rule.table}", netlink.rule, "add", **wanted)
    for neighbor in attachment.neighbors:
        wanted = {"dst": neighbor.destination, "lladdr": neighbor.hardware_addr, "ifindex": index, "state": "permanent"}
        _ask(f"neighbour {neighbor.destination}", netlink.neigh, "replace", **wanted)


def _add_address(netlink: IPRoute, index: int, address: str) -> None:
    parsed = ipaddress.ip_interface(address)
    wanted = {"index": index, "address": str(parsed.ip), "prefixlen": parsed.network.prefixlen}
    _ask(f"add address {address}", netlink.addr, "replace", **wanted)


def _bring_loopback_up(netlink: IPRoute) -> None:
    for index in netlink.link_lookup(ifname="lo"):
        _ask("bring the loopback up", netlink.link, "set", index=index, state="up")


def _send_home(device: str, home_namespace: int) -> None:
    """In the pod's namespace: move the link back, if it is here."""
    with IPRoute() as netlink:
        found = _find_visitor(netlink, device)
        if found is None:
            return
        index, _ = found
        _ask("take the interface down", netlink.link, "set", index=index, state="down")
        _ask("give it back", netlink.link, "set", index=index, net_ns_fd=home_namespace, ifname=f"dray{index}")


def _settle(netlink: IPRoute, device: str) -> bool:
    """At home: make the link what it was. The alias goes last: until then it can be told for whose it is."""
    found = _find_visitor(netlink, device)
    if found is None:
        return False
    index, home = found
    _ask("take it down", netlink.link, "set", index=index, state="down")
    _ask(f"name it {home.name}", netlink.link, "set", index=index, ifname=home.name)
    settings: dict[str, object] = {"mtu": home.mtu} | ({"address": home.mac} if home.mac else {})
    for name, value in settings.items():
        _ask(f"set {name} to {value}", netlink.link, "set", index=index, **{name: value})
    for address in home.addresses:
        _add_address(netlink, index, address)
    if home.is_up:
        _ask("bring it up", netlink.link, "set", index=index, state="up")
    _ask("restore its alias", netlink.link, "set", index=index, ifalias=home.alias)
    return True


def _find_visitor(netlink: IPRoute, device: str) -> tuple[int, Home] | None:
    """The link of a device that says it is or was away, and what it was before."""
    for link in netlink.get_links():
        home = read_home(link.get_attr("IFLA_IFALIAS") or "")
        if home is not None and home.device == device:
            return link["index"], home
    return None


def _ask(what: str, request: Callable[..., object], *words: str, **wanted: object) -> None:
    try:
        request(*words, **wanted)
    except (NetlinkError, OSError) as fault:
        raise MoveError(f"cannot {what}: {fault}") from fault

"""Which interfaces there are in the namespace of the calling thread, by netlink and sysfs."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace
from pyroute2 import IPRoute  # type: ignore[import-untyped]

from dray.driver.sysfs import Sysfs
from dray.drivers.net.attachment import read_home
from dray.drivers.net.interface import Interface

__all__ = ["list_interfaces", "list_visitors", "read_hardware"]

_IFF_UP: Final = 1
_LOOPBACK: Final = 772
_ENCAPSULATIONS: Final = {1: "ether", 32: "infiniband", _LOOPBACK: "loopback", 65534: "none"}
"""By the kernel's numbers of link layers."""
_LINK_SCOPE: Final = 253

Message = Any
"""What pyroute2 makes of a netlink message: a dict with attributes."""


def list_interfaces(sysfs: Sysfs) -> list[Interface]:
    """Every interface that is at home and settled, offered or not, by name."""
    with IPRoute() as netlink:
        links = [link for link in netlink.get_links() if read_home(link.get_attr("IFLA_IFALIAS") or "") is None]
        addresses = _list_addresses(netlink)
        uplinks = _find_uplinks(netlink)
    found = [_read_link(link, addresses.get(link["index"], ()), is_uplink=link["index"] in uplinks) for link in links]
    return sorted((read_hardware(each, sysfs) for each in found), key=lambda each: each.name)


def list_visitors() -> list[Interface]:
    """The interfaces that are away from home here, as they are at home as far as they still know it."""
    with IPRoute() as netlink:
        homes = [(link, read_home(link.get_attr("IFLA_IFALIAS") or "")) for link in netlink.get_links()]
    return [
        Interface(
            name=home.name,
            kind=_read_kind(link),
            encapsulation=_ENCAPSULATIONS.get(link["ifi_type"], "unknown"),
            mac=home.mac,
            mtu=home.mtu,
            alias=home.alias,
            addresses=home.addresses,
            device_name=home.device,
        )
        for link, home in homes
        if home is not None
    ]


def _read_link(link: Message, addresses: Sequence[str], *, is_uplink: bool) -> Interface:
    return Interface(
        name=link.get_attr("IFLA_IFNAME"),
        kind=_read_kind(link),
        state=(link.get_attr("IFLA_OPERSTATE") or "unknown").lower(),
        is_up=bool(link["flags"] & _IFF_UP),
        encapsulation=_ENCAPSULATIONS.get(link["ifi_type"], "unknown"),
        mac=link.get_attr("IFLA_ADDRESS") or "",
        mtu=link.get_attr("IFLA_MTU") or 0,
        alias=link.get_attr("IFLA_IFALIAS") or "",
        addresses=tuple(addresses),
        is_uplink=is_uplink,
    )


def _read_kind(link: Message) -> str:
    about = link.get_attr("IFLA_LINKINFO")
    kind: str | None = about.get_attr("IFLA_INFO_KIND") if about is not None else None
    return kind or "device"


def _list_addresses(netlink: IPRoute) -> dict[int, list[str]]:
    """By index of the interface. Addresses of the link's own scope come by themselves, wherever it goes."""
    addresses: dict[int, list[str]] = {}
    for each in netlink.get_addr():
        text = each.get_attr("IFA_LOCAL") or each.get_attr("IFA_ADDRESS")
        if text and each["scope"] != _LINK_SCOPE:
            addresses.setdefault(each["index"], []).append(f"{text}/{each['prefixlen']}")
    return addresses


def _find_uplinks(netlink: IPRoute) -> set[int]:
    """The interfaces that a default route leads through."""
    return set(_list_ways_out(netlink))


def _list_ways_out(netlink: IPRoute) -> Iterator[int]:
    for route in netlink.get_routes():
        if route["dst_len"] != 0 or route.get_attr("RTA_DST"):
            continue
        out = route.get_attr("RTA_OIF")
        if out is not None:
            yield out
        for hop in route.get_attr("RTA_MULTIPATH") or ():
            yield hop["oif"]


def read_hardware(interface: Interface, sysfs: Sysfs) -> Interface:
    """Add what sysfs tells of the function behind the interface, if there is one."""
    pci = sysfs.find_pci_address("class/net", interface.name, "device")
    if pci is None:
        return interface
    folder = f"bus/pci/devices/{pci}"
    return replace(
        interface,
        pci=pci,
        pci_vendor=sysfs.read(folder, "vendor"),
        pci_device=sysfs.read(folder, "device"),
        kernel_driver=sysfs.find_link(folder, "driver"),
        numa_node=sysfs.find_numa_node(pci),
        pcie_root=sysfs.find_pcie_root(pci),
        rdma_device=_find_rdma_device(sysfs, pci),
        virtual_functions=sysfs.read_number(folder, "sriov_totalvfs"),
        used_virtual_functions=sysfs.read_number(folder, "sriov_numvfs") or 0,
        is_virtual_function="physfn" in sysfs.names(folder),
    )


def _find_rdma_device(sysfs: Sysfs, pci: str) -> str | None:
    """The RDMA device on the same function."""
    names = sysfs.names("class/infiniband")
    return next((name for name in names if sysfs.find_pci_address("class/infiniband", name, "device") == pci), None)

"""A network interface as it was found, and the device that it is offered as."""

import base64
from typing import Final

from msgspec import Struct

from dray.api.resource.device import Device
from dray.driver.devices import attributes
from dray.values.names import dns_label_faults

__all__ = ["DRIVER", "Interface", "describe_interface", "is_offered", "name_device"]

DRIVER: Final = "dra.net"
_NEVER: Final = frozenset({"lo", "cilium_net", "cilium_host", "docker0"})
_USERSPACE_DRIVERS: Final = frozenset({"vfio-pci", "uio_pci_generic", "igb_uio", "pci-stub"})
_MAX_TEXT: Final = 64


class Interface(Struct, frozen=True, kw_only=True):
    """What netlink and sysfs tell of one interface. Absent means not told."""

    name: str
    kind: str = "device"
    """As netlink calls it: `veth`, `bridge`; `device` for hardware."""
    state: str = "unknown"
    is_up: bool = False
    encapsulation: str = "ether"
    mac: str = ""
    mtu: int = 0
    alias: str = ""
    addresses: tuple[str, ...] = ()
    """IPv4 and IPv6, with the lengths of their networks; none of the link's own scope."""
    is_uplink: bool = False
    """A default route leads through it."""
    pci: str | None = None
    pci_vendor: str | None = None
    pci_device: str | None = None
    kernel_driver: str | None = None
    numa_node: int | None = None
    pcie_root: str | None = None
    rdma_device: str | None = None
    virtual_functions: int | None = None
    """How many it could have; None if it has none to give."""
    used_virtual_functions: int = 0
    is_virtual_function: bool = False
    device_name: str = ""
    """The name it is offered under while it is away, and so shows nothing of its hardware."""

    def addresses_of(self, version: int) -> str:
        """The addresses of one version of IP, joined by commas."""
        return ",".join(each for each in self.addresses if (":" in each) == (version == 6))


def is_offered(interface: Interface) -> bool:
    """Whether pods may have it. Never what the node itself lives by."""
    return (
        interface.name not in _NEVER
        and not interface.is_uplink
        and interface.encapsulation != "loopback"
        and interface.kernel_driver not in _USERSPACE_DRIVERS
    )


def name_device(interface: Interface) -> str:
    """A DNS label: the PCI address if there is one, else the interface's name, spelled in base32 if it must be."""
    if interface.device_name:
        return interface.device_name
    if interface.pci is not None:
        return f"pci-{interface.pci.replace(':', '-').replace('.', '-')}"
    if not dns_label_faults(interface.name):
        return interface.name
    return "net-" + base64.b32encode(interface.name.encode()).decode().rstrip("=").lower()


def describe_interface(interface: Interface) -> Device:
    """The device, with the attributes of DRANET as far as they are told."""
    told: dict[str, bool | int | str | None] = {
        "ifName": interface.name,
        "type": interface.kind,
        "state": interface.state,
        "encapsulation": interface.encapsulation,
        "alias": interface.alias[:_MAX_TEXT] or None,
        "mac": interface.mac or None,
        "mtu": interface.mtu or None,
        "ipv4": _cut(interface.addresses_of(4)),
        "ipv6": _cut(interface.addresses_of(6)),
        "virtual": interface.pci is None,
        "pciAddress": interface.pci,
        "pciVendor": interface.pci_vendor,
        "pciDevice": interface.pci_device,
        "numaNode": interface.numa_node,
        "rdma": interface.rdma_device is not None,
        "rdmaDevice": interface.rdma_device,
        "sriov": interface.virtual_functions is not None,
        "sriovVfs": interface.used_virtual_functions if interface.virtual_functions is not None else None,
        "isSriovVf": interface.is_virtual_function,
        "resource.kubernetes.io/pcieRoot": interface.pcie_root,
        "resource.kubernetes.io/numaNode": interface.numa_node,
        "resource.kubernetes.io/pciBusID": interface.pci,
    }
    return Device(
        name=name_device(interface),
        attributes=attributes({name: value for name, value in told.items() if value is not None}),
    )


def _cut(text: str) -> str | None:
    """As many whole addresses as an attribute holds."""
    while len(text) > _MAX_TEXT:
        text = text.rpartition(",")[0]
    return text or None

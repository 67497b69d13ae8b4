"""Network interfaces beside accelerators: virtual functions for RDMA, and what DRANET publishes."""

from collections.abc import Iterator, Sequence
from typing import Final

from dray.api.resource.device import Device, DeviceAttribute
from dray.drivers.sim.attributes import NUMA_NODE, PCI_BUS_ID, PCIE_ROOT, flag, number, text
from dray.drivers.sim.part import Machine, Nic, Part
from dray.drivers.sim.pools import Blueprint

__all__ = ["DRANET_DRIVER", "RDMA_DRIVER", "DranetPart", "VirtualFunctionsPart", "find_interfaces"]

RDMA_DRIVER: Final = "rdma.nvidia.com"
DRANET_DRIVER: Final = "dra.net"


class VirtualFunctionsPart(Part, frozen=True, tag="virtual-functions"):
    """Virtual functions for RDMA, some of each compute interface of the machine.

    Where the machine names no interfaces there is one beside each accelerator whose PCIe root is known, and where there
    is none of those, `nics` are taken.
    """

    functions: int
    nics: tuple[Nic, ...]

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """The functions of one interface after those of another."""
        return [Blueprint.of(RDMA_DRIVER, self._devices(machine))]

    def _devices(self, machine: Machine) -> Iterator[Device]:
        for index, nic in enumerate(find_interfaces(machine) or self.nics):
            domain_bus, _, port = nic.pci.partition(":00.")
            first = 2 + int(port) * self.functions
            for function in range(self.functions):
                slot, part = divmod(first + function, 8)
                yield self._device(f"{domain_bus}:{slot:02x}.{part}", function, nic, index)

    def _device(self, pci: str, function: int, nic: Nic, index: int) -> Device:
        told: dict[str, DeviceAttribute] = {
            "sriovType": text("vf"),
            "vfIndex": number(function),
            "pfName": text(nic.interface),
            "pfPciAddress": text(nic.pci),
            "rdmaDevice": text(nic.rdma or f"mlx5_{index}"),
            "linkType": text("infiniband"),
            PCI_BUS_ID: text(pci),
            **_place(nic),
        }
        return Device(name=f"vf-{pci.replace(':', '-').replace('.', '-')}", attributes=told)


class DranetPart(Part, frozen=True, tag="dranet"):
    """The machine's interfaces as DRANET publishes them. Storage interfaces are among them, as on a real node."""

    nics: tuple[Nic, ...]

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """By PCI address."""
        nics = sorted(machine.nics or find_interfaces(machine) or self.nics, key=lambda nic: nic.pci)
        return [Blueprint.of(DRANET_DRIVER, map(self._device, nics))]

    def _device(self, nic: Nic) -> Device:
        told: dict[str, DeviceAttribute] = {
            "ifName": text(nic.interface),
            "type": text("device"),
            "state": text("up"),
            "encapsulation": text("infiniband" if nic.interface.startswith("ib") else "ether"),
            "mtu": number(4092),
            "pciAddress": text(nic.pci),
            "pciVendor": text("Mellanox Technologies"),
            "rdma": flag(nic.rdma is not None),
            "sriov": flag(True),
            "isSriovVf": flag(False),
            "virtual": flag(False),
            **_place(nic),
        }
        if nic.numa is not None:
            told["numaNode"] = number(nic.numa)
        if nic.rdma is not None:
            told["rdmaDevice"] = text(nic.rdma)
        return Device(name=f"pci-{nic.pci.replace(':', '-').replace('.', '-')}", attributes=told)


def _place(nic: Nic) -> dict[str, DeviceAttribute]:
    told: dict[str, DeviceAttribute] = {}
    if nic.root is not None:
        told[PCIE_ROOT] = text(nic.root)
    if nic.numa is not None:
        told[NUMA_NODE] = number(nic.numa)
    return told


def find_interfaces(machine: Machine) -> list[Nic]:
    """The interfaces for computing; supposed ones, one beside each accelerator, if the machine tells of none."""
    if machine.nics:
        return [nic for nic in machine.nics if not nic.is_storage]
    places = {place.root: place for place in machine.accelerators if place.root is not None}
    return [
        Nic(
            pci=f"{root.removeprefix('pci').partition(':')[0]}:{0xE0 + index:02x}:00.0",
            interface=f"ib{index}",
            root=root,
            numa=place.numa,
            rdma=f"mlx5_{index}",
        )
        for index, (root, place) in enumerate(places.items())
    ]

"""The kernel's tree of devices, `/sys`, and the attributes that it gives every device: `resource.kubernetes.io/...`.

`pci_attributes` and `cpu_attributes` are what a driver publishes so that claims can align its devices with those of
other drivers. `Sysfs` answers single questions, below a root that tests replace; it says None, or nothing, for what the
kernel does not tell: virtual machines leave much of it out.
"""

import re
from pathlib import Path
from typing import Final

from dray.api.resource.device import DeviceAttribute
from dray.driver.devices import AttributeValue, attributes

__all__ = ["NUMA_NODE", "PCIE_ROOT", "PCI_BUS_ID", "Sysfs", "cpu_attributes", "parse_cpu_list", "pci_attributes"]

PCI_BUS_ID: Final = "resource.kubernetes.io/pciBusID"
PCIE_ROOT: Final = "resource.kubernetes.io/pcieRoot"
NUMA_NODE: Final = "resource.kubernetes.io/numaNode"

_PCI_ADDRESS: Final = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
_ROOT: Final = re.compile(r"pci[0-9a-f]{4}:[0-9a-f]{2}")
_MAX_NODES: Final = 1024


def parse_cpu_list(text: str) -> list[int]:
    """The numbers of `0-3,8`, ascending. Parts that are none are left out."""
    numbers: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            numbers.update(range(int(first), int(last or first) + 1))
    return sorted(numbers)


class Sysfs:
    """What one tree says."""

    def __init__(self, root: Path = Path("/sys")) -> None:
        self.root = root

    def read(self, *names: str) -> str | None:
        """The text of a file, without the newline at its end; None if it is not there or cannot be read."""
        try:
            return self.root.joinpath(*names).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def read_number(self, *names: str) -> int | None:
        """The number that a file holds, if it holds one."""
        text = self.read(*names) or ""
        return int(text) if text.removeprefix("-").isdigit() else None

    def names(self, *folder: str) -> list[str]:
        """What is in a folder, in order; nothing if there is none."""
        try:
            return sorted(each.name for each in self.root.joinpath(*folder).iterdir())
        except OSError:
            return []

    def find_link(self, *names: str) -> str | None:
        """The name of what a link points to, such as the driver of a device."""
        try:
            return self.root.joinpath(*names).readlink().name
        except OSError:
            return None

    def find_pci_address(self, *device: str) -> str | None:
        """The address of the PCI function that a `device` link leads to, if it leads to one.

        Devices of virtio hang below their function: the last address on the way counts.
        """
        try:
            parts = self.root.joinpath(*device).resolve(strict=True).parts
        except OSError:
            return None
        return next((part for part in reversed(parts) if _PCI_ADDRESS.fullmatch(part)), None)

    def find_pcie_root(self, pci: str) -> str | None:
        """`pci0000:15`, the root complex port that a function hangs below."""
        try:
            target = self.root.joinpath("bus/pci/devices", pci).readlink()
        except OSError:
            return None
        parts = [part for part in target.parts if part not in ("..", "/")]
        if "devices" not in parts or parts[-1] != pci:
            return None
        below = parts[parts.index("devices") + 1 :]
        return below[0] if below and _ROOT.fullmatch(below[0]) else None

    def find_numa_node(self, pci: str) -> int | None:
        """The NUMA node of a function; None where the kernel says -1, which is not to be published."""
        node = self.read_number("bus/pci/devices", pci, "numa_node")
        return node if node is not None and 0 <= node < _MAX_NODES else None

    def find_near_nodes(self, node: int) -> tuple[int, ...]:
        """The node and, after it, those of its socket nearest to it; the node alone if distances are unknown."""
        distances = [int(each) for each in (self.read("devices/system/node", f"node{node}", "distance") or "").split()]
        nodes = sorted(
            int(name.removeprefix("node"))
            for name in self.names("devices/system/node")
            if name.removeprefix("node").isdigit()
        )
        by_node = dict(zip(nodes, distances, strict=False))
        socket = self._find_socket(node)
        others = [
            each for each in by_node if each != node and (socket is None or self._find_socket(each) in (None, socket))
        ]
        if not others or len(by_node) < len(nodes):
            return (node,)
        nearest = min(by_node[each] for each in others)
        return (node, *(each for each in others if by_node[each] == nearest))

    def _find_socket(self, node: int) -> int | None:
        cpus = parse_cpu_list(self.read("devices/system/node", f"node{node}", "cpulist") or "")
        if not cpus:
            return None
        return self.read_number("devices/system/cpu", f"cpu{cpus[0]}", "topology", "physical_package_id")

    def find_numa_node_of_cpu(self, cpu: int) -> int | None:
        """The NUMA node of a processor."""
        names = self.names("devices/system/cpu", f"cpu{cpu}")
        numbers = [name.removeprefix("node") for name in names if name.startswith("node")]
        return next((int(number) for number in numbers if number.isdigit()), None)

    def list_pcie_roots_of_cpu(self, cpu: int) -> tuple[str, ...]:
        """The root complexes that are local to a processor."""
        roots = [name for name in self.names("devices") if _ROOT.fullmatch(name)]
        return tuple(root for root in roots if cpu in self._list_local_cpus(root))

    def _list_local_cpus(self, root: str) -> list[int]:
        for name in self.names("devices", root):
            text = self.read("devices", root, name, "local_cpulist")
            if text:
                return parse_cpu_list(text)
        return []


def pci_attributes(
    address: str, sysfs: Sysfs | None = None, *, lists_near_nodes: bool = False
) -> dict[str, DeviceAttribute]:
    """The standard attributes of a PCI device, `0000:17:00.0`: those that the kernel knows, and no invented ones.

    With `lists_near_nodes` the NUMA node is a list, the device's own first and then those as near as can be; the API
    server must allow lists in attributes for that. Raises ValueError for an address that is none, or of no device.
    """
    sysfs = sysfs or Sysfs()
    if not _PCI_ADDRESS.fullmatch(address):
        raise ValueError(f"{address!r} is no PCI address: it must look like 0000:17:00.0, in lower case")
    if not sysfs.root.joinpath("bus/pci/devices", address).exists():
        raise ValueError(f"there is no PCI device {address}")
    node, root = sysfs.find_numa_node(address), sysfs.find_pcie_root(address)
    values: dict[str, AttributeValue] = {PCI_BUS_ID: address}
    if root is not None:
        values[PCIE_ROOT] = root
    if node is not None:
        values[NUMA_NODE] = sysfs.find_near_nodes(node) if lists_near_nodes else node
    return attributes(values)


def cpu_attributes(cpu: int, sysfs: Sysfs | None = None) -> dict[str, DeviceAttribute]:
    """The standard attributes of a processor that the kernel knows: its NUMA node, and its root complexes as a list."""
    sysfs = sysfs or Sysfs()
    node, roots = sysfs.find_numa_node_of_cpu(cpu), sysfs.list_pcie_roots_of_cpu(cpu)
    values: dict[str, AttributeValue] = {}
    if node is not None:
        values[NUMA_NODE] = node
    if roots:
        values[PCIE_ROOT] = roots
    return attributes(values)

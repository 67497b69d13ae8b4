"""The kernel's tree of devices, `/sys`, below a root that tests replace: addresses, NUMA nodes, PCIe roots, processors.

Everything answers None, or nothing, for what the kernel does not tell: virtual machines leave much of it out.
"""

import re
from pathlib import Path
from typing import Final

__all__ = ["Sysfs", "parse_cpu_list"]

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

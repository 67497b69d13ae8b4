"""A driver for serial consoles: each `ttyS*` of a folder is a device, and a pod that claims it gets its device file."""

from collections.abc import Sequence
from pathlib import Path

from dray.driver import (
    AllocatedDevice,
    Claim,
    ContainerEdits,
    Device,
    DeviceNode,
    Devices,
    Driver,
    Prepared,
    attributes,
    env,
)


class Consoles(Driver):
    """The consoles of one machine."""

    name = "console.example.com"

    def __init__(self, folder: Path = Path("/dev")) -> None:
        self._folder = folder

    async def devices(self) -> Devices:
        """One device for each console there is."""
        found = sorted(self._folder.glob("ttyS*"))
        return Devices.of(*(Device(name=each.name.lower(), attributes=attributes(file=each.name)) for each in found))

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Containers get the device file, and a variable that names it."""
        return Prepared.of(each.prepared(self._edit(each.name)) for each in devices)

    def _edit(self, device: str) -> ContainerEdits:
        path = f"/dev/{device.replace('ttys', 'ttyS')}"
        return ContainerEdits(env=env(CONSOLE=path), device_nodes=(DeviceNode(path=path, type="c", major=4, minor=64),))

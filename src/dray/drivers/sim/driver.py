"""The driver of simulated devices: publishes a blueprint's devices, minus what is in other use, tainted where failed.

How a device is prepared is a vendor's own; here it is a variable that names it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from dray.api.resource.device import Device
from dray.driver.cdi import ContainerEdits, env
from dray.driver.claims import AllocatedDevice, Claim, DeviceHealth, Prepared
from dray.driver.devices import Devices, Pool
from dray.driver.port import Driver
from dray.drivers.sim.faults import FaultBoard
from dray.drivers.sim.health import lay_faults, list_health
from dray.drivers.sim.pools import Blueprint
from dray.errors import DrayError

__all__ = ["PrepareRefused", "SimDriver", "name_variable", "show_device"]

_NOT_IN_NAMES: Final = re.compile(r"[^A-Z0-9]")


class PrepareRefused(DrayError):
    """The devices of a claim cannot be made ready; the pod sees the text."""


def name_variable(device: str) -> str:
    """The device's name as a part of the name of a variable: `GPU_0`."""
    return _NOT_IN_NAMES.sub("_", device.upper())


def show_device(device: Device) -> ContainerEdits:
    """The variable by which a container sees a simulated device: `SIM_DEVICE_GPU_0=GPU-...`, or its name."""
    identifier = next((each.string for key in ("uuid", "serial") if (each := device.attributes.get(key))), None)
    return ContainerEdits(env=env({f"SIM_DEVICE_{name_variable(device.name)}": identifier or device.name}))


class SimDriver(Driver):
    """Simulated devices of one driver on one node."""

    def __init__(self, blueprint: Blueprint, faults: FaultBoard) -> None:
        self.name = blueprint.driver
        self._blueprint = blueprint
        self._faults = faults
        self._pool = Pool()

    async def start(self) -> None:
        """Make the node's devices, and listen for failures."""
        self._pool = self._blueprint.at(self._blueprint.shared_pool or self.host.node_name)
        self._faults.listen(self.host.node_name, self._faults_changed)

    async def stop(self) -> None:
        """Stop listening."""
        self._faults.ignore(self.host.node_name, self._faults_changed)

    async def devices(self) -> Devices:
        """What is there and in no other use. What several nodes reach is published once, by none of them."""
        if self._blueprint.reach is not None:
            return Devices()
        pool = self._pool
        gone = self.list_withdrawn()
        if gone:
            pool = replace(pool, devices=tuple(each for each in pool.devices if each.name not in gone))
        return Devices((lay_faults(self.name, pool, self._faults.find(self.host.node_name)),))

    async def health(self) -> Sequence[DeviceHealth]:
        """Healthy, unless failed on command."""
        faults = self._faults.find(self.host.node_name)
        return [replace(each, pool=self._blueprint.shared_pool) for each in list_health(self._pool.devices, faults)]

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Show each device by a variable."""
        return Prepared.of(each.prepared(show_device(self.find_device(each.name))) for each in devices)

    def find_device(self, name: str) -> Device:
        """The device of that name. Raises PrepareRefused for one that this node does not have."""
        device = next((each for each in self._pool.devices if each.name == name), None)
        if device is None:
            raise PrepareRefused(f"requested device is not allocatable: {name}")
        return device

    def list_names(self) -> list[str]:
        """Every device that the node has, withdrawn or not."""
        return [each.name for each in self._pool.devices]

    def list_holds(self) -> Mapping[str, str]:
        """Who has which devices of the node open besides pods, by name of the device."""
        return self._faults.find_holds(self.host.node_name)

    def list_withdrawn(self) -> frozenset[str]:
        """Devices that are not to be had now because the same hardware is in use under another name."""
        return frozenset()

    def _faults_changed(self) -> None:
        self.host.devices_changed()
        self.host.health_changed()

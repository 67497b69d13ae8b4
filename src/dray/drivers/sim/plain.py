"""Hardware that is data alone: every device stands in the profile as it is published."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from dray.api.resource.device import Device, DeviceAttribute, DeviceCapacity
from dray.drivers.sim.part import Machine, Part, Place
from dray.drivers.sim.pools import Blueprint

__all__ = ["PlainPart"]


class PlainPart(Part, frozen=True, tag="devices"):
    """Devices in the form of the API. `attributes` and `capacity` are those that all of them have."""

    driver: str
    devices: tuple[Device, ...]
    attributes: Mapping[str, DeviceAttribute] = {}
    capacity: Mapping[str, DeviceCapacity] = {}

    def accelerators(self) -> tuple[Place, ...]:
        """The devices that say on which PCIe root they are."""
        roots = [each.attributes.get("resource.kubernetes.io/pcieRoot") for each in self.devices]
        return tuple(
            Place(pci=device.name, root=root.string)
            for device, root in zip(self.devices, roots, strict=True)
            if root is not None
        )

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """The devices, each with what all have."""
        devices = [
            replace(
                each,
                attributes={**self.attributes, **each.attributes},
                capacity={**self.capacity, **each.capacity},
            )
            for each in self.devices
        ]
        return [Blueprint.of(self.driver, devices)]

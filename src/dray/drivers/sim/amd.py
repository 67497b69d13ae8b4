"""`gpu.amd.com`: whole GPUs, or the partitions that an administrator has cut them into."""

from collections.abc import Iterator, Sequence
from typing import Final, Self

from msgspec.structs import replace

from dray.api.resource.device import Device, DeviceAttribute
from dray.drivers.sim.attributes import PCIE_ROOT, amount, number, text, version
from dray.drivers.sim.part import Machine, Part, Place
from dray.drivers.sim.pools import Blueprint
from dray.values.quantity import Quantity, QuantityFormat, parse_quantity

__all__ = ["AmdPart"]

DRIVER: Final = "gpu.amd.com"
_MEBI: Final = 2**20
_FIRST_RENDER_NODE: Final = 128
_PARTITIONS: Final = 8
"""Of a GPU in mode CPX with NPS4."""


class AmdPart(Part, frozen=True, tag="amd-gpus"):
    """GPUs of one model. `is_partitioned` cuts each into eight, `cpx_nps4`."""

    product_name: str
    memory: str
    compute_units: int
    simd_units: int
    gpus: tuple[Place, ...]
    family: str = "AI"
    driver_version: str = "6.12.12"
    is_partitioned: bool = False

    def choose(self, option: str, value: str) -> Self | None:
        """`cpx` cuts all GPUs."""
        return replace(self, is_partitioned=True) if option == "cpx" and not value else None

    def options(self) -> tuple[str, ...]:
        """One."""
        return ("cpx",)

    def accelerators(self) -> tuple[Place, ...]:
        """The GPUs."""
        return self.gpus

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """Cards are numbered from 1, as card 0 is the board's own graphics."""
        devices = list(self._partitions() if self.is_partitioned else self._wholes())
        return [Blueprint.of(DRIVER, devices)]

    def _wholes(self) -> Iterator[Device]:
        for index, place in enumerate(self.gpus):
            card, render = index + 1, _FIRST_RENDER_NODE + index + 1
            told = self._told(card, render, place) | {
                "type": text("amdgpu"),
                "pciAddr": text(place.pci),
                "deviceID": DeviceAttribute(string=f"{{number:card-{card}}}"),
                "partitionProfile": text("spx_nps1"),
            }
            yield self._device(card, render, told, 1)

    def _partitions(self) -> Iterator[Device]:
        for index, place in enumerate(self.gpus):
            for part in range(_PARTITIONS):
                card = index * _PARTITIONS + part + 1
                told = self._told(card, _FIRST_RENDER_NODE + card, place) | {
                    "type": text("amdgpu-partition"),
                    "parentPciAddr": text(place.pci),
                    "parentDeviceID": DeviceAttribute(string=f"{{number:card-{index + 1}}}"),
                    "partitionProfile": text("cpx_nps4"),
                }
                yield self._device(card, _FIRST_RENDER_NODE + card, told, _PARTITIONS)

    def _told(self, card: int, render: int, place: Place) -> dict[str, DeviceAttribute]:
        told = {
            "cardIndex": number(card),
            "renderIndex": number(render),
            "family": text(self.family),
            "productName": text(self.product_name),
            "driverVersion": version(self.driver_version),
        }
        return told if place.root is None else told | {PCIE_ROOT: text(place.root)}

    def _device(self, card: int, render: int, told: dict[str, DeviceAttribute], cut: int) -> Device:
        memory = Quantity.of(parse_quantity(self.memory).value() // cut // _MEBI * _MEBI, QuantityFormat.BINARY_SI)
        capacity = {
            "memory": amount(memory),
            "computeUnits": amount(self.compute_units // cut),
            "simdUnits": amount(self.simd_units // cut),
        }
        return Device(name=f"gpu-{card}-{render}", attributes=told, capacity=capacity)

"""Full GPUs, and their other self for virtual machines."""

import re
from typing import Final

from msgspec import Struct

from dray.api.resource.device import Device, DeviceAttribute
from dray.drivers.sim.attributes import (
    NUMA_NODE,
    PCI_BUS_ID,
    PCIE_ROOT,
    amount,
    number,
    numbers,
    text,
    version,
)
from dray.drivers.sim.identity import make_uuid5
from dray.drivers.sim.nvidia.models import GpuModel
from dray.drivers.sim.part import Place

__all__ = ["DRIVER", "Gpu", "board_attributes", "find_minor", "full_gpu", "gpu_name", "uuid_pattern", "vfio_gpu"]

DRIVER: Final = "gpu.nvidia.com"
_NAME: Final = re.compile(r"gpu-(?:vfio-)?(\d+)(?:-mig-.+)?")


class Gpu(Struct, frozen=True):
    """One GPU of a node: model, place, and how its place is told."""

    minor: int
    model: GpuModel
    place: Place
    lists_numa: bool = False
    """Publish the NUMA node as a list of one, as the driver does if its gate for lists is on."""
    publishes_index: bool = False
    """Publish `index`, as drivers before 25.8 did and an old demo still expects."""


def gpu_name(minor: int) -> str:
    """`gpu-0`."""
    return f"gpu-{minor}"


def find_minor(device: str) -> int | None:
    """The minor number of the GPU that a device is, or is a part of; None for what is no name of such."""
    match = _NAME.fullmatch(device)
    return int(match[1]) if match else None


def uuid_pattern(gpu: Gpu) -> str:
    """The GPU's UUID, which only its node can fill in."""
    return f"GPU-{{uuid:{gpu_name(gpu.minor)}}}"


def _place_attributes(gpu: Gpu) -> dict[str, DeviceAttribute]:
    """Where the GPU sits, as far as its machine tells."""
    place = gpu.place
    told = {PCI_BUS_ID: text(place.pci)}
    if place.root is not None:
        told[PCIE_ROOT] = text(place.root)
    if place.numa is not None:
        told[NUMA_NODE] = numbers(place.numa) if gpu.lists_numa else number(place.numa)
    return told


def board_attributes(gpu: Gpu) -> dict[str, DeviceAttribute]:
    """What a GPU and its MIG devices have in common."""
    model = gpu.model
    told = {
        "productName": text(model.product_name),
        "brand": text(model.brand),
        "architecture": text(model.architecture),
        "cudaComputeCapability": version(model.compute_capability),
        "driverVersion": version(model.driver_version),
        "cudaDriverVersion": version(model.cuda_driver_version),
    }
    if model.addressing_mode is not None:
        told["addressingMode"] = text(model.addressing_mode)
    return told | _place_attributes(gpu)


def full_gpu(gpu: Gpu) -> Device:
    """The GPU as a whole. Its cores are told in our own domain, for the driver does not publish them."""
    told: dict[str, DeviceAttribute] = {
        "type": text("gpu"),
        "uuid": DeviceAttribute(string=uuid_pattern(gpu)),
        **board_attributes(gpu),
    }
    if gpu.publishes_index:
        told["index"] = number(gpu.minor)
    if gpu.model.cores is not None:
        told["sim.dray.dev/cores"] = number(gpu.model.cores)
    if gpu.model.fp64_cores is not None:
        told["sim.dray.dev/fp64Cores"] = number(gpu.model.fp64_cores)
    return Device(name=gpu_name(gpu.minor), attributes=told, capacity={"memory": amount(gpu.model.memory)})


def vfio_gpu(gpu: Gpu) -> Device:
    """The GPU as it is handed to a virtual machine. Its UUID stays with the slot."""
    told = {
        "type": text("vfio"),
        "uuid": text(make_uuid5(gpu.place.pci)),
        "deviceID": text(gpu.model.pci_device),
        "vendorID": text("0x10de"),
        "productName": text(gpu.model.pci_name),
        **_place_attributes(gpu),
    }
    capacity = {"addressableMemory": amount(gpu.model.addressable_memory)}
    return Device(name=f"gpu-vfio-{gpu.minor}", attributes=told, capacity=capacity)

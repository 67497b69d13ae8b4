"""Failing, healing and holding simulated devices from outside: through annotations of nodes alone.

What is done here anybody could do with kubectl. Drivers see the annotations and make of them what their hardware
would: taints, unhealthy status.
"""

import difflib

from msgspec import Struct

from dray.api.core.kinds import NODE
from dray.api.core.node import Node
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.client.port import Client, ListOptions
from dray.drivers.sim.annotating import annotate_node
from dray.drivers.sim.faults import FAULT_PREFIX, HOLD_PREFIX, Fault, find_faults, find_holds, format_fault
from dray.drivers.sim.nvidia.gpus import DRIVER as NVIDIA
from dray.drivers.sim.nvidia.gpus import find_minor, gpu_name
from dray.drivers.sim.nvidia.hardware import GpuState, find_states
from dray.errors import DrayError

__all__ = [
    "DevicePlace",
    "GpuSight",
    "PlaceError",
    "fail_device",
    "heal_devices",
    "hold_gpu",
    "look_at_gpus",
    "parse_place",
    "release_gpus",
]


class PlaceError(DrayError):
    """There is no such node or device. `hint` says which there are."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class DevicePlace(Struct, frozen=True):
    """A device of a node, or with an empty name all of them."""

    node: str
    device: str = ""

    def __str__(self) -> str:
        return f"{self.node}/{self.device}" if self.device else self.node


def parse_place(text: str) -> DevicePlace:
    """Read `NODE/DEVICE`, or `NODE`."""
    node, _, device = text.partition("/")
    return DevicePlace(node, device)


async def fail_device(client: Client, place: DevicePlace, fault: Fault) -> list[str]:
    """Have a device fail. Returns the drivers that have one of that name. Raises PlaceError, ApiError."""
    if not place.device:
        raise PlaceError(f"{place.node} names no device", f"{place.node}/DEVICE; `dray devices` shows them")
    node = await _get_node(client, place.node)
    slices = (await client.list(RESOURCE_SLICE, ListOptions(field_selector=f"spec.nodeName={place.node}"))).items
    names = {device.name: each.spec.driver for each in slices for device in each.spec.devices or ()}
    drivers = sorted(
        {each.spec.driver for each in slices for device in each.spec.devices or () if device.name == place.device}
    )
    if not drivers:
        close = difflib.get_close_matches(place.device, names, n=1) or sorted(names)[:1]
        raise PlaceError(f"node {place.node} has no device {place.device}", f"{place.node}/{close[0]}" if close else "")
    await annotate_node(client, node.metadata.name, {f"{FAULT_PREFIX}{place.device}": format_fault(fault)})
    return drivers


async def heal_devices(client: Client, place: DevicePlace) -> list[str]:
    """Heal a device, or all of a node. Returns those that had failed. Raises PlaceError, ApiError."""
    failed = find_faults(await _get_node(client, place.node))
    healed = [name for name in failed if place.device in ("", name)]
    if healed:
        await annotate_node(client, place.node, {f"{FAULT_PREFIX}{name}": None for name in healed})
    return healed


class GpuSight(Struct, frozen=True):
    """A simulated GPU as its own tools would show it."""

    node: str
    gpu: str
    state: GpuState
    held_by: str = ""
    """Who has it open besides pods."""


async def look_at_gpus(client: Client, place: DevicePlace) -> list[GpuSight]:
    """The GPU of that name, or all of a node. Raises PlaceError, ApiError."""
    node = await _get_node(client, place.node)
    names = await _list_gpus(client, place)
    states, holds = find_states(node.metadata.annotations), find_holds(node)
    return [GpuSight(place.node, each, states.get(each, GpuState()), holds.get(each, "")) for each in names]


async def hold_gpu(client: Client, place: DevicePlace, by: str) -> None:
    """Have a program that is no pod keep a GPU open. Raises PlaceError, ApiError."""
    if not place.device:
        raise PlaceError(
            f"{place.node} names no GPU", f"{place.node}/gpu-0; `dray device show {place.node}` shows them"
        )
    await _get_node(client, place.node)
    (name,) = await _list_gpus(client, place)
    await annotate_node(client, place.node, {f"{HOLD_PREFIX}{name}": by})


async def release_gpus(client: Client, place: DevicePlace) -> list[str]:
    """Have that program end, or all of a node. Returns the GPUs that were held. Raises PlaceError, ApiError."""
    held = find_holds(await _get_node(client, place.node))
    released = [name for name in held if place.device in ("", name)]
    if released:
        await annotate_node(client, place.node, {f"{HOLD_PREFIX}{name}": None for name in released})
    return released


async def _list_gpus(client: Client, place: DevicePlace) -> list[str]:
    """The GPUs of a node, whatever they are offered as; or the one that is meant."""
    fields = ListOptions(field_selector=f"spec.nodeName={place.node},spec.driver={NVIDIA}")
    slices = (await client.list(RESOURCE_SLICE, fields)).items
    minors = {find_minor(device.name) for each in slices for device in each.spec.devices or ()}
    names = [gpu_name(minor) for minor in sorted(each for each in minors if each is not None)]
    if not place.device:
        return names
    if place.device not in names:
        close = difflib.get_close_matches(place.device, names, n=1) or names[:1]
        raise PlaceError(f"node {place.node} has no GPU {place.device}", f"{place.node}/{close[0]}" if close else "")
    return [place.device]


async def _get_node(client: Client, name: str) -> Node:
    nodes = {each.metadata.name: each for each in (await client.list(NODE)).items}
    if name not in nodes:
        close = difflib.get_close_matches(name, nodes, n=1) or sorted(nodes)[:1]
        raise PlaceError(f"there is no node {name}", close[0] if close else "")
    return nodes[name]

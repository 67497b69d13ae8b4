"""Failing and healing simulated devices from outside: through annotations of nodes alone.

What is done here anybody could do with kubectl. Drivers see the annotations and make of them what their hardware
would: taints, unhealthy status.
"""

import difflib
import json

from msgspec import Struct

from dray.api.core.kinds import NODE
from dray.api.core.node import Node
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.client.port import Client, ListOptions, ObjectName, Patch, PatchType
from dray.drivers.sim.faults import FAULT_PREFIX, Fault, find_faults, format_fault
from dray.errors import DrayError

__all__ = [
    "DevicePlace",
    "PlaceError",
    "fail_device",
    "heal_devices",
    "parse_place",
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
    await _annotate(client, node.metadata.name, {place.device: format_fault(fault)})
    return drivers


async def heal_devices(client: Client, place: DevicePlace) -> list[str]:
    """Heal a device, or all of a node. Returns those that had failed. Raises PlaceError, ApiError."""
    failed = find_faults(await _get_node(client, place.node))
    healed = [name for name in failed if place.device in ("", name)]
    if healed:
        await _annotate(client, place.node, dict.fromkeys(healed))
    return healed


async def _get_node(client: Client, name: str) -> Node:
    nodes = {each.metadata.name: each for each in (await client.list(NODE)).items}
    if name not in nodes:
        close = difflib.get_close_matches(name, nodes, n=1)
        raise PlaceError(f"there is no node {name}", close[0] if close else "")
    return nodes[name]


async def _annotate(client: Client, node: str, texts: dict[str, str] | dict[str, None]) -> None:
    """Set an annotation of each device, or take it away."""
    annotations = {f"{FAULT_PREFIX}{device}": text for device, text in texts.items()}
    body = json.dumps({"metadata": {"annotations": annotations}}).encode()
    await client.patch(NODE, ObjectName(node), Patch(PatchType.MERGE, body))

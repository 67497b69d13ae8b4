"""Failing and healing simulated devices from outside, and seeing them: through annotations of nodes alone.

What is done here anybody could do with kubectl. Drivers see the annotations and make of them what their hardware
would: taints, unhealthy status.
"""

import difflib
import json
from collections.abc import Iterable, Sequence

from msgspec import Struct

from dray.api.core.kinds import NODE
from dray.api.core.node import Node
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice
from dray.client.port import Client, ListOptions, ObjectName, Patch, PatchType
from dray.drivers.sim.faults import FAULT_PREFIX, Fault, find_faults, format_fault
from dray.drivers.sim.health import find_fault
from dray.errors import DrayError

__all__ = [
    "DevicePlace",
    "DeviceRow",
    "PlaceError",
    "fail_device",
    "heal_devices",
    "list_device_rows",
    "list_rows",
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


class DeviceRow(Struct, frozen=True, rename="camel"):
    """A device that is published, who has it, and what is wrong with it."""

    node: str
    driver: str
    device: str
    claims: tuple[str, ...]
    """`namespace/name` of those that have it, or a share of it."""
    state: str
    """`healthy`, or the effect and the reason of its failure."""


def parse_place(text: str) -> DevicePlace:
    """Read `NODE/DEVICE`, or `NODE`."""
    node, _, device = text.partition("/")
    return DevicePlace(node, device)


async def fail_device(client: Client, place: DevicePlace, fault: Fault) -> list[str]:
    """Have a device fail. Returns the drivers that have one of that name. Raises PlaceError, ApiError."""
    if not place.device:
        raise PlaceError(f"{place.node} names no device", f"{place.node}/DEVICE; `dray device list` shows them")
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


async def list_device_rows(client: Client, node: str = "") -> list[DeviceRow]:
    """Every published device of one node or of all, by node, driver and order of publishing."""
    nodes = (await client.list(NODE)).items
    options = ListOptions(field_selector=f"spec.nodeName={node}") if node else ListOptions()
    slices = (await client.list(RESOURCE_SLICE, options)).items
    claims = (await client.list(RESOURCE_CLAIM)).items
    return list_rows(nodes, slices, claims)


def list_rows(
    nodes: Iterable[Node], slices: Iterable[ResourceSlice], claims: Iterable[ResourceClaim]
) -> list[DeviceRow]:
    """Put together who has what. Slices of old generations do not count."""
    users = _find_users(claims)
    faults = {each.metadata.name: find_faults(each) for each in nodes}
    rows = []
    for each in _list_newest(slices):
        spec = each.spec
        place = spec.node_name or ""
        for device in spec.devices or ():
            fault = find_fault(device.name, faults.get(place, {}))
            taken = users.get((spec.driver, spec.pool.name, device.name), [])
            state = "healthy" if fault is None else format_fault(fault)
            rows.append(DeviceRow(place, spec.driver, device.name, tuple(dict.fromkeys(taken)), state))
    return rows


def _find_users(claims: Iterable[ResourceClaim]) -> dict[tuple[str, str, str], list[str]]:
    """The claims that have each device, by driver, pool and name. Administrators have nothing, they look."""
    users: dict[tuple[str, str, str], list[str]] = {}
    for claim in claims:
        if claim.status.allocation is None:
            continue
        for result in claim.status.allocation.devices.results:
            if not result.admin_access:
                key = (result.driver, result.pool, result.device)
                users.setdefault(key, []).append(f"{claim.metadata.namespace}/{claim.metadata.name}")
    return users


def _list_newest(slices: Iterable[ResourceSlice]) -> Sequence[ResourceSlice]:
    ordered = sorted(slices, key=lambda each: (each.spec.node_name or "", each.spec.driver, each.metadata.name))
    newest: dict[tuple[str, str], int] = {}
    for each in ordered:
        key = (each.spec.driver, each.spec.pool.name)
        newest[key] = max(newest.get(key, 0), each.spec.pool.generation)
    return [each for each in ordered if each.spec.pool.generation == newest[each.spec.driver, each.spec.pool.name]]


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

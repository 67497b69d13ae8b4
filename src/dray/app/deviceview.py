"""`dray devices`: who holds what on whatever the client reaches, once or for as long as somebody looks."""

import asyncio
import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from dray.allocator.inventory import DeviceEntry, Facts, Inventory, take_inventory
from dray.allocator.nodematch import is_reachable
from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.registry import AnyKind
from dray.api.resource.kinds import DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_SLICE
from dray.client.paging import list_all
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.effects.clock import Clock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import Log
from dray.errors import DrayError, Forbidden, NotFound

__all__ = ["DeviceChoice", "DeviceView", "NoSuchNode", "follow_devices", "read_devices"]

_INDISPENSABLE: Final = (RESOURCE_SLICE, RESOURCE_CLAIM)
_READ: Final[tuple[AnyKind, ...]] = (RESOURCE_SLICE, RESOURCE_CLAIM, NODE, POD, DEVICE_TAINT_RULE)
_GATHER_SECONDS: Final = 0.1
"""Changes within so long are shown together: most writes come in twos and threes."""


class NoSuchNode(DrayError):
    """There is no node of that name. `hint` says which there is."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"there is no node {name}")
        close = difflib.get_close_matches(name, list(known), n=1)
        self.hint = f"dray devices {close[0]}" if close else "dray devices shows all"


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """Which devices to look at; what is empty does not matter. A claim is `namespace/name`."""

    node: str = ""
    driver: str = ""
    claim: str = ""


@dataclass(frozen=True, slots=True)
class DeviceView:
    """The chosen devices, and kinds that may not be read."""

    inventory: Inventory
    unread: tuple[str, ...] = ()


async def read_devices(client: Client, choice: DeviceChoice) -> DeviceView:
    """See the devices that are chosen, now. Raises NoSuchNode, ApiError."""
    things, unread = await _read(client)
    return _view(things, unread, choice)


async def follow_devices(
    client: Client, choice: DeviceChoice, show: Callable[[DeviceView], None], *, clock: Clock, log: Log
) -> None:
    """Show the devices that are chosen, and again whenever anything about them changes, until cancelled."""
    things, unread = await _read(client)
    _view(things, unread, choice)
    informers = SharedInformers(client, Pace(clock, SystemEntropy()), log)
    followed = [kind for kind in _READ if kind.name in things]
    changed = asyncio.Event()
    for kind in followed:
        informers.get(kind).add_handler(lambda _change: changed.set())
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(informers.run(), name="informers")
        await informers.wait_synced(followed)
        changed.set()
        before: DeviceView | None = None
        while True:
            await changed.wait()
            await clock.sleep(_GATHER_SECONDS)
            changed.clear()
            view = _view({kind.name: informers.get(kind).view.select() for kind in followed}, unread, choice)
            if view != before:
                show(view)
            before = view


async def _read(client: Client) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Objects by kind, and the kinds that may not be read. Kinds that are not served are in neither."""
    things: dict[str, Any] = {}
    unread: list[str] = []

    async def read(kind: AnyKind) -> None:
        try:
            things[kind.name] = (await list_all(client, kind)).items
        except (Forbidden, NotFound) as fault:
            if kind in _INDISPENSABLE:
                raise
            if isinstance(fault, Forbidden):
                unread.append(kind.plural)

    await asyncio.gather(*map(read, _READ))
    return things, tuple(sorted(unread))


def _view(things: dict[str, Any], unread: tuple[str, ...], choice: DeviceChoice) -> DeviceView:
    facts = Facts(
        slices=things[RESOURCE_SLICE.name],
        claims=things[RESOURCE_CLAIM.name],
        nodes=things.get(NODE.name, ()),
        pods=things.get(POD.name, ()),
        rules=things.get(DEVICE_TAINT_RULE.name, ()),
    )
    inventory = take_inventory(facts)
    devices = [each for each in inventory.devices if _is_chosen(each, choice)]
    if choice.node:
        reachable = _find_reachable(facts, choice.node, inventory.devices)
        devices = [each for each in devices if each.node == choice.node or each.path in reachable]
    pools = {f"{each.driver}/{each.pool}" for each in devices}
    incomplete = tuple(pool for pool in inventory.incomplete if pool in pools)
    return DeviceView(replace(inventory, devices=tuple(devices), incomplete=incomplete), unread)


def _is_chosen(entry: DeviceEntry, choice: DeviceChoice) -> bool:
    if choice.driver and entry.driver != choice.driver:
        return False
    return not choice.claim or choice.claim in {each.claim for each in entry.holders}


def _find_reachable(facts: Facts, name: str, devices: Iterable[DeviceEntry]) -> set[str]:
    """Devices of no node that can be used from this one. Raises NoSuchNode."""
    nodes: dict[str, Node] = {each.metadata.name: each for each in facts.nodes}
    if name not in nodes:
        known = {*nodes, *(each.node for each in devices if each.node)}
        if name in known:
            return set()
        raise NoSuchNode(name, sorted(known))
    found: set[str] = set()
    for source in facts.slices:
        spec = source.spec
        if spec.node_name:
            continue
        for device in spec.devices or ():
            if is_reachable(device if spec.per_device_node_selection else spec, nodes[name]):
                found.add(f"{spec.driver}/{spec.pool.name}/{device.name}")
    return found

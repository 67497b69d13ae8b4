"""`dray devices`: who holds what on whatever the client reaches, once or for as long as somebody looks."""

import asyncio
import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from msgspec.structs import replace

from dray.allocator.ids import claim_ref
from dray.allocator.inventory import DeviceEntry, Facts, Inventory, take_inventory
from dray.allocator.nodematch import NodeSelectorError, is_reachable
from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.registry import AnyKind
from dray.api.resource.device import Device
from dray.api.resource.kinds import DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.resource.slice import ResourceSliceSpec
from dray.client.paging import list_all
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.effects.clock import Clock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import Log
from dray.errors import DrayError, Forbidden, NotFound

__all__ = ["DeviceChoice", "DeviceView", "NothingChosen", "follow_devices", "read_devices"]

_INDISPENSABLE: Final = (RESOURCE_SLICE, RESOURCE_CLAIM)
_READ: Final[tuple[AnyKind, ...]] = (RESOURCE_SLICE, RESOURCE_CLAIM, NODE, POD, DEVICE_TAINT_RULE)
_PATTERN: Final = re.compile(r"[*?\[]")
_GATHER_SECONDS: Final = 0.1
"""Changes within so long are shown together: most writes come in twos and threes."""


class NothingChosen(DrayError):
    """There is no node, driver or claim of that name. `hint` says which there is."""

    def __init__(self, what: str, flag: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"there is no {what} {name}")
        close = difflib.get_close_matches(name, list(known), n=1)
        self.hint = f"dray devices {flag}{close[0]}" if close else "dray devices shows all"


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """Which devices to look at; what is empty does not matter. A claim is a pattern of `namespace/name`."""

    node: str = ""
    driver: str = ""
    pool: str = ""
    claim: str = ""


@dataclass(frozen=True, slots=True)
class DeviceView:
    """The chosen devices, and kinds that may not be read."""

    inventory: Inventory
    unread: tuple[str, ...] = ()


async def read_devices(client: Client, choice: DeviceChoice) -> DeviceView:
    """See the devices that are chosen, now. Raises NothingChosen, ApiError."""
    things, unread = await _read(client)
    facts = _make_facts(things)
    inventory = take_inventory(facts)
    _check_node(facts, inventory, choice)
    _check_names(facts, inventory, choice)
    return DeviceView(_choose(facts, inventory, choice), unread)


async def follow_devices(
    client: Client, choice: DeviceChoice, show: Callable[[DeviceView], None], *, clock: Clock, log: Log
) -> None:
    """Show the devices that are chosen, and again whenever anything about them changes, until cancelled.

    Drivers, pools and claims may be still to come. Raises NothingChosen for nodes that are not there, ApiError.
    """
    things, unread = await _read(client)
    facts = _make_facts(things)
    _check_node(facts, take_inventory(facts), choice)
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
            facts = _make_facts({kind.name: informers.get(kind).view.select() for kind in followed})
            view = DeviceView(_choose(facts, take_inventory(facts), choice), unread)
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


def _make_facts(things: dict[str, Any]) -> Facts:
    return Facts(
        slices=things[RESOURCE_SLICE.name],
        claims=things[RESOURCE_CLAIM.name],
        nodes=things.get(NODE.name, ()),
        pods=things.get(POD.name, ()),
        rules=things.get(DEVICE_TAINT_RULE.name, ()),
    )


def _check_node(facts: Facts, inventory: Inventory, choice: DeviceChoice) -> None:
    known = {each.metadata.name for each in facts.nodes} | {each.node for each in inventory.devices}
    if choice.node and choice.node not in known:
        raise NothingChosen("node", "", choice.node, sorted(known - {""}))


def _check_names(facts: Facts, inventory: Inventory, choice: DeviceChoice) -> None:
    """Drivers, pools and claims that are not there are misspelt; patterns may stand for none."""
    drivers, pools = ({each.driver for each in inventory.devices}, {each.pool for each in inventory.devices})
    claims = {claim_ref(each) for each in facts.claims}
    for what, name, known in (("driver", choice.driver, drivers), ("pool", choice.pool, pools)):
        if name and name not in known:
            raise NothingChosen(what, f"--{what} ", name, sorted(known))
    if choice.claim and not _PATTERN.search(choice.claim) and choice.claim not in claims:
        raise NothingChosen("claim", "--claim ", choice.claim, sorted(claims))


def _choose(facts: Facts, inventory: Inventory, choice: DeviceChoice) -> Inventory:
    devices = [each for each in inventory.devices if _is_chosen(each, choice)]
    if choice.node:
        reachable = _find_reachable(facts, choice.node)
        devices = [each for each in devices if each.node == choice.node or each.path in reachable]
    pools = {f"{each.driver}/{each.pool}" for each in devices}
    incomplete = tuple(pool for pool in inventory.incomplete if pool in pools)
    return replace(inventory, devices=tuple(devices), incomplete=incomplete)


def _is_chosen(entry: DeviceEntry, choice: DeviceChoice) -> bool:
    if choice.driver and entry.driver != choice.driver:
        return False
    if choice.pool and entry.pool != choice.pool:
        return False
    return not choice.claim or any(fnmatchcase(each.claim, choice.claim) for each in entry.holders)


def _find_reachable(facts: Facts, name: str) -> set[str]:
    """Devices of no node that can be used from this one."""
    node = next((each for each in facts.nodes if each.metadata.name == name), None)
    if node is None:
        return set()
    shared = [each.spec for each in facts.slices if not each.spec.node_name]
    return {
        f"{spec.driver}/{spec.pool.name}/{device.name}"
        for spec in shared
        for device in spec.devices or ()
        if _is_reachable(device if spec.per_device_node_selection else spec, node)
    }


def _is_reachable(place: ResourceSliceSpec | Device, node: Node) -> bool:
    try:
        return is_reachable(place, node)
    except NodeSelectorError:
        return False

"""Where devices sit, as far as their drivers tell: NUMA node, PCIe root, NVLink clique, and the card of a part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from dray.allocator.survey import name_value
from dray.api.resource.device import Device

__all__ = ["Spot", "find_parents", "find_spot"]

_NUMA: Final = ("numaNode", "numaNodeID", "numa")
_ROOT: Final = ("pcieRoot", "pcieRootComplex")
_CLIQUE: Final = ("cliqueID", "clique", "nvlinkClique")
_KIND: Final = (
    "profile",
    "partitionProfile",
    "productName",
    "model",
    "accelerator",
    "type",
    "sriovType",
    "ifName",
    "services",
)
"""The first that is there says what a device is."""
_PARENT: Final = (("parentUUID", "uuid"), ("parentPciAddr", "pciAddr"), ("parentDeviceID", "deviceID"))
"""What a part says of its card, and by what the card says that it is the one."""
_STANDARD: Final = "resource.kubernetes.io"
_PARTS: Final = ("-mig", "-partition", "-part")


class Spot(Struct, frozen=True):
    """Where a device sits and what it is. What its driver does not tell is empty."""

    node: str
    parent: str = ""
    numa_node: str = ""
    pcie_root: str = ""
    clique: str = ""
    kind: str = ""


def find_spot(driver: str, device: Device, node: str, parent: str, clique: str) -> Spot:
    """The place of a device on a node; `clique` is what the node says of itself, which counts for GPUs alone."""
    told = _read_bare(driver, device)
    is_gpu = driver.startswith("gpu.") or told.get("type", "") in ("gpu", "mig")
    return Spot(
        node=node,
        parent=parent,
        numa_node=_first(told, _NUMA),
        pcie_root=_first(told, _ROOT),
        clique=_first(told, _CLIQUE) or (clique if is_gpu else ""),
        kind=_first(told, _KIND),
    )


def find_parents(driver: str, devices: Sequence[Device]) -> dict[str, str]:
    """By name of a part the card it is of: the device that says so, else the one that takes all of their counters.

    A card that is no device itself is called by the beginning that the names of its parts have in common, as long as
    no other device's name begins so, else by what its parts call it.
    """
    parents: dict[str, str] = {}
    told = {device.name: _read_bare(driver, device) for device in devices}
    for hint, own in _PARENT:
        cards = {each[own]: name for name, each in told.items() if own in each and hint not in each}
        orphans: dict[str, list[str]] = {}
        for name, each in told.items():
            if hint in each and name not in parents:
                orphans.setdefault(each[hint], []).append(name)
        for value, names in orphans.items():
            parents.update(dict.fromkeys(names, cards.get(value) or _name_card(names, told, value)))
    for names, card in _group_by_counters(devices):
        parents.update((name, card) for name in names if name not in parents and name != card)
    return parents


def _name_card(parts: Sequence[str], known: Iterable[str], otherwise: str) -> str:
    common = _common_name(parts)
    is_of_others = any(name.startswith(f"{common}-") for name in set(known).difference(parts))
    return otherwise if is_of_others or not common else common


def _group_by_counters(devices: Sequence[Device]) -> Iterator[tuple[list[str], str]]:
    """Devices that draw on the same counters, and their card."""
    known = [each.name for each in devices]
    groups: dict[str, list[Device]] = {}
    for device in devices:
        if len(device.consumes_counters) == 1:
            groups.setdefault(device.consumes_counters[0].counter_set, []).append(device)
    for counter_set, group in groups.items():
        if len(group) > 1:
            names = [each.name for each in group]
            whole = next((each.name for each in group if _takes_most(each, group)), None)
            yield names, whole or _name_card(names, known, counter_set)


def _takes_most(device: Device, group: Sequence[Device]) -> bool:
    """Whether a device takes of every counter at least as much as any other, and does not only look like another."""
    own = device.consumes_counters[0].counters
    for other in group:
        counters = other.consumes_counters[0].counters
        if other is device:
            continue
        if any(name not in own or own[name].value < each.value for name, each in counters.items()):
            return False
        if counters == own:
            return False
    return True


def _common_name(names: Sequence[str]) -> str:
    """What names have in common up to a dash, without what only says that they are parts."""
    pieces = [name.split("-") for name in names]
    count = next((i for i, same in enumerate(zip(*pieces, strict=False)) if len(set(same)) > 1), min(map(len, pieces)))
    common = "-".join(pieces[0][:count])
    for end in _PARTS:
        found = common.rfind(end)
        if found > 0:
            return common[:found]
    return common


def _read_bare(driver: str, device: Device) -> dict[str, str]:
    """Attributes without their domains: those of Kubernetes before those of the driver, these before others."""
    told: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for name, each in device.attributes.items():
        domain, _, bare = name.rpartition("/")
        rank = 2 if domain == _STANDARD else 1 if domain in ("", driver) else 0
        if rank >= ranks.get(bare, 0):
            told[bare], ranks[bare] = name_value(each), rank
    return told


def _first(told: dict[str, str], names: Iterable[str]) -> str:
    return next((told[name] for name in names if name in told), "")

"""Where devices sit, as far as their drivers tell: NUMA node, PCIe root, NVLink clique, and the card of a part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from dray.allocator.survey import name_value
from dray.api.resource.device import Device

__all__ = ["Spot", "find_parents", "find_spot"]

_NUMA: Final = ("numaNode", "numaNodeID", "numa")
_ROOT: Final = ("pcieRoot", "pcieRootComplex")
_CLIQUE: Final = ("cliqueID", "clique", "nvlinkClique")
_KIND: Final = ("profile", "productName", "model", "type", "sriovType", "ifName")
"""The first that is there says what a device is."""
_PARENT: Final = (("parentUUID", "uuid"), ("parentDeviceID", "deviceID"), ("parentPciAddr", "pciAddr"))
"""What a part says of its card, and by what the card says that it is the one."""
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

    Where the card is no device itself, parts of one card have the beginning of their names in common.
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
            parents.update(dict.fromkeys(names, cards.get(value) or _common_name(names)))
    for names, card in _group_by_counters(devices):
        parents.update((name, card) for name in names if name not in parents and name != card)
    return parents


def _group_by_counters(devices: Sequence[Device]) -> Iterable[tuple[list[str], str]]:
    """Devices that draw on the same counters, and their card."""
    groups: dict[str, list[Device]] = {}
    for device in devices:
        if len(device.consumes_counters) == 1:
            groups.setdefault(device.consumes_counters[0].counter_set, []).append(device)
    for group in groups.values():
        if len(group) > 1:
            names = [each.name for each in group]
            yield names, next((each.name for each in group if _takes_most(each, group)), _common_name(names))


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
    first, last = min(names), max(names)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(min(names, key=len)))
    common = first[:length].rstrip("-")
    for end in _PARTS:
        found = common.rfind(end)
        if found > 0:
            return common[:found]
    return common


def _read_bare(driver: str, device: Device) -> dict[str, str]:
    """Attributes without their domains, those of the driver and of Kubernetes before others."""
    told: dict[str, str] = {}
    for name, each in device.attributes.items():
        domain, _, bare = name.rpartition("/")
        if bare not in told or domain in ("", driver, "resource.kubernetes.io"):
            told[bare] = name_value(each)
    return told


def _first(told: dict[str, str], names: Iterable[str]) -> str:
    return next((told[name] for name in names if name in told), "")

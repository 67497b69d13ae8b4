"""What processors are offered as: one device each, or one for each group, of which claims take a number. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from dray.api.resource.device import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Device,
    DeviceCapacity,
    NodeAllocatableMapping,
    NodeAllocatableResource,
)
from dray.driver.devices import attributes
from dray.driver.sysfs import NUMA_NODE, PCIE_ROOT
from dray.drivers.cpu.topology import Cpu, Topology
from dray.values.quantity import Quantity

__all__ = ["CAPACITY", "DRIVER", "Grouping", "Offer", "OfferOptions", "list_offers"]

DRIVER: Final = "dra.cpu"
CAPACITY: Final = "dra.cpu/cpu"
"""The capacity of a group: its processors."""

AttributeValue = bool | int | str | Sequence[str]


class Grouping(StrEnum):
    """What makes a device."""

    NUMA_NODE = "numanode"
    SOCKET = "socket"
    MACHINE = "machine"
    INDIVIDUAL = "individual"


class OfferOptions(Struct, frozen=True, kw_only=True):
    """How processors are offered."""

    grouping: Grouping = Grouping.NUMA_NODE
    maps_to_node: bool = False
    """Have the scheduler count processors of claims as `cpu` of the node, too."""


class Offer(Struct, frozen=True):
    """A device, and the processors that it stands for."""

    device: Device
    cpus: tuple[Cpu, ...]


def list_offers(
    topology: Topology, options: OfferOptions, pcie_roots: Mapping[int, tuple[str, ...]] | None = None
) -> list[Offer]:
    """The devices, in the order in which they are to be tried. `pcie_roots` are those near each processor, if told."""
    roots = pcie_roots or {}
    if options.grouping is Grouping.INDIVIDUAL:
        return list(_list_individuals(topology, options, roots))
    return [
        _offer_group(name, cpus, topology, options, roots) for name, cpus in _group(topology.cpus, options.grouping)
    ]


def _group(cpus: Sequence[Cpu], grouping: Grouping) -> Iterator[tuple[str, tuple[Cpu, ...]]]:
    if grouping is Grouping.MACHINE:
        if cpus:
            yield "cpudevmachine", tuple(cpus)
        return
    stem = "cpudevsocket" if grouping is Grouping.SOCKET else "cpudevnuma"
    keys = [each.socket if grouping is Grouping.SOCKET else each.numa_node for each in cpus]
    for key in sorted(set(keys)):
        yield f"{stem}{key:03d}", tuple(each for each, own in zip(cpus, keys, strict=True) if own == key)


def _offer_group(
    name: str,
    cpus: tuple[Cpu, ...],
    topology: Topology,
    options: OfferOptions,
    roots: Mapping[int, tuple[str, ...]],
) -> Offer:
    total = Quantity.of(len(cpus))
    one = Quantity.of(1)
    # Who names no number takes the whole group; fractions are rounded up, as a processor is not divided.
    policy = CapacityRequestPolicy(default=total, valid_range=CapacityRequestPolicyRange(min=one, max=total, step=one))
    told = _told(cpus, topology, roots) | {"numCPUs": len(cpus)}
    mapping = NodeAllocatableMapping(capacity_key=CAPACITY, capacity_multiplier=one)
    device = Device(
        name=name,
        attributes=attributes(told),
        capacity={CAPACITY: DeviceCapacity(value=total, request_policy=policy)},
        allow_multiple_allocations=True,
        node_allocatable_resources=_map(mapping) if options.maps_to_node else {},
    )
    return Offer(device, cpus)


def _list_individuals(
    topology: Topology, options: OfferOptions, roots: Mapping[int, tuple[str, ...]]
) -> Iterator[Offer]:
    """Threads of a core come one after another, so that who asks for two is likely to get a whole core."""
    mapping = NodeAllocatableMapping(device_multiplier=Quantity.of(1))
    ordered = sorted(topology.cpus, key=lambda each: (each.socket, each.numa_node, each.core, each.number))
    for index, cpu in enumerate(ordered):
        told = _told((cpu,), topology, roots) | {
            "cpuID": cpu.number,
            "coreID": cpu.core,
            "cacheL3ID": cpu.cache,
            "coreType": cpu.core_type.value,
        }
        device = Device(
            name=f"cpudev{index:03d}",
            attributes=attributes(told),
            node_allocatable_resources=_map(mapping) if options.maps_to_node else {},
        )
        yield Offer(device, (cpu,))


def _map(mapping: NodeAllocatableMapping) -> dict[str, NodeAllocatableResource]:
    return {"cpu": NodeAllocatableResource(mapping=mapping)}


def _told(cpus: Sequence[Cpu], topology: Topology, roots: Mapping[int, tuple[str, ...]]) -> dict[str, AttributeValue]:
    """What all of them have in common. A machine of several sockets is on none of them."""
    told: dict[str, AttributeValue] = {"smtEnabled": topology.has_threads}
    sockets, nodes = {each.socket for each in cpus}, {each.numa_node for each in cpus}
    if len(sockets) == 1:
        told["socketID"] = sockets.pop()
    if len(nodes) == 1:
        node = nodes.pop()
        # The first is the standard; the others are older names that claims still use.
        told |= {NUMA_NODE: node, "numaNodeID": node, "dra.net/numaNode": node}
    near = sorted({root for each in cpus for root in roots.get(each.number, ())})
    if near:
        told[PCIE_ROOT] = near
    return told

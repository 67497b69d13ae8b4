"""What the example driver publishes: GPUs, network interfaces or processors that exist in name only."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, Self

from msgspec.structs import replace

from dray.api.resource.device import (
    CapacityRequestPolicy,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    NodeAllocatableMapping,
    NodeAllocatableResource,
)
from dray.drivers.sim.attributes import amount, count, flag, number, range_capacity, text, version
from dray.drivers.sim.part import Machine, Part, ProfileError
from dray.drivers.sim.pools import Blueprint
from dray.values.quantity import Quantity, QuantityFormat, parse_quantity

__all__ = ["BINDING_CONDITION", "BINDING_FAILURE_CONDITION", "Devicery", "ExamplePart", "driver_name"]

BINDING_CONDITION: Final = "BindingConditions"
BINDING_FAILURE_CONDITION: Final = "BindingFailureConditions"
_MEMORY_GIBI: Final = 80
_COMPUTE: Final = 100


_SWITCHES: Final = {
    "shares": "is_shareable",
    "binding-conditions": "has_binding_conditions",
    "status": "reports_status",
}


class Devicery(StrEnum):
    """What the driver pretends to have; it is part of the driver's name."""

    GPU = "gpu"
    NET = "net"
    CPU = "cpu"


def driver_name(devicery: Devicery) -> str:
    """`gpu.example.com`."""
    return f"{devicery}.example.com"


class ExamplePart(Part, frozen=True, tag="example"):
    """The flags of the example driver."""

    devicery: Devicery = Devicery.GPU
    devices: int = 8
    partitions: int = 0
    is_shareable: bool = False
    has_binding_conditions: bool = False
    reports_status: bool = False
    numa_nodes: int = 8
    cpus_per_numa_node: int = 4

    def choose(self, option: str, value: str) -> Self | None:
        """The device profile by its name, and the flags by theirs."""
        if option in tuple(Devicery) and not value:
            return replace(self, devicery=Devicery(option))
        if option in _SWITCHES and not value:
            return replace(self, **{_SWITCHES[option]: True})
        if option in ("partitions", "devices"):
            if not value.isdigit():
                raise ProfileError(f"{option}={value}: must be a number")
            return replace(self, **{option: int(value)})
        return None

    def options(self) -> tuple[str, ...]:
        """As `choose` takes them."""
        return (*Devicery, "devices=N", "partitions=N", "shares", "binding-conditions", "status")

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """One pool."""
        devices = {Devicery.GPU: self._gpus, Devicery.NET: self._nics, Devicery.CPU: self._cpus}[self.devicery]()
        if self.has_binding_conditions:
            devices = (_bind(each) for each in devices)
        return [Blueprint.of(driver_name(self.devicery), devices, self._counter_sets())]

    def _counter_sets(self) -> list[CounterSet]:
        if not self.partitions or self.devicery is not Devicery.GPU:
            return []
        counters = {"memory": count(_memory(1)), "compute": count(_COMPUTE)}
        return [CounterSet(name=f"gpu-{index}-counters", counters=counters) for index in range(self.devices)]

    def _gpus(self) -> Iterator[Device]:
        for index in range(self.devices):
            if not self.partitions:
                yield self._gpu(index, f"gpu-{index}", 1, {})
                continue
            for part in range(self.partitions):
                told = {"partition": number(part), "partitionable": flag(True)}
                yield self._gpu(index, f"gpu-{index}-partition-{part}", self.partitions, told)
            yield self._gpu(index, f"gpu-{index}-full", 1, {"partitionable": flag(True), "full": flag(True)})

    def _gpu(self, index: int, name: str, cut: int, told: dict[str, DeviceAttribute]) -> Device:
        memory, compute = _memory(cut), _COMPUTE // cut
        attributes = {
            "index": number(index),
            "uuid": DeviceAttribute(string=f"gpu-{{uuid:gpu-{index}}}"),
            "model": text("LATEST-GPU-MODEL"),
            "driverVersion": version("1.0.0"),
        } | told
        capacity = {"memory": amount(memory), "compute": amount(compute)}
        if self.is_shareable:
            capacity = {
                "memory": range_capacity(str(memory), str(memory), "1Gi", "1Gi"),
                "compute": range_capacity(str(compute), str(compute), "1", "1"),
            }
        drawn: tuple[DeviceCounterConsumption, ...] = ()
        if self.partitions:
            counters = {"memory": count(memory), "compute": count(compute)}
            drawn = (DeviceCounterConsumption(counter_set=f"gpu-{index}-counters", counters=counters),)
        return Device(
            name=name,
            attributes=attributes,
            capacity=capacity,
            consumes_counters=drawn,
            allow_multiple_allocations=self.is_shareable,
        )

    def _nics(self) -> Iterator[Device]:
        one = CapacityRequestPolicy(default=Quantity.of(1), valid_values=(Quantity.of(1),))
        bandwidth = range_capacity("100G", "1G", "100M", "1M")
        capacity = {
            "vfs": DeviceCapacity(value=Quantity.of(100), request_policy=one),
            "ingressBandwidth": bandwidth,
            "egressBandwidth": bandwidth,
        }
        for index in range(self.devices):
            told = {
                "index": number(index),
                "uuid": DeviceAttribute(string="net-{uuid}"),
                "model": text("LATEST-NET-MODEL"),
                "driverVersion": version("1.0.0"),
            }
            yield Device(name=f"nic-{index}", attributes=told, capacity=capacity, allow_multiple_allocations=True)

    def _cpus(self) -> Iterator[Device]:
        key = f"{driver_name(Devicery.CPU)}/cpu"
        mapping = NodeAllocatableMapping(capacity_key=key, capacity_multiplier=Quantity.of(1))
        for index in range(self.numa_nodes):
            yield Device(
                name=f"numa-{index}",
                attributes={"numaNodeID": number(index)},
                capacity={key: amount(self.cpus_per_numa_node)},
                allow_multiple_allocations=True,
                node_allocatable_resources={"cpu": NodeAllocatableResource(mapping=mapping)},
            )


def _memory(cut: int) -> Quantity:
    return Quantity.of(parse_quantity(f"{_MEMORY_GIBI}Gi").value() // cut, QuantityFormat.BINARY_SI)


def _bind(device: Device) -> Device:
    return replace(
        device, binding_conditions=(BINDING_CONDITION,), binding_failure_conditions=(BINDING_FAILURE_CONDITION,)
    )

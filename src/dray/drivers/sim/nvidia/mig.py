"""MIG devices: those an administrator has cut, those the driver cuts on demand, and shares of an instance's compute.

On demand, every profile at every place is a device, and what they may not have at once is told by counters: one set
for each GPU with its engines, its memory, and each of its memory slices.
"""

import re
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from dray.api.resource.device import Counter, CounterSet, Device, DeviceAttribute, DeviceCounterConsumption
from dray.drivers.sim.attributes import Capacities, amount, count, number, range_capacity, text
from dray.drivers.sim.nvidia.geometry import BALANCED, MEMORY_SLICES, Instance, list_instances
from dray.drivers.sim.nvidia.gpus import Gpu, board_attributes, full_gpu, uuid_pattern
from dray.drivers.sim.nvidia.models import ENGINES, GpuModel
from dray.values.quantity import parse_quantity

__all__ = ["balanced_instances", "compute_instances", "counter_set", "dynamic_devices", "static_devices"]

_CAPITAL: Final = re.compile(r"(?=[A-Z])")


def counter_set(gpu: Gpu) -> CounterSet:
    """All that the GPU has to give."""
    return CounterSet(name=_set_name(gpu), counters=_whole(gpu.model))


def dynamic_devices(gpu: Gpu) -> list[Device]:
    """What the GPU offers while MIG devices are made on demand, by name.

    One that resets when MIG is switched is in MIG mode for good, and offers itself in parts only.
    """
    parts = [_dynamic(gpu, instance) for instance in list_instances(gpu.model)]
    if not gpu.model.mig_needs_reset:
        parts.append(_whole_gpu(gpu))
    return sorted(parts, key=lambda device: device.name)


def static_devices(gpu: Gpu) -> list[Device]:
    """What a GPU offers that was cut before the driver started, in the balanced layout."""
    return [_static(gpu, instance) for instance in balanced_instances(gpu.model)]


def balanced_instances(model: GpuModel) -> list[Instance]:
    """Two instances of one slice, one of two and one of three."""
    known = {(each.profile.shape, each.start): each for each in list_instances(model)}
    return [known[key] for key in BALANCED]


def compute_instances(gpu: Gpu) -> list[Device]:
    """Shares of the compute of an instance, whose memory all of them see. No driver has these; see ADR 0021.

    The device is the instance. It draws on the GPU's counters once, however many shares are given out, so that its
    memory is taken with the first share and free again with the last.
    """
    instances = [each for each in list_instances(gpu.model) if each.shape.compute_slices > 1]
    return sorted((_compute(gpu, each) for each in instances), key=lambda device: device.name)


def _set_name(gpu: Gpu) -> str:
    return f"gpu-{gpu.minor}-counter-set"


def _counter_name(engine: str) -> str:
    """`copyEngines` as a counter: `copy-engines`."""
    return _CAPITAL.sub("-", engine).lower()


def _maxima(model: GpuModel) -> tuple[tuple[int, ...], str]:
    """The most of each engine, and of memory, that any profile has."""
    engines = tuple(max(column) for column in zip(*(each.amounts() for each in model.mig), strict=True))
    return engines, max((each.memory for each in model.mig), key=parse_quantity)


def _counters(engines: tuple[int, ...], memory: str, slices: range) -> Mapping[str, Counter]:
    counters = {_counter_name(name): count(each) for name, each in zip(ENGINES, engines, strict=True)}
    counters["memory"] = count(memory)
    return counters | {f"memory-slice-{index}": count(1) for index in slices}


def _whole(model: GpuModel) -> Mapping[str, Counter]:
    return _counters(*_maxima(model), range(MEMORY_SLICES))


def _capacity(engines: tuple[int, ...], memory: str) -> Capacities:
    return {name: amount(each) for name, each in zip(ENGINES, engines, strict=True)} | {"memory": amount(memory)}


def _whole_gpu(gpu: Gpu) -> Device:
    drawn = DeviceCounterConsumption(counter_set=_set_name(gpu), counters=_whole(gpu.model))
    return replace(full_gpu(gpu), capacity=_capacity(*_maxima(gpu.model)), consumes_counters=(drawn,))


def _instance(gpu: Gpu, instance: Instance) -> Device:
    told = {
        "type": text("mig"),
        "profile": text(instance.profile.name),
        "parentUUID": DeviceAttribute(string=uuid_pattern(gpu)),
        **board_attributes(gpu),
    }
    capacity = _capacity(instance.profile.amounts(), instance.profile.memory)
    return Device(name=instance.name(gpu.minor), attributes=told, capacity=capacity)


def _dynamic(gpu: Gpu, instance: Instance) -> Device:
    profile = instance.profile
    counters = _counters(profile.amounts(), profile.memory, instance.slices)
    drawn = DeviceCounterConsumption(counter_set=_set_name(gpu), counters=counters)
    return replace(_instance(gpu, instance), consumes_counters=(drawn,))


def _static(gpu: Gpu, instance: Instance) -> Device:
    device = _instance(gpu, instance)
    told = {**device.attributes, "uuid": DeviceAttribute(string="MIG-{uuid}")}
    occupied = {f"memorySlice{index}": amount(1) for index in instance.slices}
    return replace(device, attributes=told, capacity={**device.capacity, **occupied})


def _compute(gpu: Gpu, instance: Instance) -> Device:
    base = _dynamic(gpu, instance)
    slices = instance.shape.compute_slices
    told = {
        **base.attributes,
        "type": text("mig-ci"),
        "profile": text(f"1c.{instance.profile.name}"),
        "giID": text(f"gpu-{gpu.minor}-gi-{instance.shape.profile_id}-{instance.start}"),
        "multiprocessors": number(instance.profile.multiprocessors // slices),
    }
    capacity = {
        "computeSlices": range_capacity(str(slices), "1", "1", "1"),
        "memory": range_capacity(instance.profile.memory, "0", "0", "1Mi"),
    }
    name = base.name.replace("-mig-", "-mig-1c")
    return replace(base, name=name, attributes=told, capacity=capacity, allow_multiple_allocations=True)

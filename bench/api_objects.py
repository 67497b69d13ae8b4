"""A large ResourceSlice: reading it, writing it, filling in its defaults, and the way through v1beta1."""

from collections.abc import Callable
from statistics import median
from time import perf_counter

from dray.api.codec import get_codec
from dray.api.meta import ObjectMeta
from dray.api.resource.defaults import default_slice
from dray.api.resource.device import Device, DeviceAttribute, DeviceCapacity
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.values.quantity import parse_quantity
from dray.values.times import Time

__all__ = ["GOALS", "large_slice", "measure"]

GOALS = {
    "slice of 128 devices: decode": 0.8,
    "slice of 128 devices: decode strictly": 2.5,
    "slice of 128 devices: encode": 0.7,
}


def large_slice(devices: int = 128, attributes: int = 10) -> ResourceSlice:
    """The slice of a node full of equal cards; attributes of all four kinds take turns."""
    return ResourceSlice(
        kind="ResourceSlice",
        api_version="resource.k8s.io/v1",
        metadata=ObjectMeta(
            name="node-1-gpu.example.com-x7k2p", uid="8d7b1f04-58b5-4b7a-a1e5-0f2b9cf8a001", generation=3
        ),
        spec=ResourceSliceSpec(
            driver="gpu.example.com",
            pool=ResourcePool(name="node-1", generation=3, resource_slice_count=1),
            node_name="node-1",
            devices=tuple(_card(index, attributes) for index in range(devices)),
        ),
    )


def _card(index: int, attributes: int) -> Device:
    makers: tuple[Callable[[int], DeviceAttribute], ...] = (
        lambda at: DeviceAttribute(string=f"model-{at % 7}"),
        lambda at: DeviceAttribute(int=index + at),
        lambda at: DeviceAttribute(version=f"12.{at}.0"),
        lambda at: DeviceAttribute(bool=index % 2 == 0),
    )
    return Device(
        name=f"gpu-{index}",
        attributes={f"attribute{at}": makers[at % len(makers)](at) for at in range(attributes)},
        capacity={"memory": DeviceCapacity(value=parse_quantity("80Gi"))},
    )


def _milliseconds(act: Callable[[], object], *, rounds: int = 50) -> float:
    """The median of some rounds, after one to warm up."""
    act()
    times = []
    for _ in range(rounds):
        start = perf_counter()
        act()
        times.append(perf_counter() - start)
    return median(times) * 1000


def measure() -> list[tuple[str, float, str]]:
    full = large_slice()
    current, old = get_codec(RESOURCE_SLICE, "v1"), get_codec(RESOURCE_SLICE, "v1beta1")
    text, old_text = current.encode(full), old.encode(full)
    acts: dict[str, Callable[[], object]] = {
        "decode": lambda: current.decode(text),
        "decode strictly": lambda: current.decode(text, strict=True),
        "encode": lambda: current.encode(full),
        "fill in defaults": lambda: default_slice(full, Time(0)),
        "decode from v1beta1": lambda: old.decode(old_text),
        "encode to v1beta1": lambda: old.encode(full),
    }
    return [(f"slice of 128 devices: {name}", _milliseconds(act), "ms") for name, act in acts.items()]

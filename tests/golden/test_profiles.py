"""What a node of each profile publishes, device by device."""

import msgspec
import pytest

from dray.api.codec import encode_value
from dray.api.resource.device import Device
from dray.driver.devices import Pool
from dray.drivers.sim.catalog import find_profile, list_profiles, parse_equipment
from tests.conftest import Golden

VARIANTS = [
    "dgx-a100:half-static-mig",
    "dgx-a100:mig",
    "dgx-a100:mig-ci",
    "dgx-a100:mig,model=a100-80gb",
    "dgx-h100+cpu:cores=56",
    "dgx-h100+dranet",
    "dgx-h100+rdma-nic",
    "dgx-h100:mig",
    "dgx-h100:mig,model=b200-180gb",
    "dgx-h100:mig,model=h200-141gb",
    "dgx-h100:shares",
    "dgx-h100:shares=4",
    "dgx-h100:shares=memory",
    "dgx-h100:vfio",
    "example:binding-conditions",
    "example:cpu",
    "example:net",
    "example:partitions=4,shares",
    "gb200-nvl72:mig",
    "gh200+rdma-nic",
    "mi300x:cpx",
    "mixed-gpus:mig",
    "tpu-v5e-8:whole",
]
"""Of these, the devices of the first card are enough."""


def render(driver: str, pool: Pool, *, only: str = "") -> str:
    lines = [f"# {driver}: {len(pool.devices)} devices, {len(pool.counter_sets)} counter sets"]
    if not isinstance(pool.reachable_from, str):
        lines.append(f"# pool {pool.name}, reached from {encode_value(pool.reachable_from).decode()}")
    sets = pool.counter_sets[:1] if only else pool.counter_sets
    lines += [encode_value(each).decode() for each in sets]
    for device in pool.devices:
        if belongs(device, only):
            is_like_others = "-mig-" in device.name and not device.name.endswith("-0")
            lines.append(summarise(device) if is_like_others else encode_value(device).decode())
    return "".join(f"{line}\n" for line in lines)


def summarise(device: Device) -> str:
    """What tells an instance from the one at place 0 of its profile."""
    drawn = [f"{name} {each.value}" for one in device.consumes_counters for name, each in one.counters.items()]
    return f"# {device.name}: {', '.join(drawn)}"


def belongs(device: Device, only: str) -> bool:
    """Names of cards end in 0, or go on after it; those of partitions of AMD and of functions begin with 1 and 0."""
    first = ("gpu-0", "gpu-vfio-0", "gpu-1-", "gpu-2-", "vf-0000-e0", "vf-0000-15", "vf-0000-18", "vf-0009")
    return not only or device.name.startswith((*first, "pci-", "nic-0", "numa-0", "cpu", "0"))


@pytest.mark.parametrize("text", [*(each for each in list_profiles() if find_profile(each).parts), *VARIANTS])
def test_node_publishes_what_it_did(text: str, golden: Golden) -> None:
    equipment = parse_equipment(text)
    only = text if text in VARIANTS else ""
    published = [*equipment.pools("node-a"), *equipment.shared_pools()]
    name = text.translate(str.maketrans(":+,=", "____"))
    golden.check(f"profiles/{name}.jsonl", "".join(render(driver, pool, only=only) for driver, pool in published))


def test_classes_are_as_they_were(golden: Golden) -> None:
    seen = {each.metadata.name: each for name in list_profiles() for each in parse_equipment(name).classes()}
    lines = [msgspec.json.encode([name, seen[name].spec], enc_hook=str).decode() for name in sorted(seen)]
    golden.check("profiles/classes.jsonl", "".join(f"{line}\n" for line in lines))

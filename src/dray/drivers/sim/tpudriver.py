"""Preparing TPU chips: all of a host, or the chips of one sub-slice."""

from collections.abc import Mapping, Sequence
from typing import Final

from dray.api.resource.device import Device
from dray.driver.cdi import ContainerEdits, DeviceNode, Mount, env
from dray.driver.claims import AllocatedDevice, Claim, Prepared
from dray.drivers.sim.driver import PrepareRefused, SimDriver

__all__ = ["TpuDriver"]

_BOUNDS: Final[Mapping[int, str]] = {1: "1,1,1", 2: "1,2,1", 4: "2,2,1", 8: "2,4,1"}
_ONE_CORE: Final = ("lite", "v6e")
"""In the name of generations whose chips have one core."""
_VFIO_MAJOR: Final = 513
_MISC_MAJOR: Final = 10
_VFIO_API_MINOR: Final = 196


class TpuDriver(SimDriver):
    """`tpu.google.com` on one host."""

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Refuse some of a host's chips: they work only together. A sub-slice is whole by itself."""
        found = [self.find_device(each.name) for each in devices]
        slices = [each for each in found if "chips" in each.attributes]
        if len(slices) > 1 or (slices and len(found) > 1):
            raise PrepareRefused("a claim can have one sub-slice")
        chips = [int(chip) for each in found for chip in _list_chips(each)]
        total = sum(1 for each in self._pool.devices if "chips" not in each.attributes)
        if not slices and len(chips) != total:
            raise PrepareRefused(f"all {total} chips of the node must be in the claim, not {len(chips)}")
        common = ContainerEdits(
            env=_variables(found[0], len(chips)),
            device_nodes=(DeviceNode(path="/dev/vfio/vfio", type="c", major=_MISC_MAJOR, minor=_VFIO_API_MINOR),),
            mounts=(Mount(host_path="/tmp/tpu_logs", container_path="/tmp/tpu_logs", options=("rw", "bind")),),
        )
        answers = [
            each.prepared(ContainerEdits(device_nodes=tuple(map(_node, _list_chips(device)))))
            for each, device in zip(devices, found, strict=True)
        ]
        return Prepared.of(answers, common=common)


def _list_chips(device: Device) -> list[str]:
    chips = device.attributes.get("chips")
    return (chips.string or "").split(",") if chips is not None else [device.name]


def _node(chip: str) -> DeviceNode:
    return DeviceNode(path=f"/dev/vfio/{chip}", type="c", major=_VFIO_MAJOR, minor=int(chip))


def _variables(device: Device, chips: int) -> tuple[str, ...]:
    generation = device.attributes["tpuGen"].string or ""
    cores = chips if any(mark in generation for mark in _ONE_CORE) else 2 * chips
    return env(
        TPU_TOPOLOGY=device.attributes["topology"].string,
        TPU_ACCELERATOR_TYPE=f"{generation}-{cores}",
        TPU_HOST_BOUNDS="1,1,1",
        TPU_CHIPS_PER_HOST_BOUNDS=_BOUNDS[chips],
        TPU_TOPOLOGY_WRAP="false,false,false",
        TPU_TOPOLOGY_ALT="false",
        TPU_SKIP_MDS_QUERY=True,
        TPU_WORKER_ID=0,
        TPU_WORKER_HOSTNAMES="localhost",
    )

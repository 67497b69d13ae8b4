"""The parts of profiles that have NVIDIA GPUs: which model sits where, and what the driver was told to do with it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Self

from msgspec.structs import replace

from dray.api.resource.device import CounterSet, Device
from dray.drivers.sim.attributes import number, text
from dray.drivers.sim.nvidia.gpus import DRIVER, Gpu, full_gpu, vfio_gpu
from dray.drivers.sim.nvidia.mig import compute_instances, counter_set, dynamic_devices, static_devices
from dray.drivers.sim.nvidia.models import find_model
from dray.drivers.sim.nvidia.passthrough import WITH_IOMMU, Passthrough
from dray.drivers.sim.nvidia.shares import check_shares, make_shareable
from dray.drivers.sim.part import Machine, Part, Place, ProfileError
from dray.drivers.sim.pools import Blueprint

__all__ = ["COMPUTE_DOMAIN_DRIVER", "ComputeDomainPart", "NvidiaPart", "Partitioning"]

COMPUTE_DOMAIN_DRIVER: Final = "compute-domain.nvidia.com"


class Partitioning(StrEnum):
    """How GPUs are cut."""

    NONE = "none"
    DYNAMIC = "mig"
    COMPUTE = "mig-ci"
    STATIC = "static-mig"
    HALF_STATIC = "half-static-mig"


class NvidiaPart(Part, frozen=True, tag="nvidia-gpus"):
    """GPUs of one model, or of several, under the driver `gpu.nvidia.com`."""

    model: str
    gpus: tuple[Place, ...]
    partitioning: Partitioning = Partitioning.NONE
    has_vfio: bool = False
    shares: str = ""
    lists_numa: bool = False
    publishes_index: bool = False
    passthrough: Passthrough = WITH_IOMMU

    def choose(self, option: str, value: str) -> Self | None:
        """MIG on demand or beforehand, passthrough, shares, another model, two quirks of publishing."""
        switches: dict[str, dict[str, object]] = {
            **{each.value: {"partitioning": each} for each in Partitioning if each is not Partitioning.NONE},
            "vfio": {"has_vfio": True},
            "numa-list": {"lists_numa": True},
            "index": {"publishes_index": True},
            "no-iommu": {"passthrough": replace(self.passthrough, has_iommu=False)},
        }
        if option in switches and not value:
            return replace(self, **switches[option])
        if option == "shares":
            return replace(self, shares=check_shares(value or "unlimited"))
        if option == "busy-wait":
            return replace(self, passthrough=replace(self.passthrough, busy_wait_seconds=_parse_seconds(value)))
        if option == "model":
            find_model(value)
            return replace(self, model=value)
        return None

    def options(self) -> tuple[str, ...]:
        """As `choose` takes them."""
        cuts = [each.value for each in Partitioning if each is not Partitioning.NONE]
        return (
            *cuts,
            "vfio",
            "no-iommu",
            "busy-wait=SECONDS",
            "shares=unlimited|memory|N",
            "model=NAME",
            "numa-list",
            "index",
        )

    def accelerators(self) -> tuple[Place, ...]:
        """The GPUs."""
        return self.gpus

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """The devices of one GPU after those of another, and by name within each."""
        self._refuse_contradictions()
        gpus = self._list_gpus()
        devices = [self._share(device) for gpu in gpus for device in self._cut(gpu)]
        if self.has_vfio:
            devices += [vfio_gpu(gpu) for gpu in gpus]
        return [Blueprint.of(DRIVER, devices, self._counter_sets(gpus))]

    def _list_gpus(self) -> list[Gpu]:
        return [
            Gpu(minor, find_model(place.model or self.model), place, self.lists_numa, self.publishes_index)
            for minor, place in enumerate(self.gpus)
        ]

    def _cut(self, gpu: Gpu) -> list[Device]:
        if self.partitioning is Partitioning.NONE or not gpu.model.mig:
            return [full_gpu(gpu)]
        if self.partitioning is Partitioning.HALF_STATIC and gpu.minor >= (len(self.gpus) + 1) // 2:
            return [full_gpu(gpu)]
        if self.partitioning in (Partitioning.STATIC, Partitioning.HALF_STATIC):
            return static_devices(gpu)
        extra = compute_instances(gpu) if self.partitioning is Partitioning.COMPUTE else []
        return sorted([*dynamic_devices(gpu), *extra], key=lambda device: device.name)

    def _counter_sets(self, gpus: Sequence[Gpu]) -> list[CounterSet]:
        if self.partitioning not in (Partitioning.DYNAMIC, Partitioning.COMPUTE):
            return []
        return [counter_set(gpu) for gpu in gpus if gpu.model.mig]

    def _share(self, device: Device) -> Device:
        is_shared = device.allow_multiple_allocations or not self.shares
        return device if is_shared else make_shareable(device, self.shares)

    def _refuse_contradictions(self) -> None:
        """As the driver does when it starts."""
        if self.passthrough != WITH_IOMMU and not self.has_vfio:
            raise ProfileError("no-iommu and busy-wait are about passthrough: they need vfio, too")
        if self.partitioning in (Partitioning.DYNAMIC, Partitioning.COMPUTE) and self.has_vfio:
            raise ProfileError(f"{self.partitioning} and vfio exclude each other, as in the driver")
        if self.partitioning is not Partitioning.NONE and not any(gpu.model.mig for gpu in self._list_gpus()):
            raise ProfileError(f"no table of MIG profiles is known for {self.model}")


def _parse_seconds(value: str) -> float:
    if not value.isdecimal():
        raise ProfileError(f"busy-wait={value}: must be a whole number of seconds, such as busy-wait=2")
    return float(value)


class ComputeDomainPart(Part, frozen=True, tag="compute-domain"):
    """A channel and a daemon of a domain of GPUs that reach each other's memory across nodes."""

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """One of each, so that a node belongs to one domain at a time."""
        devices = [
            Device(name=f"{kind}-0", attributes={"type": text(kind), "id": number(0)}) for kind in ("channel", "daemon")
        ]
        return [Blueprint.of(COMPUTE_DOMAIN_DRIVER, devices)]

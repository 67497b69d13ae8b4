"""What the example driver hands to containers: variables, whose names and form its demos and tests rely on."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from dray.driver.cdi import ContainerEdits, env
from dray.driver.claims import AllocatedDevice, Claim, DeviceReport, Prepared
from dray.driver.config import DriverConfig
from dray.drivers.sim.driver import SimDriver, name_variable
from dray.drivers.sim.example.config import ExampleGpuConfig, ExampleNetConfig, ExampleStrategy
from dray.drivers.sim.example.part import Devicery, ExamplePart
from dray.drivers.sim.faults import FaultBoard
from dray.drivers.sim.pools import Blueprint

__all__ = ["EXAMPLE_DRIVERS", "ExampleCpuDriver", "ExampleDriver", "ExampleGpuDriver", "ExampleNetDriver"]

_REPORTED: Final = ("uuid", "model", "driverVersion")

Variables = dict[str, object]


class ExampleDriver(SimDriver):
    """What all of them do; each kind of device has variables of its own."""

    def __init__(self, part: ExamplePart, blueprint: Blueprint, faults: FaultBoard) -> None:
        super().__init__(blueprint, faults)
        self._reports_status = part.reports_status

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Variables for each device, and two for all."""
        has_admin_access = any(each.admin_access for each in devices)
        answers = []
        for each in devices:
            device = self.find_device(each.name)
            variables: Variables = {
                f"{self.cdi_class.upper()}_DEVICE_{name_variable(each.name)}_RESOURCE_CLAIM": claim.uid,
                "DRA_ADMIN_ACCESS": has_admin_access,
                **self.describe(each),
            }
            report = None
            if self._reports_status:
                told = {name: device.attributes[name] for name in _REPORTED if name in device.attributes}
                report = DeviceReport.of(data=msgspec.to_builtins(told))
            answers.append(each.prepared(ContainerEdits(env=env(variables)), report=report))
        common = env(KUBERNETES_NODE_NAME=self.host.node_name, DRA_RESOURCE_DRIVER_NAME=self.name)
        return Prepared.of(answers, common=ContainerEdits(env=common))

    def describe(self, device: AllocatedDevice) -> Variables:
        """The variables of one device."""
        raise NotImplementedError


class ExampleGpuDriver(ExampleDriver):
    """`gpu.example.com` on one node."""

    configs: ClassVar[tuple[type[DriverConfig], ...]] = (ExampleGpuConfig,)
    cdi_class: ClassVar[str] = Devicery.GPU

    def describe(self, device: AllocatedDevice) -> Variables:
        """How it is shared, and how much of it is the claim's."""
        stem = f"GPU_DEVICE_{name_variable(device.name.removeprefix('gpu-'))}"
        sharing = (device.find_config(ExampleGpuConfig) or ExampleGpuConfig()).sharing
        told: Variables = {stem: device.name, f"{stem}_SHARING_STRATEGY": sharing.strategy}
        if sharing.strategy is ExampleStrategy.TIME_SLICING:
            told[f"{stem}_TIMESLICE_INTERVAL"] = sharing.interval
        else:
            told[f"{stem}_PARTITION_COUNT"] = sharing.partition_count
        for amount in ("memory", "compute"):
            if amount in device.consumed_capacity:
                told[f"{stem}_{amount.upper()}"] = device.consumed_capacity[amount]
        return told


class ExampleNetDriver(ExampleDriver):
    """`net.example.com` on one node."""

    configs: ClassVar[tuple[type[DriverConfig], ...]] = (ExampleNetConfig,)
    cdi_class: ClassVar[str] = Devicery.NET

    def describe(self, device: AllocatedDevice) -> Variables:
        """Rates and bursts, in bits."""
        stem = f"NET_DEVICE_{name_variable(device.name.removeprefix('nic-'))}"
        burst = (device.find_config(ExampleNetConfig) or ExampleNetConfig()).bw_burst
        told: Variables = {}
        for way, limit in (("ingress", burst.ingress_burst), ("egress", burst.egress_burst)):
            if f"{way}Bandwidth" in device.consumed_capacity:
                told[f"{stem}_{way.upper()}_RATE"] = device.consumed_capacity[f"{way}Bandwidth"].value()
            if limit > 0:
                told[f"{stem}_{way.upper()}_BURST"] = limit
        return told


class ExampleCpuDriver(ExampleDriver):
    """`cpu.example.com` on one node, which takes no configuration."""

    cdi_class: ClassVar[str] = Devicery.CPU

    def describe(self, device: AllocatedDevice) -> Variables:
        """The NUMA node, and how many of its processors are the claim's."""
        stem = f"CPU_DEVICE_{name_variable(device.name.removeprefix('numa-'))}"
        consumed = device.consumed_capacity.get(f"{self.name}/cpu", device.consumed_capacity.get("cpu"))
        return {stem: device.name} | ({} if consumed is None else {f"{stem}_CONSUMED_CPU": consumed})


EXAMPLE_DRIVERS: Final[Mapping[Devicery, type[ExampleDriver]]] = {
    Devicery.GPU: ExampleGpuDriver,
    Devicery.NET: ExampleNetDriver,
    Devicery.CPU: ExampleCpuDriver,
}

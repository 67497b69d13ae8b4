"""Preparing NVIDIA devices: sharing, MIG devices made on demand, GPUs that change over to virtual machines."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace

from dray.api.resource.device import Device
from dray.driver.cdi import NO_EDITS, ContainerEdits, env, merge_edits
from dray.driver.claims import AllocatedDevice, Claim, Prepared, PreparedClaim, PreparedDevice
from dray.driver.config import DriverConfig
from dray.drivers.sim.driver import PrepareRefused, SimDriver, name_variable, show_device
from dray.drivers.sim.faults import FaultBoard
from dray.drivers.sim.identity import derive_uuid
from dray.drivers.sim.nvidia.choice import choose_config
from dray.drivers.sim.nvidia.config import (
    GpuConfig,
    MigDeviceConfig,
    MpsConfig,
    VfioDeviceConfig,
    resolve_memory_limits,
)
from dray.drivers.sim.nvidia.edits import (
    common_edits,
    gpu_edits,
    instance_edits,
    mps_edits,
    vfio_common_edits,
    vfio_edits,
)
from dray.drivers.sim.nvidia.geometry import parse_mig_name
from dray.drivers.sim.nvidia.gpus import gpu_name
from dray.drivers.sim.nvidia.hardware import ComputeMode, Hardware
from dray.drivers.sim.nvidia.mpsdaemon import DAEMON_PREFIX, MpsDaemon, describe_daemon, end_daemon, ensure_daemon
from dray.drivers.sim.nvidia.passthrough import WITH_IOMMU, Passthrough
from dray.drivers.sim.nvidia.telling import HardwareTeller
from dray.drivers.sim.pools import Blueprint

__all__ = ["NvidiaDriver"]

_MPS_FOLDER: Final = "/var/lib/kubelet/plugins/gpu.nvidia.com/mps"
_VFIO: Final = "gpu-vfio-"
_GPU: Final = "gpu-"
_LOOK_AGAIN_SECONDS: Final = 1.0

Choices = Mapping[str, DriverConfig | None]
"""The configuration of each device of a claim, by name."""


class NvidiaDriver(SimDriver):
    """`gpu.nvidia.com` on one node. `hardware` is what its claims have made of the GPUs."""

    configs: ClassVar[tuple[type[DriverConfig], ...]] = (GpuConfig, MigDeviceConfig, VfioDeviceConfig)

    def __init__(self, blueprint: Blueprint, faults: FaultBoard, passthrough: Passthrough = WITH_IOMMU) -> None:
        super().__init__(blueprint, faults)
        self.hardware = Hardware()
        self._passthrough = passthrough
        self._teller: HardwareTeller | None = None

    async def start(self) -> None:
        """Make the node's devices, find the GPUs as they were left, and say how they are."""
        await super().start()
        self._teller = HardwareTeller(self.host, self.hardware)
        for daemon in await self._teller.recall():
            await end_daemon(self.host.client, daemon)
        for minor in self._list_cut_for_good():
            self.hardware.gpu(minor).mig_mode = True
        await self._teller.tell()

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Choose and check everything first, then change the GPUs, so that a refusal leaves them as they were."""
        found = {each.name: self.find_device(each.name) for each in devices}
        types = {name: device.attributes["type"].string or "" for name, device in found.items()}
        choices = {each.name: choose_config(claim.resource, self.name, each, types[each.name]) for each in devices}
        self._check(claim, devices, found, choices)
        passed_through = [int(name.removeprefix(_VFIO)) for name in found if name.startswith(_VFIO)]
        if passed_through:
            await self._wait_until_idle(passed_through)
            self._check(claim, devices, found, choices)
        daemons = self._plan_daemons(claim, choices)
        before = self.list_withdrawn()
        answers = [self._prepare_one(claim, each, found[each.name], choices[each.name]) for each in devices]
        shared = {name: self._share(found[name], daemon) for name, daemon in daemons.items()}
        answers = [
            replace(each, edits=merge_edits(each.edits, shared[each.name])) if each.name in shared else each
            for each in answers
        ]
        self._republish(before)
        await self._tell()
        for daemon in {each.name: each for each in daemons.values()}.values():
            pod = describe_daemon(daemon, self.host.node_name)
            await ensure_daemon(self.host.client, self.host.clock, pod)
        has_gpus = any(kind != "vfio" for kind in types.values())
        return Prepared.of(answers, common=common_edits() if has_gpus else vfio_common_edits())

    async def unprepare(self, claim: PreparedClaim) -> None:
        """Undo what no other claim needs. Works from names alone, so that it can follow a crash."""
        before = self.list_withdrawn()
        for daemon in sorted(each for each in self.hardware.mps_daemons if claim.uid in each):
            await end_daemon(self.host.client, daemon)
        for gpu in self.hardware.gpus.values():
            gpu.mps_daemons = [each for each in gpu.mps_daemons if claim.uid not in each]
        for device in claim.devices:
            if self.hardware.release(device.name, claim.uid):
                self._reset(device.name)
        self._republish(before)
        await self._tell()

    def list_withdrawn(self) -> frozenset[str]:
        """The other selves of GPUs in use: what runs under one kernel driver is not to be had under the other."""
        names = set()
        for name in self.hardware.users:
            if name.startswith(_VFIO):
                names.add(name.replace(_VFIO, _GPU))
            elif parse_mig_name(name) is None:
                names.add(name.replace(_GPU, _VFIO))
        return frozenset(names)

    async def _tell(self) -> None:
        if self._teller is not None:
            await self._teller.tell()

    def _list_cut_for_good(self) -> set[int]:
        """GPUs that are offered in parts only: switching MIG off would take a reset, or an administrator."""
        names = self.list_names()
        parts = (parse_mig_name(name) for name in names)
        return {part.minor for part in parts if part is not None and gpu_name(part.minor) not in names}

    async def _wait_until_idle(self, minors: Sequence[int]) -> None:
        """Look every second whether a program has one of these GPUs open, as the driver does before it unbinds them."""
        names = [gpu_name(minor) for minor in minors]
        end = self.host.clock.monotonic() + self._passthrough.busy_wait_seconds
        while holds := {name: by for name, by in self.list_holds().items() if name in names}:
            if self.host.clock.monotonic() >= end:
                name, by = next(iter(holds.items()))
                raise PrepareRefused(
                    f"{name} is busy: {by} has it open, also after {self._passthrough.busy_wait_seconds:g} s"
                )
            await self.host.clock.sleep(_LOOK_AGAIN_SECONDS)

    def _republish(self, before: frozenset[str]) -> None:
        if self.list_withdrawn() != before:
            self.host.devices_changed()

    def _check(
        self, claim: Claim, devices: Sequence[AllocatedDevice], found: Mapping[str, Device], choices: Choices
    ) -> None:
        """Refuse what the real driver refuses when it applies configuration."""
        for each in devices:
            config, device = choices[each.name], found[each.name]
            if each.name.startswith(_VFIO) and not self._passthrough.has_iommu:
                where = f"node {self.host.node_name} has no IOMMU"
                remedy = "switch it on in the firmware, and boot with intel_iommu=on or amd_iommu=on"
                raise PrepareRefused(f"{each.name} cannot be passed through: {where}; {remedy}")
            if each.name in self.list_withdrawn() and not each.admin_access:
                raise PrepareRefused(f"device {each.name} is in use by another driver of the kernel")
            if _find_mps(config) is not None:
                if device.allow_multiple_allocations:
                    raise PrepareRefused(f"MPS cannot be used with shares: {each.name}")
                if device.consumes_counters and parse_mig_name(each.name) is not None:
                    raise PrepareRefused(f"MPS cannot be used with MIG devices made on demand: {each.name}")
            others = {
                uid: other
                for uid, other in self.hardware.users.get(each.name, {}).items()
                if uid != claim.uid and uid not in self.hardware.recalled
            }
            if not each.admin_access and any(other != config for other in others.values()):
                raise PrepareRefused(f"device {each.name} is shared with a claim of another configuration")
        passthrough = {repr(choices[name]) for name in found if name.startswith(_VFIO)}
        if len(passthrough) > 1:
            raise PrepareRefused("only one VfioDeviceConfig may be used in a claim")

    def _prepare_one(
        self, claim: Claim, allocated: AllocatedDevice, device: Device, config: DriverConfig | None
    ) -> PreparedDevice:
        if not allocated.admin_access:
            self.hardware.users.setdefault(device.name, {})[claim.uid] = config
        if device.name.startswith(_VFIO):
            minor = int(device.name.removeprefix(_VFIO))
            self.hardware.gpu(minor).kernel_driver = "vfio-pci"
            iommu = (config if isinstance(config, VfioDeviceConfig) else VfioDeviceConfig()).iommu
            return allocated.prepared(merge_edits(vfio_edits(minor, iommu), show_device(device)))
        edits = self._open_device(claim, device)
        return allocated.prepared(merge_edits(edits, self._slice_time(device, config)))

    def _open_device(self, claim: Claim, device: Device) -> ContainerEdits:
        """Device nodes; a MIG device that is not there yet is made."""
        mig = parse_mig_name(device.name)
        if mig is None:
            return merge_edits(gpu_edits(int(device.name.removeprefix(_GPU))), show_device(device))
        edits = instance_edits(mig.minor, mig.instance_id)
        if not device.consumes_counters:
            return merge_edits(edits, show_device(device))
        gpu = self.hardware.gpu(mig.minor)
        gpu.mig_mode = True
        made = f"MIG-{derive_uuid(self.host.node_name, claim.uid, device.name)}"
        uuid = gpu.instances.setdefault(device.name, made)
        shown = f"SIM_DEVICE_{name_variable(device.name)}"
        return merge_edits(edits, ContainerEdits(env=env({shown: uuid, f"{shown}_MEMORY": _format_memory(device)})))

    def _slice_time(self, device: Device, config: DriverConfig | None) -> ContainerEdits:
        """Set how long each gets the GPU in turn, and tell the container, which has no tool to ask."""
        if not isinstance(config, GpuConfig) or config.interval is None:
            return NO_EDITS
        gpu = self.hardware.gpu(int(device.name.removeprefix(_GPU)))
        gpu.compute_mode, gpu.time_slice = ComputeMode.DEFAULT, config.interval.time_slice
        return ContainerEdits(env=env({_name_sharing(device): f"TimeSlicing/{config.interval}"}))

    def _plan_daemons(self, claim: Claim, choices: Choices) -> dict[str, MpsDaemon]:
        """The daemon of each device that is shared by MPS; devices of one configuration have one. Changes nothing."""
        daemons = {}
        for name, config in choices.items():
            mps = _find_mps(config)
            if mps is None:
                continue
            uuids = tuple(self._uuid(other) for other, each in choices.items() if each == config)
            try:
                limits = resolve_memory_limits(mps, uuids)
            except ValueError as fault:
                raise PrepareRefused(str(fault)) from fault
            daemons[name] = MpsDaemon(claim.uid, mps, uuids, limits)
        return daemons

    def _share(self, device: Device, daemon: MpsDaemon) -> ContainerEdits:
        """Have a daemon serve the device, and tell the container of its limits."""
        mig = parse_mig_name(device.name)
        gpu = self.hardware.gpu(int(device.name.removeprefix(_GPU)) if mig is None else mig.minor)
        if daemon.name not in gpu.mps_daemons:
            gpu.mps_daemons = [*gpu.mps_daemons, daemon.name]
        if mig is None:
            gpu.compute_mode = ComputeMode.EXCLUSIVE_PROCESS
        percentage = daemon.config.default_active_thread_percentage
        told = [f"{percentage}%"] if percentage is not None else []
        limit = daemon.limits.get(self._uuid(device.name))
        told += [limit] if limit is not None else []
        folder = f"{_MPS_FOLDER}/{daemon.name.removeprefix(DAEMON_PREFIX)}"
        return merge_edits(
            mps_edits(folder), ContainerEdits(env=env({_name_sharing(device): "/".join(["MPS", *told])}))
        )

    def _uuid(self, name: str) -> str:
        return self.find_device(name).attributes["uuid"].string or ""

    def _reset(self, name: str) -> None:
        mig = parse_mig_name(name)
        if mig is not None:
            gpu = self.hardware.gpu(mig.minor)
            gpu.instances.pop(name, None)
            gpu.mig_mode = bool(gpu.instances) or mig.minor in self._list_cut_for_good()
        elif name.startswith(_VFIO):
            self.hardware.gpu(int(name.removeprefix(_VFIO))).kernel_driver = "nvidia"
        else:
            gpu = self.hardware.gpu(int(name.removeprefix(_GPU)))
            gpu.compute_mode, gpu.time_slice = ComputeMode.DEFAULT, 0


def _name_sharing(device: Device) -> str:
    return f"SIM_DEVICE_{name_variable(device.name)}_SHARING"


def _format_memory(device: Device) -> str:
    """What the tool in the container would say: all of the instance's, however many shares of its compute there are."""
    return str(device.capacity["memory"].value)


def _find_mps(config: DriverConfig | None) -> MpsConfig | None:
    return config.mps if isinstance(config, GpuConfig | MigDeviceConfig) else None

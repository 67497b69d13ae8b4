"""Preparing NVIDIA devices: sharing, MIG devices made on demand, GPUs that change over to virtual machines."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from dray.api.resource.device import Device
from dray.driver.cdi import ContainerEdits, env, merge_edits
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
from dray.drivers.sim.nvidia.hardware import ComputeMode, Hardware
from dray.drivers.sim.pools import Blueprint

__all__ = ["NvidiaDriver", "name_mps_daemon"]

_MPS_FOLDER: Final = "/var/lib/kubelet/plugins/gpu.nvidia.com/mps"
_VFIO: Final = "gpu-vfio-"
_GPU: Final = "gpu-"

Choices = Mapping[str, DriverConfig | None]
"""The configuration of each device of a claim, by name."""


class NvidiaDriver(SimDriver):
    """`gpu.nvidia.com` on one node. `hardware` is what its claims have made of the GPUs."""

    configs: ClassVar[tuple[type[DriverConfig], ...]] = (GpuConfig, MigDeviceConfig, VfioDeviceConfig)

    def __init__(self, blueprint: Blueprint, faults: FaultBoard) -> None:
        super().__init__(blueprint, faults)
        self.hardware = Hardware()

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Choose and check everything first, then change the GPUs, so that a refusal leaves them as they were."""
        found = {each.name: self.find_device(each.name) for each in devices}
        types = {name: device.attributes["type"].string or "" for name, device in found.items()}
        choices = {each.name: choose_config(claim.resource, self.name, each, types[each.name]) for each in devices}
        self._check(claim, devices, found, choices)
        before = self.list_withdrawn()
        answers = [self._prepare_one(claim, each, found[each.name], choices) for each in devices]
        self._republish(before)
        has_gpus = any(kind != "vfio" for kind in types.values())
        return Prepared.of(answers, common=common_edits() if has_gpus else vfio_common_edits())

    async def unprepare(self, claim: PreparedClaim) -> None:
        """Undo what no other claim needs. Works from names alone, so that it can follow a crash."""
        before = self.list_withdrawn()
        self.hardware.mps_daemons = {each for each in self.hardware.mps_daemons if claim.uid not in each}
        for device in claim.devices:
            if self.hardware.release(device.name, claim.uid):
                self._reset(device.name)
        self._republish(before)

    def list_withdrawn(self) -> frozenset[str]:
        """The other selves of GPUs in use: what runs under one kernel driver is not to be had under the other."""
        names = set()
        for name in self.hardware.users:
            if name.startswith(_VFIO):
                names.add(name.replace(_VFIO, _GPU))
            elif parse_mig_name(name) is None:
                names.add(name.replace(_GPU, _VFIO))
        return frozenset(names)

    def _republish(self, before: frozenset[str]) -> None:
        if self.list_withdrawn() != before:
            self.host.devices_changed()

    def _check(
        self, claim: Claim, devices: Sequence[AllocatedDevice], found: Mapping[str, Device], choices: Choices
    ) -> None:
        """Refuse what the real driver refuses when it applies configuration."""
        for each in devices:
            config, device = choices[each.name], found[each.name]
            if each.name in self.list_withdrawn() and not each.admin_access:
                raise PrepareRefused(f"device {each.name} is in use by another driver of the kernel")
            if _find_mps(config) is not None:
                if device.allow_multiple_allocations:
                    raise PrepareRefused(f"MPS cannot be used with shares: {each.name}")
                if device.consumes_counters and parse_mig_name(each.name) is not None:
                    raise PrepareRefused(f"MPS cannot be used with MIG devices made on demand: {each.name}")
            others = {uid: other for uid, other in self.hardware.users.get(each.name, {}).items() if uid != claim.uid}
            if not each.admin_access and any(other != config for other in others.values()):
                raise PrepareRefused(f"device {each.name} is shared with a claim of another configuration")
        passthrough = {repr(choices[name]) for name in found if name.startswith(_VFIO)}
        if len(passthrough) > 1:
            raise PrepareRefused("only one VfioDeviceConfig may be used in a claim")

    def _prepare_one(
        self, claim: Claim, allocated: AllocatedDevice, device: Device, choices: Choices
    ) -> PreparedDevice:
        config = choices[device.name]
        if not allocated.admin_access:
            self.hardware.users.setdefault(device.name, {})[claim.uid] = config
        if device.name.startswith(_VFIO):
            minor = int(device.name.removeprefix(_VFIO))
            self.hardware.gpu(minor).kernel_driver = "vfio-pci"
            iommu = (config if isinstance(config, VfioDeviceConfig) else VfioDeviceConfig()).iommu
            return allocated.prepared(merge_edits(vfio_edits(minor, iommu), show_device(device)))
        edits = self._open_device(claim, device)
        return allocated.prepared(merge_edits(edits, self._share(claim, device, choices)))

    def _open_device(self, claim: Claim, device: Device) -> ContainerEdits:
        """Device nodes; a MIG device that is not there yet is made."""
        mig = parse_mig_name(device.name)
        if mig is None:
            return merge_edits(gpu_edits(int(device.name.removeprefix(_GPU))), show_device(device))
        edits = instance_edits(mig.minor, mig.instance_id)
        if not device.consumes_counters:
            return merge_edits(edits, show_device(device))
        instances = self.hardware.gpu(mig.minor).instances
        uuid = instances.setdefault(device.name, f"MIG-{derive_uuid(self.host.node_name, claim.uid, device.name)}")
        return merge_edits(edits, ContainerEdits(env=env({f"SIM_DEVICE_{name_variable(device.name)}": uuid})))

    def _share(self, claim: Claim, device: Device, choices: Choices) -> ContainerEdits:
        """Set how the device is shared, and tell the container, which has no tool to ask."""
        config = choices[device.name]
        variable = f"SIM_DEVICE_{name_variable(device.name)}_SHARING"
        if isinstance(config, GpuConfig) and config.interval is not None:
            gpu = self.hardware.gpu(int(device.name.removeprefix(_GPU)))
            gpu.compute_mode, gpu.time_slice = ComputeMode.DEFAULT, config.interval.time_slice
            return ContainerEdits(env=env({variable: f"TimeSlicing/{config.interval}"}))
        mps = _find_mps(config)
        if mps is None:
            return ContainerEdits()
        uuids = [self._uuid(name) for name, each in choices.items() if each == config]
        try:
            limits = resolve_memory_limits(mps, uuids)
        except ValueError as fault:
            raise PrepareRefused(str(fault)) from fault
        daemon = name_mps_daemon(claim.uid, uuids)
        self.hardware.mps_daemons.add(daemon)
        if parse_mig_name(device.name) is None:
            self.hardware.gpu(int(device.name.removeprefix(_GPU))).compute_mode = ComputeMode.EXCLUSIVE_PROCESS
        told = [f"{mps.default_active_thread_percentage}%"] if mps.default_active_thread_percentage is not None else []
        told += [limits[self._uuid(device.name)]] if self._uuid(device.name) in limits else []
        folder = f"{_MPS_FOLDER}/{daemon.removeprefix('mps-control-daemon-')}"
        return merge_edits(mps_edits(folder), ContainerEdits(env=env({variable: "/".join(["MPS", *told])})))

    def _uuid(self, name: str) -> str:
        return self.find_device(name).attributes["uuid"].string or ""

    def _reset(self, name: str) -> None:
        mig = parse_mig_name(name)
        if mig is not None:
            self.hardware.gpu(mig.minor).instances.pop(name, None)
        elif name.startswith(_VFIO):
            self.hardware.gpu(int(name.removeprefix(_VFIO))).kernel_driver = "nvidia"
        else:
            gpu = self.hardware.gpu(int(name.removeprefix(_GPU)))
            gpu.compute_mode, gpu.time_slice = ComputeMode.DEFAULT, 0


def _find_mps(config: DriverConfig | None) -> MpsConfig | None:
    return config.mps if isinstance(config, GpuConfig | MigDeviceConfig) else None


def name_mps_daemon(claim_uid: str, uuids: Sequence[str]) -> str:
    """The name of the control daemon that serves some devices of a claim."""
    digest = hashlib.sha256(",".join(sorted(uuids)).encode()).hexdigest()
    return f"mps-control-daemon-{claim_uid}-{digest[:5]}"

"""The state of simulated GPUs: what `nvidia-smi` and sysfs would say after what claims have asked for.

Owned by the driver of a node, which tells it in annotations of the node: one for each GPU that is not at rest. There it
outlives the process of the driver, as the state of a real GPU does. Taking back is safe to repeat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from dray.driver.claims import PreparedClaim
from dray.driver.config import DriverConfig
from dray.drivers.sim.nvidia.gpus import find_minor, gpu_name

__all__ = ["HARDWARE_PREFIX", "ComputeMode", "GpuState", "Hardware", "find_states"]

HARDWARE_PREFIX: Final = "hardware.sim.dray.dev/"
"""Of the annotation; the GPU's name follows. Its value is the state in JSON, without what is as it is at rest."""


class ComputeMode(StrEnum):
    """Who may use a GPU."""

    DEFAULT = "DEFAULT"
    EXCLUSIVE_PROCESS = "EXCLUSIVE_PROCESS"


class GpuState(Struct, omit_defaults=True, rename="camel"):
    """One GPU."""

    kernel_driver: str = "nvidia"
    compute_mode: ComputeMode = ComputeMode.DEFAULT
    time_slice: int = 0
    mig_mode: bool = False
    instances: dict[str, str] = {}
    """UUIDs of the MIG devices that were made on demand, by the names of their devices."""
    mps_daemons: list[str] = []
    """The names of the control daemons that serve it."""


@dataclass(slots=True)
class Hardware:
    """All GPUs of a node, and which claims use which device with which configuration."""

    gpus: dict[int, GpuState] = field(default_factory=dict)
    users: dict[str, dict[str, DriverConfig | None]] = field(default_factory=dict)
    """By device, by uid of the claim."""
    recalled: set[str] = field(default_factory=set)
    """Claims that an earlier process prepared, so that their configuration is not known."""

    @property
    def mps_daemons(self) -> set[str]:
        """All control daemons."""
        return {daemon for gpu in self.gpus.values() for daemon in gpu.mps_daemons}

    def gpu(self, minor: int) -> GpuState:
        """The GPU of that minor number."""
        return self.gpus.setdefault(minor, GpuState())

    def release(self, device: str, claim_uid: str) -> bool:
        """Forget that a claim uses a device. Returns whether nobody does any more."""
        users = self.users.get(device, {})
        users.pop(claim_uid, None)
        if not users:
            self.users.pop(device, None)
        return not users

    def recall(self, minor: int, state: GpuState, claims: Sequence[PreparedClaim]) -> None:
        """Take up the state in which an earlier process left a GPU, if claims that it prepared still use that."""
        held = [
            (device.name, claim.uid) for claim in claims for device in claim.devices if find_minor(device.name) == minor
        ]
        if held:
            self.gpus[minor] = state
        for device, uid in held:
            self.users.setdefault(device, {})[uid] = None
            self.recalled.add(uid)

    def describe(self) -> dict[str, str]:
        """The annotation of each GPU that is not at rest, by its name."""
        return {
            gpu_name(minor): msgspec.json.encode(state).decode()
            for minor, state in sorted(self.gpus.items())
            if state != GpuState()
        }


def find_states(annotations: Mapping[str, str]) -> dict[str, GpuState]:
    """What annotations of a node tell, by GPU. What cannot be read is left out."""
    states = {}
    for name, text in annotations.items():
        if name.startswith(HARDWARE_PREFIX):
            try:
                states[name.removeprefix(HARDWARE_PREFIX)] = msgspec.json.decode(text, type=GpuState)
            except msgspec.DecodeError:
                continue
    return states

"""The state of simulated GPUs: what `nvidia-smi` and sysfs would say after what claims have asked for.

Owned by the driver of a node, and gone with its process: what is set for a claim is set again when that is prepared
anew, and taking back is safe to repeat.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from dray.driver.config import DriverConfig

__all__ = ["ComputeMode", "GpuState", "Hardware"]


class ComputeMode(StrEnum):
    """Who may use a GPU."""

    DEFAULT = "DEFAULT"
    EXCLUSIVE_PROCESS = "EXCLUSIVE_PROCESS"


@dataclass(slots=True)
class GpuState:
    """One GPU."""

    time_slice: int = 0
    compute_mode: ComputeMode = ComputeMode.DEFAULT
    kernel_driver: str = "nvidia"
    instances: dict[str, str] = field(default_factory=dict)
    """UUIDs of the MIG devices that were made on demand, by the names of their devices."""

    @property
    def is_mig_enabled(self) -> bool:
        """Whether the GPU is cut."""
        return bool(self.instances)


@dataclass(slots=True)
class Hardware:
    """All GPUs of a node, and which claims use which device with which configuration."""

    gpus: dict[int, GpuState] = field(default_factory=dict)
    users: dict[str, dict[str, DriverConfig | None]] = field(default_factory=dict)
    """By device, by uid of the claim."""
    mps_daemons: set[str] = field(default_factory=set)

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

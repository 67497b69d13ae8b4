"""Configuration of the NVIDIA drivers, `resource.nvidia.com/v1beta1`, with the rules of the real ones.

Decoding refuses unknown fields and wrong values; what depends on the devices, `resolve_memory_limits` and the driver
refuse later. Everything that the real driver hides behind a feature gate is on.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar, Final

from msgspec import field

from dray.driver.config import ConfigPart, DriverConfig
from dray.values.quantity import Quantity

__all__ = [
    "BackendPolicy",
    "ChannelMode",
    "ComputeDomainChannelConfig",
    "ComputeDomainDaemonConfig",
    "GpuConfig",
    "Interval",
    "Iommu",
    "MigDeviceConfig",
    "MpsConfig",
    "Strategy",
    "TimeSlicingConfig",
    "VfioDeviceConfig",
    "resolve_memory_limits",
]

_VERSION: Final = "resource.nvidia.com/v1beta1"
_MEBI: Final = 2**20


class Strategy(StrEnum):
    """How the containers that have a device share it."""

    TIME_SLICING = "TimeSlicing"
    MPS = "MPS"


class Interval(StrEnum):
    """How long each gets the GPU in turn."""

    DEFAULT = "Default"
    SHORT = "Short"
    MEDIUM = "Medium"
    LONG = "Long"

    @property
    def time_slice(self) -> int:
        """The number that the GPU's own tool takes."""
        return list(Interval).index(self)


class TimeSlicingConfig(ConfigPart, frozen=True, kw_only=True):
    """Settings of time slicing."""

    interval: Interval = Interval.DEFAULT


class MpsConfig(ConfigPart, frozen=True, kw_only=True):
    """Settings of the Multi-Process Service."""

    default_active_thread_percentage: int | None = None
    default_pinned_device_memory_limit: Quantity | None = None
    default_per_device_pinned_memory_limit: Mapping[str, Quantity] = {}
    """By UUID of a device of the claim, or by its number among them."""
    multi_user: bool | None = None

    def __post_init__(self) -> None:
        """Refuse percentages that are none, and limits below 1 MiB."""
        percentage = self.default_active_thread_percentage
        if percentage is not None and not 0 <= percentage <= 100:
            raise ValueError(f"defaultActiveThreadPercentage must be from 0 to 100, is {percentage}")
        limits = dict(self.default_per_device_pinned_memory_limit)
        if self.default_pinned_device_memory_limit is not None:
            limits[""] = self.default_pinned_device_memory_limit
        for device, limit in limits.items():
            if limit.value() < _MEBI:
                of = f"defaultPerDevicePinnedMemoryLimit[{device}]" if device else "defaultPinnedDeviceMemoryLimit"
                raise ValueError(f"{of} must be at least 1Mi, is {limit}")


class _Sharing(ConfigPart, frozen=True, kw_only=True):
    strategy: Strategy
    mps_config: MpsConfig | None = None

    def __post_init__(self) -> None:
        if self.strategy is not Strategy.MPS and self.mps_config is not None:
            raise ValueError(f"mpsConfig cannot be used with strategy {self.strategy}")


class _GpuSharing(_Sharing, frozen=True, kw_only=True):
    time_slicing_config: TimeSlicingConfig | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.strategy is not Strategy.TIME_SLICING and self.time_slicing_config is not None:
            raise ValueError(f"timeSlicingConfig cannot be used with strategy {self.strategy}")


class GpuConfig(DriverConfig, frozen=True, kw_only=True):
    """For full GPUs. Without `sharing` nothing is changed on the GPU."""

    api_version: ClassVar[str] = _VERSION

    sharing: _GpuSharing | None = None

    @property
    def interval(self) -> Interval | None:
        """How to slice time; None where that is not asked for."""
        if self.sharing is None or self.sharing.strategy is not Strategy.TIME_SLICING:
            return None
        return (self.sharing.time_slicing_config or TimeSlicingConfig()).interval

    @property
    def mps(self) -> MpsConfig | None:
        """How to share by MPS; None where that is not asked for."""
        return _find_mps(self.sharing)


class MigDeviceConfig(DriverConfig, frozen=True, kw_only=True):
    """For MIG devices, whose time cannot be sliced at will."""

    api_version: ClassVar[str] = _VERSION

    sharing: _Sharing | None = None

    @property
    def mps(self) -> MpsConfig | None:
        """How to share by MPS; None where that is not asked for."""
        return _find_mps(self.sharing)


class BackendPolicy(StrEnum):
    """Through which interface of the kernel a virtual machine gets the GPU."""

    LEGACY_ONLY = "LegacyOnly"
    PREFER_IOMMU_FD = "PreferIommuFD"


class Iommu(ConfigPart, frozen=True, kw_only=True):
    """Settings of passthrough."""

    backend_policy: BackendPolicy = BackendPolicy.LEGACY_ONLY
    enable_api_device: bool = field(default=False, name="enableAPIDevice")


class VfioDeviceConfig(DriverConfig, frozen=True, kw_only=True):
    """For GPUs that go to virtual machines."""

    api_version: ClassVar[str] = _VERSION

    iommu: Iommu = Iommu()


class _Domain(DriverConfig, frozen=True, kw_only=True):
    domain_id: str = field(name="domainID")

    def __post_init__(self) -> None:
        if not self.domain_id:
            raise ValueError("domainID must be set")


class ChannelMode(StrEnum):
    """How many channels a workload gets."""

    SINGLE = "Single"
    ALL = "All"


class ComputeDomainChannelConfig(_Domain, frozen=True, kw_only=True):
    """For workloads of a domain."""

    api_version: ClassVar[str] = _VERSION

    allocation_mode: ChannelMode = ChannelMode.SINGLE


class ComputeDomainDaemonConfig(_Domain, frozen=True, kw_only=True):
    """For the daemons of a domain."""

    api_version: ClassVar[str] = _VERSION


def _find_mps(sharing: _Sharing | None) -> MpsConfig | None:
    if sharing is None or sharing.strategy is not Strategy.MPS:
        return None
    return sharing.mps_config or MpsConfig()


def resolve_memory_limits(config: MpsConfig, uuids: Sequence[str]) -> dict[str, str]:
    """The limit of each device of a claim, in whole MiB as MPS takes it; devices without one are left out.

    Raises ValueError for a limit of a device that the claim does not have.
    """
    limits: dict[str, Quantity] = {}
    if config.default_pinned_device_memory_limit is not None:
        limits = dict.fromkeys(uuids, config.default_pinned_device_memory_limit)
    for device, limit in config.default_per_device_pinned_memory_limit.items():
        if device in uuids:
            limits[device] = limit
        elif device.isdigit() and int(device) < len(uuids):
            limits[uuids[int(device)]] = limit
        else:
            raise ValueError(f"defaultPerDevicePinnedMemoryLimit[{device}]: neither a UUID nor the number of a device")
    return {uuid: f"{limit.value() // _MEBI}M" for uuid, limit in limits.items()}

"""Configuration of the example driver. Like the real one it passes over fields that it does not know."""

from enum import StrEnum
from typing import ClassVar, Final

from dray.driver.config import ConfigPart, DriverConfig

__all__ = ["BandwidthBurst", "ExampleGpuConfig", "ExampleNetConfig", "ExampleStrategy", "Sharing"]

_MAX_BURST_BITS: Final = 2**32 * 8


class ExampleStrategy(StrEnum):
    """How containers share a GPU."""

    TIME_SLICING = "TimeSlicing"
    SPACE_PARTITIONING = "SpacePartitioning"


class Interval(StrEnum):
    """How long each has the GPU."""

    DEFAULT = "Default"
    SHORT = "Short"
    MEDIUM = "Medium"
    LONG = "Long"


class TimeSlicing(ConfigPart, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Settings of time slicing."""

    interval: Interval = Interval.DEFAULT


class SpacePartitioning(ConfigPart, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Settings of partitioning."""

    partition_count: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no number of partitions."""
        if self.partition_count < 0:
            raise ValueError(f"invalid partition count: {self.partition_count}")


class Sharing(ConfigPart, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The strategy, and settings for it alone."""

    strategy: ExampleStrategy
    time_slicing_config: TimeSlicing | None = None
    space_partitioning_config: SpacePartitioning | None = None

    def __post_init__(self) -> None:
        """Refuse settings of the other strategy."""
        is_sliced = self.strategy is ExampleStrategy.TIME_SLICING
        if is_sliced and self.space_partitioning_config is not None:
            raise ValueError("cannot use SpacePartitioningConfig with the TimeSlicing strategy")
        if not is_sliced and self.time_slicing_config is not None:
            raise ValueError("cannot use TimeSlicingConfig with the SpacePartitioning strategy")

    @property
    def interval(self) -> Interval:
        """The interval, said or not."""
        return (self.time_slicing_config or TimeSlicing()).interval

    @property
    def partition_count(self) -> int:
        """The number of partitions, said or not."""
        return (self.space_partitioning_config or SpacePartitioning()).partition_count


class ExampleGpuConfig(DriverConfig, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """For GPUs."""

    api_version: ClassVar[str] = "gpu.resource.example.com/v1alpha1"
    kind: ClassVar[str] = "GpuConfig"

    sharing: Sharing = Sharing(strategy=ExampleStrategy.TIME_SLICING)


class BandwidthBurst(ConfigPart, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Bits that may come at once; 0 sets no limit."""

    ingress_burst: int = 0
    egress_burst: int = 0

    def __post_init__(self) -> None:
        """Refuse bursts that no interface takes."""
        if max(self.ingress_burst, self.egress_burst) >= _MAX_BURST_BITS:
            raise ValueError("burst cannot be more than 4GB")


class ExampleNetConfig(DriverConfig, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """For network interfaces."""

    api_version: ClassVar[str] = "net.resource.example.com/v1alpha1"
    kind: ClassVar[str] = "NetConfig"

    bw_burst: BandwidthBurst = BandwidthBurst()

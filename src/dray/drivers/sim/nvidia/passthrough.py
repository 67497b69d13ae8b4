"""What a node lets its driver do about GPUs for virtual machines."""

from typing import Final

from msgspec import Struct

__all__ = ["WITH_IOMMU", "Passthrough"]


class Passthrough(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Whether GPUs can be passed through, and how patient the driver is with those that are in use."""

    has_iommu: bool = True
    busy_wait_seconds: float = 60.0
    """How long a program may keep a GPU open before the driver gives up; a kubelet waits for 45 s and asks again."""


WITH_IOMMU: Final = Passthrough()
"""As the driver comes, on a machine that can."""

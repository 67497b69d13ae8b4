"""What an allocation is judged against: one node, what is published, who holds what, and who asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from dray.api.core.node import Node
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import Device, DeviceAttribute
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice

__all__ = ["AttributeDerivation", "DeviceKey", "PoolKey", "Published", "SelectorVerdict", "World", "name_claim"]

SelectorVerdict: TypeAlias = Callable[[str, str, Device], bool]
"""Whether an expression is true of a device: (expression, driver, device). One that fails is not true."""

AttributeDerivation: TypeAlias = Callable[[str, str, Device], DeviceAttribute | None]
"""What an expression makes of a device: (expression, driver, device). None if it fails."""


class PoolKey(NamedTuple):
    """A pool: equal names of two drivers are two pools."""

    driver: str
    name: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


class DeviceKey(NamedTuple):
    """A device, unique in the cluster."""

    driver: str
    pool: str
    name: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.name}"


class Published(NamedTuple):
    """A device and the slice it stands in."""

    key: DeviceKey
    source: ResourceSlice
    device: Device

    @property
    def is_shareable(self) -> bool:
        """Whether several allocations may have a part of the device each."""
        return bool(self.device.allow_multiple_allocations)


def derive_nothing(expression: str, driver: str, device: Device) -> DeviceAttribute | None:
    """Answer for worlds without derived attributes."""
    return None


@dataclass(frozen=True, slots=True)
class World:
    """Everything that decides whether allocations of `claims` on `node` are legal.

    `slices` are those of the whole cluster, taints of rules merged in. `allocated` are the claims that hold devices,
    those whose allocation is decided but not written included.
    """

    node: Node
    classes: Sequence[DeviceClass]
    slices: Sequence[ResourceSlice]
    allocated: Sequence[ResourceClaim]
    claims: Sequence[ResourceClaim]
    is_true: SelectorVerdict
    derive: AttributeDerivation = derive_nothing


def name_claim(claim: ResourceClaim) -> str:
    """How violations name a claim."""
    metadata = claim.metadata
    return f"claim {metadata.namespace}/{metadata.name}" if metadata.namespace else f"claim {metadata.name}"

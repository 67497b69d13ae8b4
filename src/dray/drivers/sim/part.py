"""The parts that profiles are put together from, and the machine that they share.

A part stands for one driver's hardware. It knows its options, says where its devices sit, and draws blueprints; parts
of other drivers on the same machine see only the places.
"""

from collections.abc import Sequence
from typing import Self

from msgspec import Struct

from dray.drivers.sim.pools import Blueprint
from dray.errors import DrayError

__all__ = ["Machine", "Nic", "Part", "Place", "ProfileError"]


class ProfileError(DrayError):
    """A profile is not known, cannot be read, or does not have the option."""

    hint = "a profile with options that it has, such as dgx-h100 or dgx-h100:mig"


class Place(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a device sits. What a machine does not tell is absent: virtual machines often have no PCIe root."""

    pci: str
    root: str | None = None
    numa: int | None = None
    model: str | None = None
    """Another model than the part's."""


class Nic(Struct, frozen=True, forbid_unknown_fields=True):
    """A network interface of the machine: one PCI function with a port."""

    pci: str
    interface: str
    root: str | None = None
    numa: int | None = None
    rdma: str | None = None
    is_storage: bool = False
    """Meant for storage: never beside an accelerator."""


class Machine(Struct, frozen=True):
    """What parts know of each other: the interfaces, and the places of accelerators."""

    nics: tuple[Nic, ...] = ()
    accelerators: tuple[Place, ...] = ()


class Part(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", tag_field="kind"):
    """One driver's hardware on a node, or in reach of several."""

    def choose(self, option: str, value: str) -> Self | None:
        """The part with an option taken; None if it has no such option. Raises ProfileError for a bad value."""
        return None

    def options(self) -> tuple[str, ...]:
        """The options it has, as they are written."""
        return ()

    def accelerators(self) -> tuple[Place, ...]:
        """Where its devices sit, if others align with them."""
        return ()

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """What each node offers. Raises ProfileError where options do not go together."""
        return ()

"""Where MIG instances may lie on a GPU of eight memory slices and seven compute slices.

The same on every such GPU. Memory slice 7 begins no instance of a single slice, so that seven of them leave it unused;
that compute slices do not run out is left to the counter of multiprocessors.
"""

import re
from typing import Final, NamedTuple

from msgspec import Struct

from dray.drivers.sim.nvidia.models import GpuModel, MigProfile

__all__ = [
    "BALANCED",
    "MEMORY_SLICES",
    "Instance",
    "MigName",
    "Shape",
    "list_instances",
    "parse_mig_name",
    "shape_of",
]

MEMORY_SLICES: Final = 8


class Shape(Struct, frozen=True):
    """How much of a GPU an instance spans, and at which memory slices it may begin."""

    profile_id: int
    """The number that the GPU's own interface has for it."""
    compute_slices: int
    memory_slices: int
    starts: tuple[int, ...]


_SHAPES: Final = {
    "1g": Shape(19, 1, 1, (0, 1, 2, 3, 4, 5, 6)),
    "1g+me": Shape(20, 1, 1, (0, 1, 2, 3, 4, 5, 6)),
    "1g-double": Shape(15, 1, 2, (0, 2, 4, 6)),
    "2g": Shape(14, 2, 2, (0, 2, 4)),
    "3g": Shape(9, 3, 4, (0, 4)),
    "4g": Shape(5, 4, 4, (0,)),
    "7g": Shape(0, 7, 8, (0,)),
}
BALANCED: Final = (("1g", 0), ("1g", 1), ("2g", 2), ("3g", 4))
"""The layout that administrators call balanced, and the only one of these four."""

_NAME: Final = re.compile(r"gpu-(\d+)-mig-(.+)-(\d+)-(\d+)")


class Instance(Struct, frozen=True):
    """A GPU instance at a place: a profile, and the memory slice it begins at."""

    profile: MigProfile
    start: int

    @property
    def shape(self) -> Shape:
        """What it spans."""
        return shape_of(self.profile)

    @property
    def slices(self) -> range:
        """The memory slices it occupies."""
        return range(self.start, self.start + self.shape.memory_slices)

    def name(self, minor: int) -> str:
        """The name of its device on the GPU of that minor number."""
        profile = self.profile.name.replace(".", "").replace("+", "-")
        return f"gpu-{minor}-mig-{profile}-{self.shape.profile_id}-{self.start}"


def shape_of(profile: MigProfile) -> Shape:
    """What instances of a profile span. Raises KeyError for a shape that no GPU has."""
    return _SHAPES[profile.shape]


def list_instances(model: GpuModel) -> list[Instance]:
    """Every instance that the model can hold, alone, in the order of profiles and places."""
    return [Instance(profile, start) for profile in model.mig for start in shape_of(profile).starts]


class MigName(NamedTuple):
    """What the name of a MIG device says."""

    minor: int
    profile: str
    """Without dots, and `-` for `+`."""
    profile_id: int
    start: int

    @property
    def instance_id(self) -> int:
        """The number of its GPU instance. No two that can be there at once have the same."""
        return _FIRST_INSTANCE_IDS[self.profile_id] + self.start // _INSTANCE_STRIDES[self.profile_id]


_FIRST_INSTANCE_IDS: Final = {0: 0, 5: 1, 9: 1, 14: 3, 15: 3, 19: 7, 20: 7}
_INSTANCE_STRIDES: Final = {0: 1, 5: 1, 9: 4, 14: 2, 15: 2, 19: 1, 20: 1}


def parse_mig_name(name: str) -> MigName | None:
    """Read the name of a MIG device; None for what is none."""
    match = _NAME.fullmatch(name)
    return MigName(int(match[1]), match[2], int(match[3]), int(match[4])) if match else None

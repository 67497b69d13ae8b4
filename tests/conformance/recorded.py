"""Recorded cases of the allocator as worlds: where the lines are, and how to read one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dray.api.core.node import Node
from dray.api.mending import decode_custom
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice
from dray.audit.world import World
from tests.properties.expressions import derived_or_nothing, is_true

__all__ = ["SLICES", "RecordedCase", "find_file", "read_cases", "world_of"]

SLICES = Path(__file__).parent


class Expected(msgspec.Struct, frozen=True):
    """What Kubernetes did: `allocated`, `unschedulable` or `error`; share identifiers are written `*`."""

    outcome: str
    message: str = ""
    results: tuple[AllocationResult, ...] | None = None


class RecordedCase(msgspec.Struct, frozen=True):
    """One line."""

    name: str
    family: str
    node: Node
    classes: tuple[DeviceClass, ...]
    slices: tuple[ResourceSlice, ...]
    allocated: tuple[ResourceClaim, ...]
    claims: tuple[ResourceClaim, ...]
    expect: Expected


_DECODER = msgspec.json.Decoder(RecordedCase, dec_hook=decode_custom)


def find_file(name: str) -> Path:
    """The whole file where the environment variable CASES names the folder of recordings, else our own slice of it."""
    folder = os.environ.get("CASES")
    whole = Path(folder, name) if folder else SLICES / name
    return whole if whole.exists() else SLICES / name


def read_cases(name: str) -> Iterator[RecordedCase]:
    """The cases of a file of recordings of the allocator."""
    for line in find_file(name).read_bytes().splitlines():
        yield _DECODER.decode(line)


def world_of(case: RecordedCase) -> World:
    """The world that a case describes."""
    return World(
        node=case.node,
        classes=case.classes,
        slices=case.slices,
        allocated=case.allocated,
        claims=case.claims,
        is_true=is_true,
        derive=derived_or_nothing,
    )

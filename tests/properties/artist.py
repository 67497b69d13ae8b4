"""How parts of a small world are drawn: features, names, and dice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec import Raw

from dray.api.resource.request import CELDeviceSelector, DeviceSelector, OpaqueDeviceConfiguration

__all__ = ["GPU", "MODEL", "NIC", "NODE", "NUMA", "ROOT", "Artist", "Feature", "opaque", "select"]

T = TypeVar("T")

NODE = "n1"
GPU, NIC = "gpu.x", "nic.x"
ROOT, NUMA, MODEL = "common.x/root", "gpu.x/numa", "gpu.x/model"


class Feature(Enum):
    """What a world has besides devices with attributes and requests for a number of them."""

    ADMIN = auto()
    ALL = auto()
    ALTERNATIVES = auto()
    CONDITIONS = auto()
    CONSTRAINTS = auto()
    COUNTERS = auto()
    DERIVED = auto()
    FAILING = auto()
    GENERATIONS = auto()
    GROUPS = auto()
    HELD = auto()
    LISTS = auto()
    OPERATIONS = auto()
    PLACEMENT = auto()
    SHARED = auto()
    TAINTS = auto()


def select(*expressions: str) -> tuple[DeviceSelector, ...]:
    """Selectors of these expressions."""
    return tuple(DeviceSelector(cel=CELDeviceSelector(expression=each)) for each in expressions)


def opaque(text: str) -> OpaqueDeviceConfiguration:
    return OpaqueDeviceConfiguration(driver=GPU, parameters=Raw(f'{{"from":"{text}"}}'.encode()))


@dataclass(frozen=True)
class Artist:
    """Draws parts of one world."""

    draw: DrawFn
    features: frozenset[Feature]

    def has(self, *features: Feature) -> bool:
        return not self.features.isdisjoint(features)

    def one_of(self, *choices: T) -> T:
        return self.draw(st.sampled_from(choices))

    def number(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def seldom(self) -> bool:
        """True once in four."""
        return self.one_of(False, False, False, True)

    def some(self, choices: Sequence[T], most: int) -> tuple[T, ...]:
        return tuple(self.draw(st.lists(st.sampled_from(choices), max_size=most, unique=True)))

"""What the allocator asks of the expression language. `dray.allocator.language` answers it with `dray.cel`."""

from __future__ import annotations

from typing import Protocol

from dray.allocator.slices import Reads
from dray.api.resource.device import Device, DeviceAttribute

__all__ = ["Derivation", "ExpressionFault", "Language", "Score", "Selector"]


class ExpressionFault(Exception):
    """An expression does not compile, or went wrong on a device. The text is the language's own."""

    def __init__(self, detail: str, *, is_compile_error: bool = False) -> None:
        super().__init__(detail)
        self.is_compile_error = is_compile_error


class Selector(Protocol):
    """A condition on devices. May be asked about the same device any number of times."""

    @property
    def reads(self) -> Reads:
        """What the verdict depends on."""

    def matches(self, driver: str, device: Device) -> bool:
        """Whether the condition holds. Raises `ExpressionFault` if it cannot be told."""


class Derivation(Protocol):
    """An attribute computed from a device."""

    @property
    def reads(self) -> Reads:
        """What the value depends on."""

    def value(self, driver: str, device: Device) -> DeviceAttribute:
        """The attribute. Raises `ExpressionFault` if it cannot be computed."""


class Score(Protocol):
    """How much a device is worth to a user-supplied policy."""

    @property
    def reads(self) -> Reads:
        """What the score depends on."""

    def score(self, driver: str, device: Device) -> int:
        """The score; higher is better. Raises `ExpressionFault` if it cannot be computed."""


class Language(Protocol):
    """Compiles expressions. Text that does not compile makes a program that says so when it is asked about a device."""

    def selector(self, expression: str) -> Selector:
        """A condition."""

    def derivation(self, expression: str) -> Derivation:
        """A derived attribute."""

    def score(self, expression: str) -> Score:
        """A score."""

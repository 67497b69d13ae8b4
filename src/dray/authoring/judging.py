"""What judging manifests asks of others: the checks of the API server, the expression language, the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from dray.api.checks import ExpressionVerdict
from dray.api.resource.device import Device
from dray.authoring.knowledge import Knowledge

__all__ = ["Judge", "Present", "SchemaFault", "SchemaVerdict", "Yardstick"]


class SchemaFault(Struct, frozen=True):
    """One field that the API server refuses."""

    path: str
    message: str
    hint: str = ""


class SchemaVerdict(Struct, frozen=True):
    """What the API server says of an object."""

    faults: tuple[SchemaFault, ...] = ()
    warnings: tuple[str, ...] = ()


class Judge(Protocol):
    """Who knows the rules of the API server and of expressions."""

    def check(self, text: bytes) -> SchemaVerdict:
        """Every fault of an object of a served kind, given as JSON."""
        ...

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        """Compile a selector."""
        ...

    def matches(self, expression: str, driver: str, device: Device) -> bool | str:
        """Whether a device meets a condition; in words, if the condition fails on it or is none."""
        ...

    def judge_config(self, driver: str, parameters: bytes) -> str:
        """Why a driver does not take its configuration; empty if it does, or if nothing is known of that."""
        ...


class Present(Struct, frozen=True):
    """What is there besides the input: classes by name, templates and claims by namespace and name."""

    is_cluster: bool = False
    classes: frozenset[str] = frozenset()
    templates: frozenset[tuple[str, str]] = frozenset()
    claims: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Everything that manifests are held against. What their own classes and slices say is added to `knowledge`."""

    knowledge: Knowledge
    judge: Judge
    present: Present

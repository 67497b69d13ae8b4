"""What an attempt to allocate can end with. Every end is a value; nothing is raised across the package's border."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from dray.api.resource.allocation import AllocationResult

__all__ = [
    "Allocated",
    "BudgetExhausted",
    "Failed",
    "FailureCode",
    "Feasible",
    "NodeVerdict",
    "Outcome",
    "Unschedulable",
    "UnschedulableReason",
]


@dataclass(frozen=True, slots=True)
class Allocated:
    """All claims fit together. `allocations` answers the claims in their order; share identifiers are set.

    `steps` counts the choices that the search looked at.
    """

    allocations: tuple[AllocationResult, ...]
    steps: int = 0


class UnschedulableReason(StrEnum):
    """Why the node cannot serve the claims now; the text is the one kube-scheduler reports."""

    NO_SOLUTION = "cannot allocate all claims"
    INVALID_POOLS = "invalid resource pools were encountered"


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """Proven: no choice of devices satisfies the claims on this node. Others may do."""

    reason: UnschedulableReason = UnschedulableReason.NO_SOLUTION
    steps: int = 0


class FailureCode(StrEnum):
    """What is wrong with the input. Stable."""

    BAD_REQUEST = "BadRequest"
    UNKNOWN_CLASS = "UnknownClass"
    TOO_MANY_DEVICES = "TooManyDevices"
    POOL_NOT_USABLE = "PoolNotUsable"
    BAD_NODE_SELECTOR = "BadNodeSelector"
    SELECTOR_FAILED = "SelectorFailed"
    DERIVED_ATTRIBUTE_FAILED = "DerivedAttributeFailed"
    CAPACITY_FAILED = "CapacityFailed"
    CONSTRAINT_EXCLUDES_ALL = "ConstraintExcludesAll"
    UNKNOWN_NODE = "UnknownNode"
    POLICY_FAILED = "PolicyFailed"


@dataclass(frozen=True, slots=True)
class Failed:
    """The input does not make sense, whatever node is tried; `message` is Kubernetes' own text."""

    code: FailureCode
    message: str


@dataclass(frozen=True, slots=True)
class BudgetExhausted:
    """The search was stopped at its budget of steps. Says nothing about whether the claims fit."""

    steps: int


Outcome: TypeAlias = Allocated | Unschedulable | Failed | BudgetExhausted


@dataclass(frozen=True, slots=True)
class Feasible:
    """The claims fit. `alternatives` is, by request with alternatives, the index of the one that is used."""

    alternatives: tuple[int, ...] = ()

    @property
    def preference(self) -> int:
        """Kubernetes' score of a node for claims with alternatives: 8 for each first one used, 1 for each eighth."""
        return sum(8 - index for index in self.alternatives)


NodeVerdict: TypeAlias = Feasible | Unschedulable | Failed | BudgetExhausted

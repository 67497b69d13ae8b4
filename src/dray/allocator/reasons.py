"""Why claims do not fit, as values. Codes are stable; texts are made in `dray.allocator.render` alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "Conflict",
    "Explanation",
    "Fall",
    "Group",
    "Headline",
    "HeadlineCode",
    "PoolTrouble",
    "ReasonCode",
    "Remedy",
    "RemedyCode",
    "RequestExplanation",
    "Supply",
]


class ReasonCode(StrEnum):
    """Why a device does not come into question, in the order in which devices fall."""

    UNREACHABLE = "Unreachable"
    WRONG_CLASS = "WrongClass"
    SELECTOR_FALSE = "SelectorFalse"
    SELECTOR_FAILED = "SelectorFailed"
    CAPACITY_TOO_SMALL = "CapacityTooSmall"
    NODE_OPERATIONS_NEEDED = "NodeOperationsNeeded"
    TAINTED = "Tainted"
    TAKEN = "Taken"
    SHARES_EXHAUSTED = "SharesExhausted"
    COUNTERS_EXHAUSTED = "CountersExhausted"
    GROUPS_INCOMPATIBLE = "GroupsIncompatible"
    CONSTRAINT_UNSATISFIED = "ConstraintUnsatisfied"


@dataclass(frozen=True, slots=True)
class Fall:
    """Devices that fell for one reason.

    `subject` is the class, the expression, the taint or the attribute; `number` that of the selector. `values` are
    what the devices have where the expression or constraint looks, the most frequent first. `holders` are the claims
    in the way.
    """

    code: ReasonCode
    count: int
    subject: str = ""
    number: int | None = None
    values: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True, slots=True)
class RequestExplanation:
    """How one request, or one alternative, fares by itself: of `seen` devices `left` remain, `needed` are wanted."""

    claim: int
    request: str
    class_name: str
    needed: int
    seen: int
    falls: tuple[Fall, ...]
    left: int
    wants_all: bool = False

    def is_of(self, claim: int, request: str) -> bool:
        """Whether this is the request of that name, or one of its alternatives."""
        return self.claim == claim and (self.request == request or self.request.startswith(f"{request}/"))


@dataclass(frozen=True, slots=True)
class PoolTrouble:
    """A pool of which nothing can be taken; `detail` says what contradicts itself, if anything does."""

    pool: str
    state: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Supply:
    """How many there are, and how many are wanted at least."""

    available: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Group:
    """Free devices with one value of an attribute: how many each of several requests could have, in their order."""

    value: str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A set of things that cannot all be had: without any one of them the rest fits.

    Requests are (number of the claim, name), constraints (number of the claim, attribute). `devices` are those that
    fit at least one of the requests by itself, unless some of them can be shared. If the only constraint is on a
    distinct attribute with too few values, `distinct` are those; if it is on a matching one, `best` is the value with
    which the requests come furthest.
    """

    requests: tuple[tuple[int, str], ...]
    constraints: tuple[tuple[int, str], ...] = ()
    devices: Supply | None = None
    distinct: Supply | None = None
    best: Group | None = None


class RemedyCode(StrEnum):
    """What would make the claims fit. Each was tried before it was named."""

    RELEASE_CLAIMS = "ReleaseClaims"
    ADD_DEVICES = "AddDevices"
    RELAX_CONSTRAINT = "RelaxConstraint"
    RELAX_SELECTOR = "RelaxSelector"
    TOLERATE_TAINTS = "TolerateTaints"


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way out. `names` are claims, attributes, taints or the expression; `count` of them are enough.

    For devices `count` more are needed, for the request in `names`, with the attribute value in `where` if that is
    given, and what is in `along_with` too. For a selector `where` is the request. `claim` is the number of the claim
    that it is about.
    """

    code: RemedyCode
    names: tuple[str, ...]
    count: int = 1
    where: str = ""
    claim: int | None = None
    along_with: tuple[Remedy, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why claims do not fit on one node. `error` is set instead of the rest if the input makes no sense.

    `claims` are the names of the claims, which the rest refers to by number.
    """

    node: str
    claims: tuple[str, ...] = ()
    requests: tuple[RequestExplanation, ...] = ()
    pools: tuple[PoolTrouble, ...] = ()
    conflict: Conflict | None = None
    remedies: tuple[Remedy, ...] = ()
    error: str = ""


class HeadlineCode(StrEnum):
    """The main reason of a refusal. Most are reasons of devices, see `ReasonCode`."""

    CONSTRAINT = "ConstraintUnsatisfied"
    NOT_TOGETHER = "NotTogether"
    NO_DEVICE = "NoDevice"
    TOO_FEW = "TooFewDevices"
    TOO_FEW_FREE = "TooFewFreeDevices"
    POOL = "PoolNotUsable"
    INPUT_ERROR = "InputError"
    BUDGET_EXHAUSTED = "BudgetExhausted"
    NOT_EXAMINED = "NotExamined"
    SELECTOR_FALSE = "SelectorFalse"
    SELECTOR_FAILED = "SelectorFailed"
    CAPACITY_TOO_SMALL = "CapacityTooSmall"
    NODE_OPERATIONS_NEEDED = "NodeOperationsNeeded"
    TAINTED = "Tainted"
    TAKEN = "Taken"
    SHARES_EXHAUSTED = "SharesExhausted"
    COUNTERS_EXHAUSTED = "CountersExhausted"
    GROUPS_INCOMPATIBLE = "GroupsIncompatible"


@dataclass(frozen=True, slots=True)
class Headline:
    """A main reason without the details in which nodes differ, so that equal ones can be counted."""

    code: HeadlineCode
    subject: str = ""

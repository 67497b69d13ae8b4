"""The words for the parts of an explanation: reasons, requests, ways out, nodes together.

Texts may change any day; what is stable are the codes beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dray.allocator.explain import Folded
from dray.allocator.reasons import (
    Explanation,
    Fall,
    HeadlineCode,
    PoolTrouble,
    ReasonCode,
    Remedy,
    RemedyCode,
    RequestExplanation,
)

__all__ = [
    "ELLIPSIS",
    "Reason",
    "agree_fit",
    "count_things",
    "describe_falls",
    "describe_fare",
    "describe_headline",
    "describe_need",
    "describe_pool",
    "describe_remedy",
    "list_names",
    "name_requests",
]

_NAMES_SHOWN: Final = 5
_EXPRESSION_SHOWN: Final = 120
ELLIPSIS: Final = "…"
"""Stands for what is left out."""


# How requests fare.


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some devices do not come into question: `count` and `text` read as one, `3 taken by ns/claim`."""

    code: ReasonCode
    count: int
    text: str


def describe_need(request: RequestExplanation) -> str:
    """How many devices a request wants."""
    if not request.wants_all:
        return f"{request.needed} wanted"
    return "all wanted, at least 1" if request.needed == 1 else f"all {request.needed} wanted"


def describe_fare(request: RequestExplanation) -> str:
    """How many devices fit a request by themselves, and how many are wanted if those are too few."""
    if not request.seen:
        return f"the node sees no devices, {describe_need(request)}"
    found = f"{request.left} of {count_things(request.seen, 'device')} {agree_fit(request.left)}"
    return f"{found}, {describe_need(request)}" if request.left < request.needed else found


def describe_falls(request: RequestExplanation) -> list[Reason]:
    """Reasons with their counts: what came closest to fitting first. What reads the same is one reason."""
    order = list(ReasonCode)
    found: dict[str, Reason] = {}
    for fall in sorted(request.falls, key=lambda each: (-order.index(each.code), -each.count)):
        text = _FALLS[fall.code](fall)
        known = found.get(text, Reason(fall.code, 0, text))
        found[text] = replace(known, count=known.count + fall.count)
    return list(found.values())


_FALLS: dict[ReasonCode, Callable[[Fall], str]] = {
    ReasonCode.UNREACHABLE: lambda fall: "out of reach of the node",
    ReasonCode.WRONG_CLASS: lambda fall: f"not of class {fall.subject}",
    ReasonCode.SELECTOR_FALSE: lambda fall: (
        f"failing selector #{fall.number} {_quote(fall.subject)}{_properties(fall)}"
    ),
    ReasonCode.SELECTOR_FAILED: lambda fall: (
        f"on which selector #{fall.number} {_quote(fall.subject)} fails{_values(fall)}"
    ),
    ReasonCode.CAPACITY_TOO_SMALL: lambda fall: f"with too little capacity{_values(fall)}",
    ReasonCode.NODE_OPERATIONS_NEEDED: lambda fall: "only for nodes that can skip operations",
    ReasonCode.TAINTED: lambda fall: f"tainted {fall.subject}",
    ReasonCode.TAKEN: lambda fall: f"taken{_holders(fall, 'by')}",
    ReasonCode.SHARES_EXHAUSTED: lambda fall: f"with too little capacity left{_holders(fall, 'beside')}",
    ReasonCode.COUNTERS_EXHAUSTED: lambda fall: f"with too little {fall.subject} left{_holders(fall, 'beside')}",
    ReasonCode.GROUPS_INCOMPATIBLE: lambda fall: f"incompatible with what is in use{_holders(fall, 'by')}",
    ReasonCode.CONSTRAINT_UNSATISFIED: lambda fall: f"without {fall.subject}",
}


def _values(fall: Fall) -> str:
    return f" ({list_names(list(fall.values))})" if fall.values else ""


def _properties(fall: Fall) -> str:
    """Values with each name once: `model is a, b; no numa`."""
    named: dict[str, list[str]] = {}
    for value in fall.values:
        name, _, what = value.partition(" is ")
        named.setdefault(name, []).extend([what] if what else [])
    texts = [f"{name} is {list_names(values)}" if values else name for name, values in named.items()]
    return f" ({'; '.join(texts)})" if texts else ""


def _holders(fall: Fall, how: str) -> str:
    return f" {how} {list_names(list(fall.holders))}" if fall.holders else ""


def describe_pool(trouble: PoolTrouble) -> str:
    """What is the matter with a pool."""
    return f"Pool {trouble.pool} is {trouble.state}{f': {trouble.detail}' if trouble.detail else ''}"


# What would help.


def describe_remedy(explanation: Explanation, remedy: Remedy) -> str:
    """What would make the claims fit, after `they would fit`."""
    names = list_names(list(remedy.names))
    is_clear = remedy.claim is None or len(explanation.claims) < 2
    whose = "" if is_clear else f" of {explanation.claims[remedy.claim or 0]}"
    match remedy.code:
        case RemedyCode.RELEASE_CLAIMS:
            if remedy.count == len(remedy.names):
                return f"with {names} released"
            return f"with any {remedy.count} of {names} released"
        case RemedyCode.ADD_DEVICES:
            additions = (remedy, *remedy.along_with)
            return f"with {' and '.join(_addition(explanation, each) for each in additions)}"
        case RemedyCode.RELAX_CONSTRAINT:
            return f"without the constraint{whose} on {names}"
        case RemedyCode.RELAX_SELECTOR:
            return f"without selector {_quote(remedy.names[0])} in request {remedy.where}{whose}"
        case RemedyCode.TOLERATE_TAINTS:
            return f"with {names} tolerated"


def _addition(explanation: Explanation, remedy: Remedy) -> str:
    wish = (remedy.claim or 0, remedy.names[0])
    request = next(each for each in explanation.requests if (each.claim, each.request) == wish)
    is_choosy = any(fall.code in (ReasonCode.SELECTOR_FALSE, ReasonCode.SELECTOR_FAILED) for fall in request.falls)
    choosy = f" for request {name_requests(explanation, [wish])}" if is_choosy else ""
    where = f" with {remedy.where}" if remedy.where else ""
    return f"{count_things(remedy.count, 'more device')} of class {request.class_name}{choosy}{where}"


# Nodes together.


_HEADLINES: dict[HeadlineCode, str] = {
    HeadlineCode.CONSTRAINT: "lost on the constraint on {}",
    HeadlineCode.NOT_TOGETHER: "cannot satisfy {} together",
    HeadlineCode.NO_DEVICE: "{has} no device of class {}",
    HeadlineCode.TOO_FEW: "{has} too few devices of class {}",
    HeadlineCode.TOO_FEW_FREE: "{has} too few free devices of class {}",
    HeadlineCode.POOL: "{waits} for a pool with devices of class {}",
    HeadlineCode.INPUT_ERROR: "failed: {}",
    HeadlineCode.BUDGET_EXHAUSTED: "{was} given up on",
    HeadlineCode.NOT_EXAMINED: "{does} not fit",
    HeadlineCode.SELECTOR_FALSE: "{lacks} devices with {}",
    HeadlineCode.SELECTOR_FAILED: "{has} devices on which {} fails",
    HeadlineCode.CAPACITY_TOO_SMALL: "{lacks} devices of class {} that are large enough",
    HeadlineCode.NODE_OPERATIONS_NEEDED: "cannot skip operations for class {}",
    HeadlineCode.TAINTED: "{has} devices tainted {}",
    HeadlineCode.TAKEN: "{has} no free device of class {}",
    HeadlineCode.SHARES_EXHAUSTED: "{has} too little capacity left of class {}",
    HeadlineCode.COUNTERS_EXHAUSTED: "{has} too little {} left on cards",
    HeadlineCode.GROUPS_INCOMPATIBLE: "{has} only incompatible partitions of class {}",
}

_ONE = {"has": "has", "waits": "waits", "was": "was", "does": "does", "lacks": "lacks"}
_MANY = {"has": "have", "waits": "wait", "was": "were", "does": "do", "lacks": "lack"}


def describe_headline(folded: Folded) -> str:
    """The main reason, after the number of nodes that have it."""
    code, subject, conflict = folded.headline.code, folded.headline.subject, folded.example.conflict
    if code is HeadlineCode.NOT_TOGETHER and conflict is not None:
        subject = name_requests(folded.example, conflict.requests)
    if code in (HeadlineCode.SELECTOR_FALSE, HeadlineCode.SELECTOR_FAILED):
        subject = _quote(subject)
    return _HEADLINES[code].format(subject, **(_ONE if folded.nodes == 1 else _MANY))


# Words.


def name_requests(explanation: Explanation, requests: Sequence[tuple[int, str]]) -> str:
    """Requests by name, with their claims where there are several."""
    if len(explanation.claims) < 2:
        return list_names([name for _, name in requests])
    claims: dict[str, list[str]] = {}
    for claim, name in requests:
        claims.setdefault(name, []).append(explanation.claims[claim])
    return "; ".join(f"{name} of {list_names(whose)}" for name, whose in claims.items())


def _quote(expression: str) -> str:
    """An expression on one line, and not too long."""
    text = " ".join(expression.split())
    return f"`{text if len(text) <= _EXPRESSION_SHOWN else text[: _EXPRESSION_SHOWN - 1] + ELLIPSIS}`"


def list_names(names: Sequence[str]) -> str:
    """The first few of several names, and how many more there are."""
    shown = names[:_NAMES_SHOWN]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def count_things(number: int, thing: str) -> str:
    """`1 device`, `2 devices`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def agree_fit(number: int) -> str:
    """`fits` for one, `fit` for many."""
    return "fits" if number == 1 else "fit"

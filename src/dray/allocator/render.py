"""Explanations as text: the one place that words them, for events, terminals and pages, within a number of bytes.

What matters most comes first: what conflicts, what would help, then how each request fares. What does not fit is left
out at the end, clause by clause, never in the middle of a character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dray.allocator.explain import ClusterExplanation, Folded
from dray.allocator.reasons import (
    Conflict,
    Explanation,
    Fall,
    Group,
    HeadlineCode,
    PoolTrouble,
    ReasonCode,
    Remedy,
    RemedyCode,
    RequestExplanation,
)

__all__ = ["render_cluster_explanation", "render_explanation"]

_NAMES_SHOWN = 5
_EXPRESSION_SHOWN = 120
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence that can be shortened: clauses after an opening, the most telling first."""

    opening: str
    clauses: tuple[str, ...] = ()
    glue: str = "; "

    def text(self, shown: int) -> str:
        """The sentence with so many of its clauses."""
        if not self.clauses:
            return f"{self.opening}."
        more = "" if shown == len(self.clauses) else f"{self.glue}{_ELLIPSIS}"
        return f"{self.opening} {self.glue.join(self.clauses[:shown])}{more or '.'}"


def render_explanation(explanation: Explanation, max_bytes: int = 1024) -> str:
    """Say in one paragraph why claims do not fit on a node."""
    return _fit(list(_sentences(explanation)), max_bytes)


def render_cluster_explanation(explanation: ClusterExplanation, max_bytes: int = 1024) -> str:
    """Say in one paragraph how many nodes fit, why the others do not, and what would help on the first of those."""
    parts = tuple(f"{folded.nodes} {_headline(folded)}" for folded in explanation.refusals)
    opening = f"{explanation.feasible}/{explanation.nodes} nodes fit"
    sentences = [_Sentence(f"{opening}:", parts) if parts else _Sentence(opening)]
    for folded in explanation.refusals[:1]:
        example = folded.example
        sentences += [_pool(trouble) for trouble in example.pools]
        sentences += _ways_out(example, f"On {example.node} they would fit")
    return _fit(sentences, max_bytes)


def _fit(sentences: Sequence[_Sentence], max_bytes: int) -> str:
    text = ""
    for sentence in sentences:
        whole = len(sentence.clauses)
        for shown in range(whole, 0, -1) if whole else (0,):
            longer = f"{text} {sentence.text(shown)}".strip()
            if len(longer.encode()) <= max_bytes:
                break
        else:
            break
        text = longer
        if shown < whole:
            break
    if text or not sentences:
        return text
    cut = sentences[0].text(len(sentences[0].clauses)).encode()[: max(max_bytes - len(_ELLIPSIS.encode()), 0)]
    return f"{cut.decode(errors='ignore')}{_ELLIPSIS}" if max_bytes >= len(_ELLIPSIS.encode()) else ""


def _sentences(explanation: Explanation) -> Iterator[_Sentence]:
    conflict = explanation.conflict
    told: list[RequestExplanation] = []
    if explanation.error:
        yield _Sentence(explanation.error)
    elif conflict is None:
        yield _Sentence(f"The claims fit on {explanation.node}")
    else:
        told = _single(explanation, conflict)
        yield _conflict(explanation, conflict)
    yield from map(_pool, explanation.pools)
    yield from _ways_out(explanation, "They would fit" if len(explanation.claims) > 1 else "It would fit")
    conflicting = set(conflict.requests) if conflict is not None else set[tuple[int, str]]()
    # Requests of one kind fare alike, and are worth one sentence.
    alike: dict[_Sentence, list[tuple[int, str]]] = {}
    for request in sorted(explanation.requests, key=lambda each: _parent(each) not in conflicting):
        if request.falls and request not in told:
            alike.setdefault(_fare(request), []).append((request.claim, request.request))
    for fare, names in alike.items():
        yield _Sentence(f"For {_names(explanation, names)}: {fare.opening}", fare.clauses)


# What conflicts.


def _parent(request: RequestExplanation) -> tuple[int, str]:
    return request.claim, request.request.split("/")[0]


def _single(explanation: Explanation, conflict: Conflict) -> list[RequestExplanation]:
    """The request, if the conflict is about just one without alternatives."""
    found = [each for each in explanation.requests if _parent(each) in conflict.requests]
    return found if len(found) == 1 else []


def _conflict(explanation: Explanation, conflict: Conflict) -> _Sentence:
    names = _names(explanation, conflict.requests)
    attributes = dict.fromkeys(attribute for _, attribute in conflict.constraints)
    constraints = _list([f"the constraint on {attribute}" for attribute in attributes])
    under = f" under {constraints}" if constraints else ""
    if len(conflict.requests) > 1:
        opening = f"Requests {names} cannot be satisfied together{under}:"
        return _Sentence(opening, tuple(_arithmetic(conflict)))
    single = _single(explanation, conflict)
    if not single:
        return _Sentence(f"Request {names}{under}:", ("no alternative fits",))
    request = single[0]
    if conflict.best is not None:
        return _Sentence(f"Request {names} lost on {constraints}:", (_best(conflict.best, request), *_falls(request)))
    if conflict.distinct is not None:
        return _Sentence(f"Request {names}{under}:", (*_arithmetic(conflict), *_falls(request)))
    fare = _fare(request)
    return _Sentence(f"Request {names}{under}: {fare.opening}", fare.clauses)


def _best(best: Group, request: RequestExplanation) -> str:
    found = f"the best group has {best.counts[0]}{_value(best)}" if best.counts[0] else "no free device has it"
    return f"{found}, {_wanted(request)}"


def _value(best: Group) -> str:
    return f" ({best.value})" if best.value else ""


def _arithmetic(conflict: Conflict) -> Iterator[str]:
    """How much the requests want together of how much there is."""
    devices, distinct, best = conflict.devices, conflict.distinct, conflict.best
    if distinct is not None:
        there = _count(distinct.available, "different value")
        yield f"{there} of {conflict.constraints[0][1]}, {distinct.wanted} wanted"
    if devices is None:
        if distinct is None:
            yield "each of them fits without the others"
    elif devices.available < devices.wanted or distinct is None:
        there = f"{_count(devices.available, 'device')} {_fits(devices.available)}"
        is_short = devices.available < devices.wanted
        yield f"{there}, {devices.wanted} wanted in all" if is_short else f"{there}, but not {devices.wanted} at once"
    if best is not None:
        shares = [f"{count} for {name}" for (_, name), count in zip(conflict.requests, best.counts, strict=True)]
        yield f"the best group{_value(best)} has {_list(shares)}"


def _wanted(request: RequestExplanation) -> str:
    if not request.wants_all:
        return f"{request.needed} wanted"
    return "all wanted, at least 1" if request.needed == 1 else f"all {request.needed} wanted"


# How requests fare.


def _fare(request: RequestExplanation) -> _Sentence:
    if not request.seen:
        return _Sentence(f"the node sees no devices, {_wanted(request)}")
    found = f"{request.left} of {_count(request.seen, 'device')} {_fits(request.left)}"
    if request.left < request.needed:
        found = f"{found}, {_wanted(request)}"
    falls = tuple(_falls(request))
    return _Sentence(f"{found};" if falls else found, falls)


def _falls(request: RequestExplanation) -> Iterator[str]:
    """Reasons with their counts: what came closest to fitting first. What reads the same is one reason."""
    order = list(ReasonCode)
    counts: dict[str, int] = {}
    for fall in sorted(request.falls, key=lambda each: (-order.index(each.code), -each.count)):
        text = _FALLS[fall.code](fall)
        counts[text] = counts.get(text, 0) + fall.count
    return (f"{count} {text}" for text, count in counts.items())


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
    return f" ({_list(list(fall.values))})" if fall.values else ""


def _properties(fall: Fall) -> str:
    """Values with each name once: `model is a, b; no numa`."""
    named: dict[str, list[str]] = {}
    for value in fall.values:
        name, _, what = value.partition(" is ")
        named.setdefault(name, []).extend([what] if what else [])
    texts = [f"{name} is {_list(values)}" if values else name for name, values in named.items()]
    return f" ({'; '.join(texts)})" if texts else ""


def _holders(fall: Fall, how: str) -> str:
    return f" {how} {_list(list(fall.holders))}" if fall.holders else ""


def _pool(trouble: PoolTrouble) -> _Sentence:
    return _Sentence(f"Pool {trouble.pool} is {trouble.state}{f': {trouble.detail}' if trouble.detail else ''}")


# What would help.


def _ways_out(explanation: Explanation, opening: str) -> Iterator[_Sentence]:
    clauses = dict.fromkeys(_remedy(explanation, remedy) for remedy in explanation.remedies)
    if clauses:
        yield _Sentence(opening, tuple(clauses), ", or ")


def _remedy(explanation: Explanation, remedy: Remedy) -> str:
    names = _list(list(remedy.names))
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
    choosy = f" for request {_names(explanation, [wish])}" if is_choosy else ""
    where = f" with {remedy.where}" if remedy.where else ""
    return f"{_count(remedy.count, 'more device')} of class {request.class_name}{choosy}{where}"


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


def _headline(folded: Folded) -> str:
    code, subject, conflict = folded.headline.code, folded.headline.subject, folded.example.conflict
    if code is HeadlineCode.NOT_TOGETHER and conflict is not None:
        subject = _names(folded.example, conflict.requests)
    if code in (HeadlineCode.SELECTOR_FALSE, HeadlineCode.SELECTOR_FAILED):
        subject = _quote(subject)
    return _HEADLINES[code].format(subject, **(_ONE if folded.nodes == 1 else _MANY))


# Words.


def _names(explanation: Explanation, requests: Sequence[tuple[int, str]]) -> str:
    """Requests by name, with their claims where there are several."""
    if len(explanation.claims) < 2:
        return _list([name for _, name in requests])
    claims: dict[str, list[str]] = {}
    for claim, name in requests:
        claims.setdefault(name, []).append(explanation.claims[claim])
    return "; ".join(f"{name} of {_list(whose)}" for name, whose in claims.items())


def _quote(expression: str) -> str:
    """An expression on one line, and not too long."""
    text = " ".join(expression.split())
    return f"`{text if len(text) <= _EXPRESSION_SHOWN else text[: _EXPRESSION_SHOWN - 1] + _ELLIPSIS}`"


def _list(names: Sequence[str]) -> str:
    shown = names[:_NAMES_SHOWN]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _fits(number: int) -> str:
    return "fits" if number == 1 else "fit"

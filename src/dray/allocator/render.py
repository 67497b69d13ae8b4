"""Explanations as text, for events, terminals and pages, within a number of bytes.

What matters most comes first: what conflicts, what would help, then how each request fares. What does not fit is left
out at the end, clause by clause, never in the middle of a character. The words are those of `dray.allocator.phrases`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dray.allocator.explain import ClusterExplanation
from dray.allocator.phrases import (
    ELLIPSIS,
    agree_fit,
    count_things,
    describe_falls,
    describe_fare,
    describe_headline,
    describe_need,
    describe_pool,
    describe_remedy,
    list_names,
    name_requests,
)
from dray.allocator.reasons import Conflict, Explanation, Group, PoolTrouble, RequestExplanation

__all__ = ["render_cluster_explanation", "render_conflict", "render_explanation"]


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
        more = "" if shown == len(self.clauses) else f"{self.glue}{ELLIPSIS}"
        return f"{self.opening} {self.glue.join(self.clauses[:shown])}{more or '.'}"


def render_explanation(explanation: Explanation, max_bytes: int = 1024) -> str:
    """Say in one paragraph why claims do not fit on a node."""
    return _fit(list(_sentences(explanation)), max_bytes)


def render_cluster_explanation(explanation: ClusterExplanation, max_bytes: int = 1024) -> str:
    """Say in one paragraph how many nodes fit, why the others do not, and what would help on the first of those."""
    parts = tuple(f"{folded.nodes} {describe_headline(folded)}" for folded in explanation.refusals)
    opening = f"{explanation.feasible}/{explanation.nodes} nodes fit"
    sentences = [_Sentence(f"{opening}:", parts) if parts else _Sentence(opening)]
    for folded in explanation.refusals[:1]:
        example = folded.example
        sentences += [_pool(trouble) for trouble in example.pools]
        sentences += _ways_out(example, f"On {example.node} they would fit")
    return _fit(sentences, max_bytes)


def render_conflict(explanation: Explanation) -> str:
    """Say what cannot be had together. Empty where nothing conflicts, or one request conflicts with itself alone."""
    conflict = explanation.conflict
    if conflict is None or (len(conflict.requests) == 1 and not conflict.constraints):
        return ""
    sentence = _conflict(explanation, conflict)
    return sentence.text(len(sentence.clauses))


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
    cut = sentences[0].text(len(sentences[0].clauses)).encode()[: max(max_bytes - len(ELLIPSIS.encode()), 0)]
    return f"{cut.decode(errors='ignore')}{ELLIPSIS}" if max_bytes >= len(ELLIPSIS.encode()) else ""


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
    # Requests of one kind fare alike, and are worth one sentence.
    alike: dict[_Sentence, list[tuple[int, str]]] = {}
    for request in sorted(explanation.requests, key=lambda each: conflict is None or not _is_part(each, conflict)):
        if request.falls and request not in told:
            alike.setdefault(_fare(request), []).append((request.claim, request.request))
    for fare, names in alike.items():
        yield _Sentence(f"For {name_requests(explanation, names)}: {fare.opening}", fare.clauses)


# What conflicts.


def _is_part(request: RequestExplanation, conflict: Conflict) -> bool:
    return any(request.is_of(claim, name) for claim, name in conflict.requests)


def _single(explanation: Explanation, conflict: Conflict) -> list[RequestExplanation]:
    """The request, if the conflict is about just one without alternatives."""
    found = [each for each in explanation.requests if _is_part(each, conflict)]
    return found if len(found) == 1 else []


def _conflict(explanation: Explanation, conflict: Conflict) -> _Sentence:
    names = name_requests(explanation, conflict.requests)
    attributes = dict.fromkeys(attribute for _, attribute in conflict.constraints)
    constraints = list_names([f"the constraint on {attribute}" for attribute in attributes])
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
    return f"{found}, {describe_need(request)}"


def _value(best: Group) -> str:
    return f" ({best.value})" if best.value else ""


def _arithmetic(conflict: Conflict) -> Iterator[str]:
    """How much the requests want together of how much there is."""
    devices, distinct, best = conflict.devices, conflict.distinct, conflict.best
    if distinct is not None:
        there = count_things(distinct.available, "different value")
        yield f"{there} of {conflict.constraints[0][1]}, {distinct.wanted} wanted"
    if devices is None:
        if distinct is None:
            yield "each of them fits without the others"
    elif devices.available < devices.wanted or distinct is None:
        there = f"{count_things(devices.available, 'device')} {agree_fit(devices.available)}"
        is_short = devices.available < devices.wanted
        yield f"{there}, {devices.wanted} wanted in all" if is_short else f"{there}, but not {devices.wanted} at once"
    if best is not None:
        shares = [f"{count} for {name}" for (_, name), count in zip(conflict.requests, best.counts, strict=True)]
        yield f"the best group{_value(best)} has {list_names(shares)}"


# How requests fare.


def _fare(request: RequestExplanation) -> _Sentence:
    found = describe_fare(request)
    falls = tuple(_falls(request))
    return _Sentence(f"{found};" if falls else found, falls)


def _falls(request: RequestExplanation) -> Iterator[str]:
    return (f"{each.count} {each.text}" for each in describe_falls(request))


def _pool(trouble: PoolTrouble) -> _Sentence:
    return _Sentence(describe_pool(trouble))


# What would help.


def _ways_out(explanation: Explanation, opening: str) -> Iterator[_Sentence]:
    clauses = dict.fromkeys(describe_remedy(explanation, remedy) for remedy in explanation.remedies)
    if clauses:
        yield _Sentence(opening, tuple(clauses), ", or ")

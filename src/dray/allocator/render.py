"""Explanations as text: the one place that words them, for events, terminals and pages, within a number of bytes.

What matters most comes first, and what does not fit is left out at the end, never in the middle of a character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dray.allocator.explain import ClusterExplanation, Folded
from dray.allocator.reasons import (
    Conflict,
    Explanation,
    Fall,
    Headline,
    HeadlineCode,
    ReasonCode,
    Remedy,
    RemedyCode,
    RequestExplanation,
)

__all__ = ["render_cluster_explanation", "render_explanation"]

_NAMES_SHOWN = 5


def render_explanation(explanation: Explanation, max_bytes: int = 1024) -> str:
    """Say in one paragraph why claims do not fit on a node."""
    return _fit(list(_sentences(explanation)), max_bytes)


def render_cluster_explanation(explanation: ClusterExplanation, max_bytes: int = 1024) -> str:
    """Say in one paragraph how many nodes fit, why the others do not, and what would help on the first of those."""
    parts = [f"{folded.nodes} {_headline(folded)}" for folded in explanation.refusals]
    opening = f"{explanation.feasible}/{explanation.nodes} nodes fit" + (":" if parts else ".")
    sentences = [f"{opening} {'; '.join(parts)}." if parts else opening]
    for folded in explanation.refusals[:1]:
        remedies = [_remedy(folded.example, remedy) for remedy in folded.example.remedies]
        sentences += [f"On {folded.example.node}: {remedy}" for remedy in remedies]
    return _fit(sentences, max_bytes)


def _fit(sentences: list[str], max_bytes: int) -> str:
    text = ""
    for sentence in sentences:
        longer = f"{text} {sentence}".strip()
        if len(longer.encode()) > max_bytes:
            break
        text = longer
    if text or not sentences:
        return text
    cut = sentences[0].encode()[: max(max_bytes - len("…".encode()), 0)].decode(errors="ignore")
    return f"{cut}…" if max_bytes >= len("…".encode()) else ""


def _sentences(explanation: Explanation) -> Iterator[str]:
    if explanation.error:
        yield f"{explanation.error}."
    elif explanation.conflict is None:
        yield f"The claims fit on {explanation.node}."
    else:
        yield _conflict(explanation, explanation.conflict)
    yield from (_remedy(explanation, remedy) for remedy in explanation.remedies)
    # Requests of one kind fare alike, and are worth one sentence.
    alike: dict[str, list[str]] = {}
    for request in explanation.requests:
        if request.falls:
            alike.setdefault(_request(request), []).append(_name(explanation, request.claim, request.request))
    yield from (f"For {_list(names)}: {text}" for text, names in alike.items())
    for trouble in explanation.pools:
        yield f"Pool {trouble.pool} is {trouble.state}{f' ({trouble.detail})' if trouble.detail else ''}."


def _conflict(explanation: Explanation, conflict: Conflict) -> str:
    names = _list([_name(explanation, claim, name) for claim, name in conflict.requests])
    constraints = _list(list(dict.fromkeys(f"the constraint on {attribute}" for _, attribute in conflict.constraints)))
    if len(conflict.requests) > 1:
        return f"Requests {names} cannot be satisfied together{f' under {constraints}' if constraints else ''}."
    named = conflict.requests[0]
    request = next(each for each in explanation.requests if (each.claim, each.request.split("/")[0]) == named)
    found = f"{request.left} of {request.seen} devices are left, {_wanted(request)}"
    if conflict.best_count is not None:
        best = (
            f"the best group has {conflict.best_count} ({conflict.best_value})"
            if conflict.best_count
            else "none has it"
        )
        return f"Request {names} lost on {constraints}: {best}, {_wanted(request)}."
    return f"Request {names}{f' under {constraints}' if constraints else ''}: {found}."


def _wanted(request: RequestExplanation) -> str:
    return f"all {request.needed} wanted" if request.wants_all else f"{request.needed} wanted"


def _request(request: RequestExplanation) -> str:
    falls = "; ".join(map(_fall, request.falls))
    return f"{request.left} of {request.seen} devices are left; {falls}."


_FALLS: dict[ReasonCode, Callable[[Fall], str]] = {
    ReasonCode.UNREACHABLE: lambda fall: "not reachable from the node",
    ReasonCode.WRONG_CLASS: lambda fall: f"not of class {fall.subject}",
    ReasonCode.SELECTOR_FALSE: lambda fall: f"selector #{fall.number} `{fall.subject}` is false{_values(fall)}",
    ReasonCode.SELECTOR_FAILED: lambda fall: f"selector #{fall.number} `{fall.subject}` failed{_values(fall)}",
    ReasonCode.CAPACITY_TOO_SMALL: lambda fall: f"capacity too small{_values(fall)}",
    ReasonCode.NODE_OPERATIONS_NEEDED: lambda fall: "need a node that can skip operations",
    ReasonCode.TAINTED: lambda fall: f"tainted {fall.subject}",
    ReasonCode.TAKEN: lambda fall: f"taken{_holders(fall)}",
    ReasonCode.SHARES_EXHAUSTED: lambda fall: f"without enough capacity left{_holders(fall)}",
    ReasonCode.COUNTERS_EXHAUSTED: lambda fall: f"without enough {fall.subject} left on their card{_holders(fall)}",
    ReasonCode.GROUPS_INCOMPATIBLE: lambda fall: f"not compatible with partitions in use{_holders(fall)}",
    ReasonCode.CONSTRAINT_UNSATISFIED: lambda fall: f"without {fall.subject}",
}


def _fall(fall: Fall) -> str:
    return f"{fall.count} {_FALLS[fall.code](fall)}"


def _values(fall: Fall) -> str:
    return f" ({_list(list(fall.values))})" if fall.values else ""


def _holders(fall: Fall) -> str:
    return f" by {_list(list(fall.holders))}" if fall.holders else ""


def _remedy(explanation: Explanation, remedy: Remedy) -> str:
    names = _list(list(remedy.names))
    is_clear = remedy.claim is None or len(explanation.claims) < 2
    whose = "" if is_clear else f" of {explanation.claims[remedy.claim or 0]}"
    match remedy.code:
        case RemedyCode.RELEASE_CLAIMS:
            if remedy.count == len(remedy.names):
                return f"Would fit with {names} released."
            return f"Would fit with any {remedy.count} released of: {names}."
        case RemedyCode.ADD_DEVICES:
            where = f" with {remedy.where}" if remedy.where else ""
            return f"Would fit with {remedy.count} more for request {names}{whose}{where}."
        case RemedyCode.RELAX_CONSTRAINT:
            return f"Would fit without the constraint{whose} on {names}."
        case RemedyCode.RELAX_SELECTOR:
            return f"Would fit without the selector `{remedy.names[0]}` in request {remedy.where}{whose}."
        case RemedyCode.TOLERATE_TAINTS:
            return f"Would fit if {names} were tolerated."


_HEADLINES: dict[HeadlineCode, str] = {
    HeadlineCode.CONSTRAINT: "lost on the constraint on {}",
    HeadlineCode.NOT_TOGETHER: "cannot satisfy {} together",
    HeadlineCode.NO_DEVICE: "have no device of class {}",
    HeadlineCode.TOO_FEW: "have too few devices of class {}",
    HeadlineCode.TOO_FEW_FREE: "have too few free devices of class {}",
    HeadlineCode.POOL: "wait for a pool with devices of class {}",
    HeadlineCode.INPUT_ERROR: "failed: {}",
    HeadlineCode.BUDGET_EXHAUSTED: "were given up on",
    HeadlineCode.NOT_EXAMINED: "do not fit",
    HeadlineCode.SELECTOR_FALSE: "have no device with `{}`",
    HeadlineCode.SELECTOR_FAILED: "have devices on which `{}` fails",
    HeadlineCode.CAPACITY_TOO_SMALL: "have no device of class {} large enough",
    HeadlineCode.NODE_OPERATIONS_NEEDED: "cannot skip operations for class {}",
    HeadlineCode.TAINTED: "have only devices tainted {}",
    HeadlineCode.TAKEN: "have no free device of class {}",
    HeadlineCode.SHARES_EXHAUSTED: "have no capacity left of class {}",
    HeadlineCode.COUNTERS_EXHAUSTED: "have not enough {} left on a card",
    HeadlineCode.GROUPS_INCOMPATIBLE: "have only incompatible partitions of class {}",
}


def _headline(folded: Folded) -> str:
    headline: Headline = folded.headline
    return _HEADLINES[headline.code].format(headline.subject)


def _name(explanation: Explanation, claim: int, request: str) -> str:
    """A request by its name, with its claim where there are several."""
    return request if len(explanation.claims) < 2 else f"{explanation.claims[claim]} {request}"


def _list(names: list[str]) -> str:
    shown = names[:_NAMES_SHOWN]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")

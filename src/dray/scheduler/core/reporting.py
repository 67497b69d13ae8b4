"""Saying why a pod is not on a node: Kubernetes' text at once, our explanation when there is time for it.

An explanation may take longer than a decision. So reports wait until nothing else is to be done, the latest about a pod
replaces those before, and pods that fare alike share what was found out.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from dray.allocator.explain import explain_cluster
from dray.allocator.outcome import UnschedulableReason
from dray.allocator.render import render_cluster_explanation
from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim
from dray.scheduler.core.decide import Refused
from dray.scheduler.core.extended import plan_claim
from dray.scheduler.core.messages import MAX_NOTE_BYTES, cut_note, join_notes
from dray.scheduler.core.orders import Report
from dray.scheduler.core.state import PendingReport, SchedulerState

__all__ = ["next_report", "note_failure", "note_refusal"]

_MISSED: Final = frozenset(UnschedulableReason)
_FRESH_SECONDS: Final = 30.0
"""An explanation this young is told again, unless Kubernetes' text changed with it."""
_MOST_EXPLANATIONS: Final = 1024
_LONGEST: Final = 8192
"""Bytes of an explanation in a condition, which has no limit of its own."""


def note_failure(state: SchedulerState, pod: Pod, reason: str, message: str, *, nominated: str | None = None) -> None:
    """Have a failure reported."""
    state.reports[pod.metadata.uid] = PendingReport(pod, reason, message, nominated=nominated)


def note_refusal(  # noqa: PLR0913 - the last two are options by keyword
    state: SchedulerState,
    refused: Refused,
    message: str,
    pod: Pod,
    *,
    likeness: Hashable = None,
    nominated: str | None = None,
) -> None:
    """Have it reported that no node takes a pod; what devices were missing where is explained."""
    claims, among = _find_missed(refused)
    state.reports[pod.metadata.uid] = PendingReport(pod, "Unschedulable", message, claims, among, likeness, nominated)


def _find_missed(refused: Refused) -> tuple[tuple[ResourceClaim, ...], int]:
    """The claims that found no devices, and the nodes that were refused for that."""
    wish, verdict = refused.wish, refused.verdict
    if wish is None or verdict is None:
        return (), 0
    among = 0
    for each in verdict.refusals:
        among |= each.nodes if each.reason in _MISSED else 0
    made = (plan_claim(wish.pod, wish.served).claim,) if wish.served else ()
    return (*wish.open, *made), among


def next_report(state: SchedulerState, now: float) -> Report | None:
    """Finish the report that waits longest. None if there is none."""
    for uid, pending in state.reports.items():
        del state.reports[uid]
        short, long = _explain(state, pending, now)
        note = cut_note(join_notes(pending.message, short))
        message = join_notes(pending.message, long)
        return Report(pending.pod, pending.reason, message, note, pending.nominated)
    return None


def _explain(state: SchedulerState, pending: PendingReport, now: float) -> tuple[str, str]:
    """Our explanation in the length of a note, and in full. Empty where there is nothing about devices to explain."""
    if not pending.claims or not pending.among:
        return "", ""
    who = pending.pod.metadata.uid if pending.likeness is None else pending.likeness
    key = (who, pending.message)
    known = state.explanations.get(key)
    if known is not None and now - known[0] < _FRESH_SECONDS:
        return known[1], known[2]
    explanation = explain_cluster(pending.claims, state.cluster, pending.among)
    state.counters.explanations += 1
    room = MAX_NOTE_BYTES - len(pending.message.encode()) - 1
    # Things may have changed for the better since, and the pod be on its way to be tried again.
    texts = ("", "")
    if explanation.refusals and not explanation.feasible:
        texts = (
            render_cluster_explanation(explanation, room) if room > 0 else "",
            render_cluster_explanation(explanation, _LONGEST),
        )
    if len(state.explanations) >= _MOST_EXPLANATIONS:
        state.explanations.clear()
    state.explanations[key] = (now, *texts)
    return texts

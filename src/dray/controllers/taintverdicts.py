"""Which pods tainted devices drive away, and when: the pure part of eviction.

Decided by the tolerations that were copied into the allocation. Only those with the effect NoExecute count here; the
scheduler is more generous with an empty effect, and Kubernetes tells pods to go that it placed itself.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dray.allocator.taintrules import rule_selects
from dray.allocator.tolerations import is_tolerated
from dray.api.resource.allocation import DeviceRequestAllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import DeviceTaint
from dray.api.resource.request import DeviceToleration, TaintEffect
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.values.times import Time

__all__ = ["AT_ONCE", "Reason", "Verdict", "find_due", "judge_claim", "list_taints", "merge_verdicts"]

AT_ONCE = Time(0)
"""When pods are due for a taint without a date: long ago."""


class Reason(NamedTuple):
    """A taint on an allocated device, and the uid of the rule that put it there; empty if its driver did."""

    taint: DeviceTaint
    rule_uid: str = ""


class Verdict(NamedTuple):
    """A pod is to go at `due`, for the rules named by uid among other reasons."""

    due: Time
    rule_uids: frozenset[str]


def list_taints(
    result: DeviceRequestAllocationResult, slices: Sequence[ResourceSlice], rules: Iterable[DeviceTaintRule]
) -> list[Reason]:
    """What taints an allocated device so that pods are evicted. `slices` are the newest of its pool.

    A rule counts even if nobody publishes the device any more.
    """
    published = [
        Reason(taint)
        for source in slices
        for device in source.spec.devices or ()
        if device.name == result.device
        for taint in device.taints
    ]
    by_rule = [
        Reason(rule.spec.taint, rule.metadata.uid)
        for rule in rules
        if rule_selects(rule, result.driver, result.pool, result.device)
    ]
    return [each for each in (*published, *by_rule) if each.taint.effect == TaintEffect.NO_EXECUTE]


def find_due(taint: DeviceTaint, tolerations: Iterable[DeviceToleration]) -> Time | None:
    """When a taint drives pods away that tolerate it in these ways; None if never."""
    added = taint.time_added or AT_ONCE
    matching = [each for each in tolerations if each.effect == TaintEffect.NO_EXECUTE and is_tolerated(taint, each)]
    seconds = [each.toleration_seconds for each in matching if each.toleration_seconds is not None]
    if len(seconds) < len(matching):
        return None
    return added.plus_seconds(max(0, min(seconds, default=0)))


def judge_claim(
    claim: ResourceClaim, reasons_of: Iterable[tuple[DeviceRequestAllocationResult, Sequence[Reason]]]
) -> Verdict | None:
    """When the users of a claim have to go, given what taints each of its devices; None if they may stay."""
    dues = [
        (due, reason.rule_uid)
        for result, reasons in reasons_of
        for reason in reasons
        if (due := find_due(reason.taint, result.tolerations)) is not None
    ]
    if not dues:
        return None
    return Verdict(min(due for due, _ in dues), frozenset(uid for _, uid in dues if uid))


def merge_verdicts(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """The verdict on a pod, from those on its claims: the earliest time, every rule."""
    known = [each for each in verdicts if each is not None]
    if not known:
        return None
    return Verdict(min(each.due for each in known), frozenset().union(*(each.rule_uids for each in known)))

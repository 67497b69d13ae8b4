"""The scheduler as a machine: news in, orders out. No clock, no waiting; the same news give the same orders."""

from __future__ import annotations

from typing import Any, TypeAlias

from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.core.service import Service
from dray.api.policy.budget import PodDisruptionBudget
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.api.scheduling.podgroup import PodGroup
from dray.scheduler.core import folding
from dray.scheduler.core.admitting import find_group_key
from dray.scheduler.core.attempting import attempt_pod
from dray.scheduler.core.gangs import attempt_group
from dray.scheduler.core.groupstatus import check_group_placed
from dray.scheduler.core.hints import rouse
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.news import Bound, Changed, ClaimSeen, ClaimsReserved, Evicted, NotBound
from dray.scheduler.core.orders import Order
from dray.scheduler.core.settling import (
    check_waiting,
    settle_bound,
    settle_claim,
    settle_evicted,
    settle_not_bound,
    settle_reserved,
)
from dray.scheduler.core.state import GroupKey, SchedulerState

__all__ = ["News", "schedule_next", "step"]

News: TypeAlias = Changed[Any] | Bound | NotBound | ClaimsReserved | ClaimSeen | Evicted


def step(state: SchedulerState, news: News, now: Moment) -> list[Order]:
    """Take in one piece of news. Decides nothing: that is for `schedule_next`, once all news are in."""
    match news:
        case Changed():
            return _fold(state, news, now)
        case Bound():
            return settle_bound(state, news, now)
        case NotBound():
            return settle_not_bound(state, news, now)
        case ClaimsReserved():
            return settle_reserved(state, news, now)
        case ClaimSeen():
            return settle_claim(state, news, now)
        case Evicted():
            return settle_evicted(state, news, now)


def _fold(state: SchedulerState, change: Changed[Any], now: Moment) -> list[Order]:
    match change.latest:
        case Pod():
            folding.fold_pod(state, change, now.seconds)
        case ResourceClaim():
            folding.fold_claim(state, change, now.seconds)
        case Node():
            folding.fold_node(state, change)
        case ResourceSlice():
            folding.fold_slice(state, change)
        case DeviceClass():
            folding.fold_class(state, change)
        case DeviceTaintRule():
            folding.fold_rule(state, change)
        case PodGroup():
            folding.fold_group(state, change, now.seconds)
        case _:
            _fold_rest(state, change)
    orders: list[Order] = []
    if state.waiting and isinstance(change.latest, Pod | ResourceClaim):
        orders += check_waiting(state, now)
    key = _find_group(change.latest) if state.groups else None
    if key is not None:
        orders += check_group_placed(state, key)
    return orders


def _find_group(thing: object) -> GroupKey | None:
    """The group of which more pods may be on nodes now."""
    match thing:
        case PodGroup(metadata=metadata):
            return (metadata.namespace, metadata.name)
        case Pod() if thing.spec.node_name:
            return find_group_key(thing)
        case _:
            return None


def _fold_rest(state: SchedulerState, change: Changed[Any]) -> None:
    match change.latest:
        case Namespace():
            folding.fold_namespace(state, change)
        case Service():
            folding.fold_service(state, change)
        case PodDisruptionBudget():
            folding.fold_budget(state, change)


def schedule_next(state: SchedulerState, now: Moment) -> list[Order] | None:
    """Try the pod or group whose turn it is. None if nothing is ready to be tried."""
    if not state.stir.is_empty:
        rouse(state, now)
    state.queue.sweep(now.seconds)
    entry = state.queue.pop(now.seconds)
    if entry is None:
        return None
    if entry.is_group:
        return attempt_group(state, entry, now)
    return attempt_pod(state, entry, now)

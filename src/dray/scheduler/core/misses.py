"""Refusals taken apart for people: which nodes for which reason, and how close the closest of them comes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dray.allocator.bits import bits
from dray.allocator.cluster import Cluster
from dray.allocator.explain import ClusterExplanation, explain, explain_cluster
from dray.allocator.phrases import (
    describe_falls,
    describe_fare,
    describe_headline,
    describe_pool,
    describe_remedy,
)
from dray.allocator.reasons import Explanation, RequestExplanation
from dray.allocator.render import render_conflict
from dray.api.resource.claim import ResourceClaim
from dray.scheduler.core.accounts import Miss, PoolFault, Reason, Refused, RequestFare, WayOut
from dray.scheduler.core.devices import PLUGIN
from dray.scheduler.core.verdicts import Refusal

__all__ = ["explain_devices", "fold_refusals"]

_NODES_SHOWN: Final = 5
_POOL_FAULT: Final = "PoolNotUsable"


def fold_refusals(refusals: Iterable[Refusal], names: Sequence[str]) -> list[Refused]:
    """Nodes by plugin and reason, the most frequent first. The code of a reason that is not ours is its plugin."""
    found: dict[tuple[str, str], int] = {}
    for each in refusals:
        key = (each.plugin, each.reason)
        found[key] = found.get(key, 0) | each.nodes
    folded = [
        Refused(plugin, plugin, nodes.bit_count(), reason, _name(nodes, names))
        for (plugin, reason), nodes in found.items()
    ]
    return sorted(folded, key=lambda each: -each.count)


def explain_devices(
    claims: Sequence[ResourceClaim], cluster: Cluster, among: int | None = None
) -> tuple[ClusterExplanation, list[Refused], Miss | None]:
    """How nodes fare with claims, all of them or those `among` a set of numbers, and the one that comes closest."""
    found = explain_cluster(claims, cluster, among)
    refusals = [
        Refused(PLUGIN, each.headline.code, each.nodes, describe_headline(each), _name(each.numbers, cluster.names))
        for each in found.refusals
    ]
    nearest = _miss(explain(claims, cluster, found.nearest)) if found.nearest else None
    return found, refusals, nearest


def _name(nodes: int, names: Sequence[str]) -> tuple[str, ...]:
    """The first few of a set of nodes by name."""
    shown: list[str] = []
    for number in bits(nodes):
        if len(shown) == _NODES_SHOWN:
            break
        shown.append(names[number])
    return tuple(shown)


def _miss(explanation: Explanation) -> Miss:
    conflict = explanation.conflict
    conflicting = set(conflict.requests) if conflict is not None else set[tuple[int, str]]()
    fares = [_fare(explanation, each, conflicting) for each in explanation.requests]
    ways_out = {
        describe_remedy(explanation, each): WayOut(each.code, describe_remedy(explanation, each))
        for each in explanation.remedies
    }
    return Miss(
        node=explanation.node,
        conflict=render_conflict(explanation),
        error=explanation.error,
        requests=tuple(sorted(fares, key=lambda each: not each.is_in_conflict)),
        pools=tuple(PoolFault(_POOL_FAULT, describe_pool(each)) for each in explanation.pools),
        ways_out=tuple(ways_out.values()),
    )


def _fare(explanation: Explanation, request: RequestExplanation, conflicting: set[tuple[int, str]]) -> RequestFare:
    examples = {each.code: each.example for each in reversed(request.falls)}
    return RequestFare(
        claim=explanation.claims[request.claim],
        request=request.request,
        device_class=request.class_name,
        wanted=request.needed,
        fit=request.left,
        seen=request.seen,
        text=describe_fare(request),
        reasons=tuple(
            Reason(each.code, each.count, each.text, examples[each.code]) for each in describe_falls(request)
        ),
        is_in_conflict=(request.claim, request.request.split("/")[0]) in conflicting,
    )

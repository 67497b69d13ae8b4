"""What was worked out about claims of one shape, for all nodes and all pods that ask for the same."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import msgspec

from dray.allocator.arena import Arena, build_arena
from dray.allocator.expressions import Language
from dray.allocator.interning import Interner
from dray.allocator.matching import Matcher
from dray.allocator.outcome import NodeVerdict
from dray.allocator.requests import Shape, shape_claims
from dray.allocator.slices import Reads
from dray.allocator.view import NodeView
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.request import DeviceRequest, DeviceSubRequest, ExactDeviceRequest

__all__ = ["Plan", "Plans"]

_REMEMBERED_SHAPES = 1024
"""Shapes of claims that are kept; beyond that all are worked out anew. A cluster has a few per pod template."""

_REMEMBERED_ARENAS = 512
"""Arenas kept for one shape: models of nodes that it was tried on."""

_REMEMBERED_VERDICTS = 65_536
"""Verdicts kept for one shape: classes of nodes in their states."""


@dataclass(slots=True, eq=False)
class Plan:
    """What was worked out about claims of one shape: what they read of devices, and an arena for each model of node."""

    shape: Shape
    reads: Reads
    arenas: dict[int, Arena] = field(default_factory=dict)
    verdicts: dict[Hashable, NodeVerdict] = field(default_factory=dict)

    def remember(self, key: Hashable, verdict: NodeVerdict) -> None:
        """Keep how a class of nodes fares; `key` says in which state."""
        if len(self.verdicts) >= _REMEMBERED_VERDICTS:
            self.verdicts.clear()
        self.verdicts[key] = verdict


class Plans:
    """All plans, and what they are made from: classes, and programs of expressions. A changed class voids its plans."""

    def __init__(self, language: Language, interner: Interner) -> None:
        self.classes: dict[str, DeviceClass] = {}
        self.matcher = Matcher(language, interner)
        self.judged = self.searched = 0
        """How often a class of nodes was judged, and how often that took a search."""
        self._interner = interner
        self._plans: dict[Hashable, Plan] = {}

    def plan(self, claims: Sequence[ResourceClaim]) -> Plan:
        """What was worked out about claims that ask for the same."""
        key = tuple([_claim_key(claim) for claim in claims])
        known = self._plans.get(key)
        if known is not None and self.is_current(known):
            return known
        if len(self._plans) >= _REMEMBERED_SHAPES:
            self._plans.clear()
        shape = shape_claims(claims, self.classes.get)
        plan = self._plans[key] = Plan(shape, self.matcher.shape_reads(shape))
        return plan

    def is_current(self, plan: Plan) -> bool:
        """Whether no class that the plan was made from has changed."""
        return all(self.classes.get(name) is each for name, each in plan.shape.classes)

    def arena(self, plan: Plan, view: NodeView) -> Arena:
        """The problem that claims of a shape pose on nodes like this one."""
        profile = view.profile(plan.reads, self._interner)
        known = plan.arenas.get(profile)
        if known is None:
            if len(plan.arenas) >= _REMEMBERED_ARENAS:
                plan.arenas.clear()
            known = plan.arenas[profile] = build_arena(plan.shape, view, self.matcher)
        return known


def _claim_key(claim: ResourceClaim) -> Hashable:
    """Equal for claims that ask for the same, whatever their names and configuration."""
    devices = claim.spec.devices
    key = (devices.requests, devices.constraints)
    try:
        hash(key)
    except TypeError:  # a request for capacity holds a mapping
        return tuple(_request_key(request) for request in devices.requests or ()), devices.constraints
    return key


def _request_key(request: DeviceRequest) -> Hashable:
    wishes = request.first_available or (request.exactly or ExactDeviceRequest(),)
    return request.name, len(request.first_available), tuple(_wish_key(wish) for wish in wishes)


def _wish_key(wish: ExactDeviceRequest | DeviceSubRequest) -> Hashable:
    if wish.capacity is None:
        return wish
    amounts = tuple(sorted((name, str(amount)) for name, amount in wish.capacity.requests.items()))
    return msgspec.structs.replace(wish, capacity=None), amounts

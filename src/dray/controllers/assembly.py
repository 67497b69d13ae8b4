"""All controllers of a cluster, on shared views, each of which can be left out by name.

The names are those of kube-controller-manager's `--controllers`, so that dray runs beside it: what one of them does,
the other leaves out.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from prometheus_client import CollectorRegistry

from dray.api.coordination.kinds import LEASE
from dray.api.registry import SERVED, AnyKind, Registry
from dray.api.resource.kinds import (
    DEVICE_TAINT_RULE,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
from dray.api.scheduling.kinds import POD_GROUP
from dray.client.leading import Candidacy, lead
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.controllers.aggregation import RoleAggregation
from dray.controllers.claimrelease import ClaimRelease
from dray.controllers.claims_from_templates import ClaimsFromTemplates
from dray.controllers.commons import Commons
from dray.controllers.devicetainteviction import DeviceTaintEviction
from dray.controllers.disruptionbudgets import DisruptionBudgets
from dray.controllers.eventexpiry import EventExpiry
from dray.controllers.firstobjects import FirstObjects
from dray.controllers.garbage import GarbageCollector
from dray.controllers.groupprotection import GroupProtection
from dray.controllers.metrics import ControllerMetrics
from dray.controllers.namespacedeletion import NamespaceDeletion
from dray.controllers.nodelifecycle import NodeLifecycle
from dray.controllers.nodetainteviction import NodeTaintEviction
from dray.controllers.podgarbage import PodGarbage
from dray.controllers.poolstatusrequests import PoolStatusRequests
from dray.controllers.priorityclasses import SystemClasses
from dray.controllers.quotastatus import QuotaStatus
from dray.controllers.runtime import Controller, Effects
from dray.controllers.served import choose_mirrored, find_absent
from dray.controllers.taintrulestatus import TaintRuleStatus
from dray.controllers.taintviews import TaintViews

__all__ = [
    "CONTROLLER_NAMES",
    "ControllerOptions",
    "Controllers",
    "UnknownController",
    "choose_controllers",
    "run_controllers",
]

_Made = Sequence[Controller[Any]]


@dataclass(frozen=True, slots=True)
class _Part:
    """One controller as Kubernetes counts them, and what does its work here."""

    name: str
    make: Callable[[Commons], _Made]
    needs: tuple[AnyKind, ...] = ()
    """Kinds without which there is nothing to do."""
    aliases: tuple[str, ...] = ()
    is_usual: bool = True
    """Whether `*` means it too."""


def _make_claims(commons: Commons) -> _Made:
    commons.metrics.gauge_claims(commons.follow(RESOURCE_CLAIM).view.select)
    return ClaimsFromTemplates(commons).controller, ClaimRelease(commons).controller


def _make_device_taints(commons: Commons) -> _Made:
    taints = TaintViews(commons)
    eviction = DeviceTaintEviction(commons, taints)
    return TaintRuleStatus(commons, taints, eviction).controller, eviction.controller


def _make_first_objects(commons: Commons) -> _Made:
    return (FirstObjects(commons.client, commons.get_mirrors(), commons.root_ca, commons.effects).controller,)


def _make_namespaces(commons: Commons) -> _Made:
    mirrors = commons.get_mirrors()
    kinds = tuple(filter(commons.has, commons.registry))
    return (NamespaceDeletion(commons.client, mirrors, kinds, commons.effects).controller,)


def _make_garbage(commons: Commons) -> _Made:
    mirrors = commons.get_mirrors()
    # Of owners whose kind is not served nothing can be said, so what they own is kept.
    served = Registry(filter(commons.has, commons.registry))
    return (GarbageCollector(commons.client, mirrors, served, commons.effects).controller,)


def _on_mirrors(maker: Callable[..., Any]) -> Callable[[Commons], _Made]:
    return lambda commons: (maker(commons.client, commons.get_mirrors(), commons.effects).controller,)


def _alone(maker: Callable[[Commons], Any]) -> Callable[[Commons], _Made]:
    return lambda commons: (maker(commons).controller,)


_PARTS: Final = (
    _Part("serviceaccount-controller", _make_first_objects, aliases=("root-ca-certificate-publisher-controller",)),
    _Part("namespace-controller", _make_namespaces, aliases=("namespace",)),
    _Part("garbage-collector-controller", _make_garbage, aliases=("garbagecollector",)),
    _Part("resourcequota-controller", _on_mirrors(QuotaStatus), aliases=("resourcequota",)),
    _Part("clusterrole-aggregation-controller", _on_mirrors(RoleAggregation), aliases=("clusterrole-aggregation",)),
    _Part("disruption-controller", _on_mirrors(DisruptionBudgets), aliases=("disruption",)),
    _Part(
        "resourceclaim-controller",
        _make_claims,
        (RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE),
        ("resource-claim-controller",),
    ),
    _Part(
        "device-taint-eviction-controller",
        _make_device_taints,
        (RESOURCE_CLAIM, RESOURCE_SLICE, DEVICE_TAINT_RULE),
    ),
    _Part(
        "resourcepoolstatusrequest-controller",
        _alone(PoolStatusRequests),
        (RESOURCE_POOL_STATUS_REQUEST, RESOURCE_CLAIM, RESOURCE_SLICE),
    ),
    _Part("podgroup-protection-controller", _alone(GroupProtection), (POD_GROUP,)),
    _Part("pod-garbage-collector-controller", _alone(PodGarbage), aliases=("podgc",)),
    _Part("node-lifecycle-controller", _alone(NodeLifecycle), (LEASE,), ("nodelifecycle",)),
    _Part("taint-eviction-controller", _alone(NodeTaintEviction)),
    # Kubernetes' API server does these two by itself.
    _Part("system-priority-classes-controller", _on_mirrors(SystemClasses), is_usual=False),
    _Part(
        "event-expiry-controller",
        lambda commons: (EventExpiry(commons.client, commons.effects).controller,),
        is_usual=False,
    ),
)

CONTROLLER_NAMES: Final = tuple(part.name for part in _PARTS)
"""Every controller that can be chosen, in the order in which they are started."""


class UnknownController(ValueError):
    """A choice names what is no controller."""


def choose_controllers(choices: Iterable[str]) -> frozenset[str]:
    """The names that a choice leaves: `*` means all usual ones, `-name` leaves one out, `name` takes one in.

    The first entry for a name counts. Raises UnknownController.
    """
    asked = list(choices)
    known = {name for part in _PARTS for name in (part.name, *part.aliases)}
    for choice in asked:
        if choice != "*" and choice.removeprefix("-") not in known:
            raise UnknownController(f"{choice.removeprefix('-')!r} is not in the list of known controllers")
    return frozenset(part.name for part in _PARTS if _is_chosen(part, asked))


def _is_chosen(part: _Part, asked: Sequence[str]) -> bool:
    for choice in asked:
        if choice.removeprefix("-") in (part.name, *part.aliases):
            return not choice.startswith("-")
    return part.is_usual and "*" in asked


class Controllers:
    """The chosen controllers. Reads views of informers that someone else runs."""

    def __init__(self, commons: Commons, chosen: frozenset[str]) -> None:
        self._commons = commons
        self._controllers: tuple[Controller[Any], ...] = tuple(
            controller
            for part in _PARTS
            if part.name in chosen and all(map(commons.has, part.needs))
            for controller in part.make(commons)
        )
        commons.metrics.watch_queues(self._controllers)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do for what was heard of so far."""
        recorders = self._commons.recorders
        return all(each.is_idle for each in self._controllers) and all(each.is_idle for each in recorders)

    async def run(self) -> None:
        """Work until cancelled. Controllers start once all kinds were heard of."""
        async with asyncio.TaskGroup() as tasks:
            for recorder in self._commons.recorders:
                tasks.create_task(recorder.run(), name="events")
            await self._commons.wait_synced()
            for controller in self._controllers:
                tasks.create_task(controller.run(), name=controller.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerOptions:
    """Which controllers run, and what they have to know of the cluster."""

    chosen: frozenset[str] = field(default_factory=lambda: choose_controllers(["*"]))
    registry: Registry = SERVED
    """The kinds that are followed, and whose objects are collected."""
    root_ca: str = ""
    """The CA of the API server in PEM, which pods find in a config map."""
    metrics: CollectorRegistry = field(default_factory=CollectorRegistry)
    """Where the metrics of all controllers can be read."""
    candidacy: Candidacy | None = None
    """Whether, and by which lease, one of several processes works."""
    absent: frozenset[AnyKind] | None = None
    """What the server does not serve; None: that is found out."""


async def run_controllers(
    client: Client, effects: Effects, options: ControllerOptions, informers: SharedInformers | None = None
) -> None:
    """Run the chosen controllers until cancelled, on views that are shared with whoever else reads `informers`.

    Without any it makes and runs its own. What the server does not serve is left alone. With a candidacy the views are
    kept warm while another leads; raises LeadershipLost, in an exception group, when another may.
    """
    pace = Pace(effects.clock, effects.entropy)
    shared = informers or SharedInformers(client, pace, effects.log)
    commons = Commons(client, shared, effects, ControllerMetrics(options.metrics))
    commons.registry, commons.root_ca = options.registry, options.root_ca
    mirrored = choose_mirrored(options.registry)
    async with asyncio.TaskGroup() as tasks:
        following = None if informers else tasks.create_task(shared.run(), name="informers")
        known = options.absent
        commons.absent = await find_absent(client, mirrored, pace, effects.log) if known is None else known
        controllers = Controllers(commons, options.chosen)
        if options.candidacy is None:
            await controllers.run()
        else:
            await lead(client, options.candidacy, pace, effects.log, controllers.run)
        if following is not None:
            following.cancel()

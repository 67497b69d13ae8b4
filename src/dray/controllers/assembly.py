"""All controllers of a cluster, on shared views, each of which can be left out by name.

The names are those of kube-controller-manager's `--controllers`, so that dray runs beside it: what one of them does,
the other leaves out.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dray.api.coordination.kinds import LEASE
from dray.api.registry import AnyKind
from dray.api.resource.kinds import (
    DEVICE_TAINT_RULE,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
from dray.api.scheduling.kinds import POD_GROUP
from dray.controllers.claimrelease import ClaimRelease
from dray.controllers.claims_from_templates import ClaimsFromTemplates
from dray.controllers.commons import Commons
from dray.controllers.devicetainteviction import DeviceTaintEviction
from dray.controllers.groupprotection import GroupProtection
from dray.controllers.nodelifecycle import NodeLifecycle
from dray.controllers.nodetainteviction import NodeTaintEviction
from dray.controllers.podgarbage import PodGarbage
from dray.controllers.poolstatusrequests import PoolStatusRequests
from dray.controllers.runtime import Controller
from dray.controllers.taintrulestatus import TaintRuleStatus
from dray.controllers.taintviews import TaintViews

__all__ = ["CONTROLLER_NAMES", "Controllers", "UnknownController", "choose_controllers"]


@dataclass(frozen=True, slots=True)
class _Part:
    """One controller as Kubernetes counts them, and what does its work here."""

    name: str
    make: Callable[[Commons], Sequence[Controller[Any]]]
    needs: tuple[AnyKind, ...] = ()
    """Kinds without which there is nothing to do. Servers may leave out what is alpha or beta."""
    aliases: tuple[str, ...] = ()


def _make_claims(commons: Commons) -> Sequence[Controller[Any]]:
    return ClaimsFromTemplates(commons).controller, ClaimRelease(commons).controller


def _make_device_taints(commons: Commons) -> Sequence[Controller[Any]]:
    taints = TaintViews(commons)
    eviction = DeviceTaintEviction(commons, taints)
    return TaintRuleStatus(commons, taints, eviction).controller, eviction.controller


_PARTS: Final = (
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
        lambda commons: (PoolStatusRequests(commons).controller,),
        (RESOURCE_POOL_STATUS_REQUEST, RESOURCE_CLAIM, RESOURCE_SLICE),
    ),
    _Part("podgroup-protection-controller", lambda commons: (GroupProtection(commons).controller,), (POD_GROUP,)),
    _Part("pod-garbage-collector-controller", lambda commons: (PodGarbage(commons).controller,), aliases=("podgc",)),
    _Part(
        "node-lifecycle-controller",
        lambda commons: (NodeLifecycle(commons).controller,),
        (LEASE,),
        ("nodelifecycle",),
    ),
    _Part("taint-eviction-controller", lambda commons: (NodeTaintEviction(commons).controller,)),
)

CONTROLLER_NAMES: Final = tuple(part.name for part in _PARTS)
"""Every controller that can be chosen."""


class UnknownController(ValueError):
    """A choice names what is no controller."""


def choose_controllers(choices: Iterable[str]) -> frozenset[str]:
    """The names that a choice leaves: `*` means all, `-name` leaves one out, `name` takes one in.

    The first entry for a name counts. Raises UnknownController.
    """
    asked = list(choices)
    chosen: set[str] = set()
    named = {name: part.name for part in _PARTS for name in (part.name, *part.aliases)}
    for choice in asked:
        if choice != "*" and choice.removeprefix("-") not in named:
            raise UnknownController(f"{choice.removeprefix('-')!r} is not in the list of known controllers")
    for part in _PARTS:
        names = (part.name, *part.aliases)
        verdicts = [choice for choice in asked if choice.removeprefix("-") in names]
        if not verdicts[0].startswith("-") if verdicts else "*" in asked:
            chosen.add(part.name)
    return frozenset(chosen)


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

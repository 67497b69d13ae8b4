"""The controllers without which an API server cannot be used, together."""

import asyncio
from typing import Any, Final

from dray.api.registry import Registry
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.controllers.aggregation import RoleAggregation
from dray.controllers.disruptionbudgets import DisruptionBudgets
from dray.controllers.eventexpiry import EventExpiry
from dray.controllers.firstobjects import FirstObjects
from dray.controllers.garbage import GarbageCollector
from dray.controllers.mirrors import Mirrors
from dray.controllers.namespacedeletion import NamespaceDeletion
from dray.controllers.priorityclasses import SystemClasses
from dray.controllers.quotastatus import QuotaStatus
from dray.controllers.runtime import Controller, Effects
from dray.controllers.served import choose_mirrored

__all__ = ["BASIC_NAMES", "BasicControllers", "run_basic_controllers"]

BASIC_NAMES: Final = frozenset(
    {
        "serviceaccount-controller",
        "namespace-controller",
        "garbage-collector-controller",
        "resourcequota-controller",
        "clusterrole-aggregation-controller",
        "disruption-controller",
        "system-priority-classes-controller",
        "event-expiry-controller",
    }
)
"""What `dray.controllers.assembly` calls them: beside these, a process leaves them out."""


class BasicControllers:
    """One controller for each thing that must come true by itself, on mirrors that they share.

    What namespaces begin with, and how they end; what goes with its owners, and when events go; what quotas have in
    use, what budgets allow, what aggregated roles contain; the priority classes of the system.

    Reads the views of `informers`, which someone else runs; without any it makes and runs its own.
    """

    def __init__(
        self,
        client: Client,
        registry: Registry,
        root_ca: str,
        effects: Effects,
        informers: SharedInformers | None = None,
    ) -> None:
        self._has_own_informers = informers is None
        pace = Pace(effects.clock, effects.entropy)
        self._informers = informers or SharedInformers(client, pace, effects.log)
        self._mirrors = Mirrors(self._informers, choose_mirrored(registry))
        self._controllers: tuple[Controller[Any], ...] = tuple(
            each.controller
            for each in (
                FirstObjects(client, self._mirrors, root_ca, effects),
                NamespaceDeletion(client, self._mirrors, tuple(registry), effects),
                GarbageCollector(client, self._mirrors, registry, effects),
                QuotaStatus(client, self._mirrors, effects),
                RoleAggregation(client, self._mirrors, effects),
                DisruptionBudgets(client, self._mirrors, effects),
                SystemClasses(client, self._mirrors, effects),
                EventExpiry(client, effects),
            )
        )

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do for what was heard of so far."""
        return all(each.is_idle for each in self._controllers)

    async def run(self) -> None:
        """Work until cancelled. Controllers start once all kinds were heard of."""
        async with asyncio.TaskGroup() as tasks:
            if self._has_own_informers:
                tasks.create_task(self._informers.run(), name="informers")
            await self._mirrors.wait_synced()
            for controller in self._controllers:
                tasks.create_task(controller.run(), name=controller.name)


async def run_basic_controllers(client: Client, registry: Registry, root_ca: str, effects: Effects) -> None:
    """Run them all until cancelled. `root_ca` is the CA of the API server in PEM, which pods find in a config map."""
    await BasicControllers(client, registry, root_ca, effects).run()

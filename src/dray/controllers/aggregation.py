"""Cluster roles that are put together from others, kept as they should be."""

from msgspec.structs import replace

from dray.api.rbac.aggregation import aggregate_rules
from dray.api.rbac.kinds import CLUSTER_ROLE
from dray.api.rbac.role import ClusterRole
from dray.client.port import Client, ObjectName
from dray.controllers.mirrors import Mirrors
from dray.controllers.runtime import Controller, Effects
from dray.controllers.writing import find_stored

__all__ = ["RoleAggregation"]


class RoleAggregation:
    """Writes the rules of every cluster role that has an aggregation rule."""

    def __init__(self, client: Client, mirrors: Mirrors, effects: Effects) -> None:
        self._client = client
        self._mirrors = mirrors
        self.controller = Controller("role aggregation", self.reconcile, effects)
        mirrors.listen(CLUSTER_ROLE, self._note_role)

    def _note_role(self, old: ClusterRole | None, new: ClusterRole | None) -> None:
        for role in self._mirrors.list(CLUSTER_ROLE):
            if role.aggregation_rule is not None:
                self.controller.wake(role.metadata.name)

    async def reconcile(self, name: str) -> None:
        """Put one role together from all others."""
        role = await find_stored(self._client, CLUSTER_ROLE, ObjectName(name))
        if role is None or role.aggregation_rule is None:
            return
        rules = aggregate_rules(role, self._mirrors.list(CLUSTER_ROLE))
        if rules != role.rules:
            await self._client.update(CLUSTER_ROLE, replace(role, rules=rules))

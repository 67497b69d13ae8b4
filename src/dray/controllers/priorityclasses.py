"""The priority classes of the system, which are always there."""

from typing import Final

from dray.api.meta import ObjectMeta
from dray.api.scheduling.checks import SYSTEM_CLASSES
from dray.api.scheduling.kinds import PRIORITY_CLASS
from dray.api.scheduling.priorityclass import PriorityClass
from dray.client.port import Client
from dray.controllers.mirrors import Mirrors
from dray.controllers.runtime import Controller, Effects

__all__ = ["SystemClasses"]

_DESCRIPTIONS: Final = {
    "system-cluster-critical": "Used for system critical pods that must run in the cluster, but can be moved to "
    "another node if necessary.",
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
}


class SystemClasses:
    """Creates the two classes, again if they are deleted."""

    def __init__(self, client: Client, mirrors: Mirrors, effects: Effects) -> None:
        self._client = client
        self._mirrors = mirrors
        self.controller = Controller("system classes", self.reconcile, effects)
        mirrors.listen(PRIORITY_CLASS, self._note_class)
        for name in SYSTEM_CLASSES:
            self.controller.wake(name)

    def _note_class(self, old: PriorityClass | None, new: PriorityClass | None) -> None:
        if old is not None and new is None and old.metadata.name in SYSTEM_CLASSES:
            self.controller.wake(old.metadata.name)

    async def reconcile(self, name: str) -> None:
        """See that the class is there."""
        if self._mirrors.find(PRIORITY_CLASS, "", name) is not None:
            return
        meta = ObjectMeta(name=name)
        made = PriorityClass(metadata=meta, value=SYSTEM_CLASSES[name], description=_DESCRIPTIONS[name])
        await self._client.create(PRIORITY_CLASS, made)

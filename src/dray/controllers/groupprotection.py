"""Protection of groups of pods: a group that is being deleted stays until the last of its pods has ended."""

from typing import Final

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.resource.podclaims import is_terminal
from dray.api.scheduling.kinds import POD_GROUP, POD_GROUP_FINALIZER
from dray.api.scheduling.podgroup import PodGroup
from dray.client.changes import Change
from dray.client.port import ListOptions, ObjectName
from dray.controllers.claimants import find_group_name
from dray.controllers.commons import Commons
from dray.controllers.runtime import Controller
from dray.controllers.writing import patch_metadata

__all__ = ["GroupProtection"]

_WORKERS: Final = 4


class GroupProtection:
    """Lets groups go."""

    def __init__(self, commons: Commons) -> None:
        self._client = commons.client
        groups = commons.follow(POD_GROUP)
        self._groups = groups.view
        self.controller: Controller[ObjectName] = Controller(
            "group protection", self.reconcile, commons.effects, workers=_WORKERS
        )
        groups.add_handler(self._note_group)
        commons.follow(POD).add_handler(self._note_pod)

    def _note_group(self, change: Change[PodGroup]) -> None:
        if change.new is not None and _waits(change.new):
            self.controller.wake(change.name)

    def _note_pod(self, change: Change[Pod]) -> None:
        if change.new is not None and not is_terminal(change.new):
            return
        name = find_group_name(change.latest)
        group = self._groups.find(name) if name is not None else None
        if name is not None and group is not None and _waits(group):
            self.controller.wake(name)

    async def reconcile(self, name: ObjectName) -> None:
        """Let a group go if the server, not only the view, knows of no pod of it that still runs."""
        group = self._groups.find(name)
        if group is None or not _waits(group):
            return
        listed = await self._client.list(POD, ListOptions(namespace=name.namespace))
        if any(find_group_name(pod) == name and not is_terminal(pod) for pod in listed.items):
            return
        kept = [each for each in group.metadata.finalizers if each != POD_GROUP_FINALIZER]
        await patch_metadata(self._client, POD_GROUP, group, {"finalizers": kept})


def _waits(group: PodGroup) -> bool:
    return group.metadata.deletion_timestamp is not None and POD_GROUP_FINALIZER in group.metadata.finalizers

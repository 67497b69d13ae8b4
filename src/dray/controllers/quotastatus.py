"""What quotas have in use, counted anew: deletions and changed limits, which admission does not see.

Counted is what the server lists after the quota was read. A write that admission charges meanwhile changes the quota,
so that our status loses the race and the count begins again: a charge is never overwritten.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeVar, cast

from msgspec.structs import replace

from dray.api.core.kinds import POD, RESOURCE_QUOTA
from dray.api.core.pod import Pod
from dray.api.core.resourcequota import ResourceQuota
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.quotas.charging import recount
from dray.api.quotas.meter import Surroundings
from dray.api.quotas.meters import METERS
from dray.api.registry import AnyKind
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_CLAIM
from dray.client.port import Client, ListOptions, ObjectName
from dray.controllers.mirrors import Mirrors
from dray.controllers.runtime import Controller, Effects
from dray.controllers.writing import find_stored
from dray.errors import NotFound

__all__ = ["QuotaStatus"]

K = TypeVar("K", bound=ApiObject)

_ROUND_SECONDS: Final = 300.0
"""How often a quota is counted even if nothing woke us: what was created while its limits came into force."""


class _Listing:
    """Some kinds as the server listed them."""

    def __init__(self, things: dict[AnyKind, Sequence[ApiObject]]) -> None:
        self._things = things

    def find(self, kind: Kind[K], namespace: str, name: str, /) -> K | None:
        return next((each for each in self.list(kind, namespace) if each.metadata.name == name), None)

    def list(self, kind: Kind[K], namespace: str | None = None, /) -> Sequence[K]:
        return cast("Sequence[K]", self._things.get(kind, ()))  # stored under its own kind


class QuotaStatus:
    """Keeps the status of every quota."""

    def __init__(self, client: Client, mirrors: Mirrors, effects: Effects) -> None:
        self._client = client
        self._mirrors = mirrors
        self._clock = effects.clock
        self.controller: Controller[ObjectName] = Controller("quota status", self.reconcile, effects)
        mirrors.listen(RESOURCE_QUOTA, self._note_quota)
        for kind in METERS:
            mirrors.listen(kind, self._note_content)

    def _note_quota(self, old: ResourceQuota | None, new: ResourceQuota | None) -> None:
        if new is not None and (old is None or old.spec != new.spec or new.status.hard != new.spec.hard):
            self.controller.wake(ObjectName(new.metadata.name, new.metadata.namespace))

    def _note_content(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Something went, or ended: less is in use in its namespace."""
        if old is None or (new is not None and not _may_use_less(old, new)):
            return
        for quota in self._mirrors.list(RESOURCE_QUOTA, old.metadata.namespace):
            self.controller.wake(ObjectName(quota.metadata.name, quota.metadata.namespace))

    async def reconcile(self, name: ObjectName) -> float | None:
        """Count, and write what was counted if it is news."""
        quota = await find_stored(self._client, RESOURCE_QUOTA, name)
        if quota is None:
            return None
        objects = _Listing({kind: await self._list(kind, name.namespace) for kind in _find_needed(quota)})
        status = recount(quota, Surroundings(objects, self._clock.now().to_time()))
        if status != quota.status:
            await self._client.update(RESOURCE_QUOTA, replace(quota, status=status), subresource="status")
        return _ROUND_SECONDS

    async def _list(self, kind: Kind[Any], namespace: str) -> Sequence[ApiObject]:
        try:
            listed = await self._client.list(kind, ListOptions(namespace=namespace if kind.is_namespaced else None))
        except NotFound:  # a quota may name what the server does not serve
            return ()
        return listed.items


def _may_use_less(old: ApiObject, new: ApiObject) -> bool:
    """Whether a change can have freed something: a changed spec, or the end of a pod."""
    if isinstance(old, Pod) and isinstance(new, Pod) and old.status.phase != new.status.phase:
        return True
    return bool(getattr(old, "spec", None) != getattr(new, "spec", None))


def _find_needed(quota: ResourceQuota) -> set[AnyKind]:
    """The kinds that the quota counts, and those that tell what claims are charged for."""
    needed: set[AnyKind] = {kind for kind, meter in METERS.items() if any(map(meter.covers, quota.spec.hard))}
    return needed | {POD, DEVICE_CLASS} if RESOURCE_CLAIM in needed else needed

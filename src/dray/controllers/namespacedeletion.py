"""Deletion of namespaces: everything in it first, then the namespace; what holds it up is told in its conditions."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from dray.api.core.kinds import NAMESPACE
from dray.api.core.namespace import Namespace, NamespaceCondition
from dray.api.meta import ApiObject, DeleteOptions, Preconditions
from dray.api.registry import AnyKind
from dray.client.port import Client, ListOptions, ObjectName, Unreachable
from dray.controllers.mirrors import Mirrors
from dray.controllers.runtime import Controller, Effects
from dray.controllers.writing import find_stored
from dray.errors import ApiError, NotFound
from dray.values.times import Time

__all__ = ["NamespaceDeletion", "Remains", "plan_conditions"]

_CONTENT: Final = "kubernetes"
"""The finalizer that stands for the content."""
_LOOK_AGAIN_SECONDS: Final = 5.0
"""Content that goes wakes us; this is for content of kinds that nobody watches."""
_WORKERS: Final = 4
_PARALLEL: Final = 32
"""Deletions asked for together: the server makes them durable in one go."""


@dataclass(slots=True)
class Remains:
    """What is left of the content of a namespace after an attempt to delete it."""

    counts: Counter[str] = field(default_factory=Counter)
    """Objects by resource, as `configmaps.` or `resourceclaims.resource.k8s.io`."""
    finalizers: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return not self.counts and not self.faults


def plan_conditions(namespace: Namespace, remains: Remains, now: Time) -> tuple[NamespaceCondition, ...]:
    """What is to be said about the deletion. A condition keeps its time while its status stays the same."""
    old = {each.type: each for each in namespace.status.conditions}
    new = {each.type: each for each in _list_conditions(remains)}
    timed = [_set_time(each, old.get(each.type), now) for each in new.values()]
    return (*(each for each in namespace.status.conditions if each.type not in new), *timed)


def _set_time(new: NamespaceCondition, old: NamespaceCondition | None, now: Time) -> NamespaceCondition:
    is_same = old is not None and old.status == new.status
    return replace(new, last_transition_time=old.last_transition_time if old is not None and is_same else now)


def _list_conditions(remains: Remains) -> Iterator[NamespaceCondition]:
    kind = "NamespaceDeletionDiscoveryFailure"
    yield _deny(kind, "ResourcesDiscovered", "All resources successfully discovered")
    kind = "NamespaceDeletionGroupVersionParsingFailure"
    yield _deny(kind, "ParsedGroupVersions", "All legacy kube types successfully parsed")
    kind = "NamespaceDeletionContentFailure"
    if remains.faults:
        listed = ", ".join(remains.faults)
        message = f"Failed to delete all resource types, {len(remains.faults)} remaining: {listed}"
        yield _affirm(kind, "ContentDeletionFailed", message)
    else:
        yield _deny(kind, "ContentDeleted", "All content successfully deleted, may be waiting on finalization")
    kind = "NamespaceContentRemaining"
    if remains.counts:
        listed = _list_counts("{} has {} resource instances", remains.counts)
        yield _affirm(kind, "SomeResourcesRemain", f"Some resources are remaining: {listed}")
    else:
        yield _deny(kind, "ContentRemoved", "All content successfully removed")
    kind = "NamespaceFinalizersRemaining"
    if remains.finalizers:
        listed = _list_counts("{} in {} resource instances", remains.finalizers)
        message = f"Some content in the namespace has finalizers remaining: {listed}"
        yield _affirm(kind, "SomeFinalizersRemain", message)
    else:
        yield _deny(kind, "ContentHasNoFinalizers", "All content-preserving finalizers finished")


def _affirm(kind: str, reason: str, message: str) -> NamespaceCondition:
    return NamespaceCondition(type=kind, status="True", reason=reason, message=message)


def _deny(kind: str, reason: str, message: str) -> NamespaceCondition:
    return NamespaceCondition(type=kind, status="False", reason=reason, message=message)


def _list_counts(form: str, counts: Mapping[str, int]) -> str:
    return ", ".join(sorted(form.format(name, count) for name, count in counts.items()))


class NamespaceDeletion:
    """Empties namespaces that are going, and lets them go."""

    def __init__(self, client: Client, mirrors: Mirrors, kinds: Sequence[AnyKind], effects: Effects) -> None:
        self._client = client
        self._mirrors = mirrors
        self._kinds = tuple(kind for kind in kinds if _holds_content(kind))
        self._clock = effects.clock
        self.controller = Controller("namespace deletion", self.reconcile, effects, workers=_WORKERS)
        mirrors.listen(NAMESPACE, self._note_namespace)
        for kind in mirrors.kinds:
            if kind.is_namespaced:
                mirrors.listen(kind, self._note_content)

    def _note_namespace(self, old: Namespace | None, new: Namespace | None) -> None:
        if new is not None and new.metadata.deletion_timestamp is not None:
            self.controller.wake(new.metadata.name)

    def _note_content(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Content that went, or came in the last moment, of a namespace that is going."""
        if old is not None and new is not None:
            return
        thing = old or new
        assert thing is not None, "a change has something before or after it"
        namespace = self._mirrors.find(NAMESPACE, "", thing.metadata.namespace)
        if namespace is not None and namespace.metadata.deletion_timestamp is not None:
            self.controller.wake(namespace.metadata.name)

    async def reconcile(self, name: str) -> float | None:
        """Delete what is there; once nothing is left, give the namespace free.

        Creations that were admitted before the deletion may still be on their way into the store. What is left is
        therefore written down first, which queues behind them, and then looked at once more.
        """
        namespace = await find_stored(self._client, NAMESPACE, ObjectName(name))
        if namespace is None or namespace.metadata.deletion_timestamp is None:
            return None
        if _CONTENT not in namespace.spec.finalizers:
            return None
        remains = await self._delete_content(name)
        conditions = plan_conditions(namespace, remains, self._clock.now().to_time())
        if conditions != namespace.status.conditions:
            await self._write(replace(namespace, status=replace(namespace.status, conditions=conditions)), "status")
            return 0.0 if remains.is_empty else _LOOK_AGAIN_SECONDS
        if remains.is_empty:
            kept = tuple(each for each in namespace.spec.finalizers if each != _CONTENT)
            await self._write(replace(namespace, spec=replace(namespace.spec, finalizers=kept)), "finalize")
            return None
        return _LOOK_AGAIN_SECONDS

    async def _write(self, namespace: Namespace, subresource: str) -> None:
        """That it is gone by now is as good."""
        try:
            await self._client.update(NAMESPACE, namespace, subresource=subresource)
        except NotFound:
            return

    async def _delete_content(self, namespace: str) -> Remains:
        """Ask for everything to go; one kind that fails does not keep the others."""
        remains = Remains()
        for kind in self._kinds:
            try:
                listed = await self._client.list(kind, ListOptions(namespace=namespace))
            except ApiError as fault:
                remains.faults.append(fault.message)
                continue
            for start in range(0, len(listed.items), _PARALLEL):
                async with asyncio.TaskGroup() as tasks:
                    for thing in listed.items[start : start + _PARALLEL]:
                        tasks.create_task(self._delete(kind, thing, remains))
        return remains

    async def _delete(self, kind: AnyKind, thing: ApiObject, remains: Remains) -> None:
        """Ask for one object to go, and note it if it is still there."""
        left: ApiObject | None = thing
        if thing.metadata.deletion_timestamp is None:
            meta = thing.metadata
            options = DeleteOptions(propagation_policy="Background", preconditions=Preconditions(uid=meta.uid))
            try:
                left = await self._client.delete(kind, ObjectName(meta.name, meta.namespace), options)
            except NotFound:
                return
            except (ApiError, Unreachable) as fault:
                remains.faults.append(str(fault))
                return
        if left is not None and _is_held(left):
            remains.counts[f"{kind.plural}.{kind.group}"] += 1
            remains.finalizers.update(left.metadata.finalizers)


def _is_held(thing: ApiObject) -> bool:
    """Whether a deletion left the object there: for its finalizers, or for its grace period."""
    meta = thing.metadata
    return meta.deletion_timestamp is not None and bool(meta.finalizers or meta.deletion_grace_period_seconds)


def _holds_content(kind: AnyKind) -> bool:
    """Whether objects of the kind are stored in namespaces, under this kind and not as those of another group."""
    is_own = kind.storage_group is None or kind.storage_group == kind.group
    return kind.is_namespaced and is_own and {"delete", "list"} <= set(kind.verbs)

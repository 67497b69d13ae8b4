"""A scheduler that only looks: everything there is on an API server, and manifests that are not applied, in memory.

Nothing is written. What controllers would make, claims from templates, is made here, and counts here alone.
"""

import asyncio
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from dray.allocator.results import ShareIds
from dray.api.core.kinds import NODE, POD
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim
from dray.api.core.podstatus import PodResourceClaimStatus
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, RESOURCE_SLICE
from dray.api.resource.podclaims import find_choice, list_claim_names
from dray.api.scheduling.kinds import PRIORITY_CLASS
from dray.api.scheduling.podgroup import PodGroup
from dray.api.scheduling.priorityclass import PriorityClass
from dray.client.paging import list_all
from dray.client.port import Client, ObjectName
from dray.controllers.claimants import Claimant, describe_group, describe_pod, find_group_name, is_group_entry
from dray.controllers.generatedclaims import make_claim
from dray.errors import DrayError, Forbidden, NotFound
from dray.scheduler.core.accounts import Account, Wait, WaitCode
from dray.scheduler.core.explaining import explain_claim, explain_pod
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.news import Changed
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.state import SchedulerState
from dray.scheduler.core.step import step
from dray.scheduler.loop import KINDS

__all__ = ["Facts", "Rehearsal", "SubjectError", "read_facts"]

_INDISPENSABLE: Final = (NODE, POD, DEVICE_CLASS, RESOURCE_SLICE, RESOURCE_CLAIM)
_READ: Final[tuple[AnyKind, ...]] = (*KINDS, RESOURCE_CLAIM_TEMPLATE, PRIORITY_CLASS)


class SubjectError(DrayError):
    """There is no pod or claim of that name. `hint` says which there is."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Facts:
    """What an API server has, by name of the kind, and what of it could not be read."""

    things: Mapping[str, Sequence[Any]]
    unread: tuple[str, ...] = ()

    def list(self, kind: AnyKind) -> Sequence[Any]:
        """All objects of a kind."""
        return self.things.get(kind.name, ())

    def with_manifests(self, manifests: Iterable[tuple[AnyKind, ApiObject]]) -> "Facts":
        """The same with objects that are not applied. A pod or claim of the same name that is there counts instead."""
        things = {name: list(each) for name, each in self.things.items()}
        for kind, thing in manifests:
            known = things.setdefault(kind.name, [])
            there = next((each for each in known if _name(each) == _name(thing)), None)
            if there is not None and kind in (POD, RESOURCE_CLAIM):
                continue
            if there is not None:
                known.remove(there)
            known.append(_as_created(kind, thing))
        return Facts(things, self.unread)


def _name(thing: ApiObject) -> ObjectName:
    return ObjectName(thing.metadata.name, thing.metadata.namespace)


def _as_created(kind: AnyKind, thing: Any) -> Any:  # noqa: ANN401  # an object of any kind
    """What a server would add, as far as decisions read it."""
    meta = thing.metadata
    uid = f"{kind.plural}/{meta.namespace}/{meta.name}"
    return replace(thing, metadata=replace(meta, uid=meta.uid or uid, resource_version="0"))


async def read_facts(client: Client) -> Facts:
    """Read all that decisions go by. Raises ApiError where that is impossible; what some can do without is left out."""
    things: dict[str, Sequence[Any]] = {}
    unread: list[str] = []

    async def read(kind: AnyKind) -> None:
        try:
            things[kind.name] = (await list_all(client, kind)).items
        except (Forbidden, NotFound) as fault:
            if kind in _INDISPENSABLE:
                raise
            if isinstance(fault, Forbidden):
                unread.append(kind.plural)

    await asyncio.gather(*map(read, _READ))
    return Facts(things, tuple(sorted(unread)))


class Rehearsal:
    """Explains pods and claims one after the other; those that are to be committed take their place for the next."""

    def __init__(self, facts: Facts, now: Moment, share_ids: ShareIds) -> None:
        self._facts = facts
        self._now = now
        self._share_ids = share_ids
        self._templates = {_name(each): each for each in facts.list(RESOURCE_CLAIM_TEMPLATE)}
        self._pods: dict[ObjectName, Pod] = {_name(each): each for each in facts.list(POD)}
        self._state = self._build()

    def _build(self) -> SchedulerState:
        names = {pod.spec.scheduler_name for pod in self._pods.values()}
        profiles = [Profile(scheduler_name=name) for name in sorted(names | {Profile().scheduler_name})]
        state = SchedulerState(profiles, self._share_ids)
        for kind in KINDS:
            for thing in self._facts.list(kind):
                step(state, Changed(None, thing), self._now)
        for pod in self._pods.values():
            if pod.status.nominated_node_name and not pod.spec.node_name:
                state.snapshot.nominate(pod, pod.status.nominated_node_name)
        return state

    def explain_pod(self, name: ObjectName, *, is_new: bool = False) -> Account:
        """Give account of a pod. One that `is_new` waits for no controller, and takes its place for those after it.

        Raises SubjectError.
        """
        pod = self._pods.get(name)
        if pod is None:
            raise SubjectError(f"there is no pod {name.namespace}/{name.name}", _suggest("pod", name, self._pods))
        is_member = find_group_name(pod) is not None
        waits: list[Wait] = []
        pod = self._with_priority(pod, waits) if is_new else pod
        if is_member:  # trying a pod of a group moves its siblings: each is looked at with fresh eyes
            self._state = self._build()
            self._complete_siblings(pod, is_new=is_new)
        pod = self._with_claims(pod, waits, is_new=is_new)
        if is_member:
            step(self._state, Changed(self._pods[name], pod), self._now)
        return explain_pod(self._state, pod, self._now, waits, commit=is_new and not is_member)

    def explain_claim(self, name: ObjectName) -> Account:
        """Give account of a claim by itself. Raises SubjectError."""
        claim = self._state.claims.find(name.namespace, name.name)
        if claim is None:
            known = {_name(each): each for each in self._facts.list(RESOURCE_CLAIM)}
            raise SubjectError(f"there is no claim {name.namespace}/{name.name}", _suggest("claim", name, known))
        users = [pod for pod in self._pods.values() if _uses(pod, claim)]
        return explain_claim(self._state, claim, users)

    def names_claim(self, pods: Iterable[ObjectName], claim: ObjectName) -> bool:
        """Whether one of these pods uses a claim by its name."""
        found = (self._pods[name] for name in pods)
        return any(
            each.metadata.namespace == claim.namespace and claim.name in list_claim_names(each) for each in found
        )

    def _with_priority(self, pod: Pod, waits: list[Wait]) -> Pod:
        """The pod with the number of its priority class, which admission fills in."""
        classes: Sequence[PriorityClass] = self._facts.list(PRIORITY_CLASS)
        name = pod.spec.priority_class_name
        chosen = next((each for each in classes if (each.metadata.name == name if name else each.global_default)), None)
        if name and chosen is None:
            waits.append(Wait(WaitCode.PRIORITY_CLASS_NOT_FOUND, f"no PriorityClass with name {name} was found"))
        if chosen is None or pod.spec.priority is not None:
            return pod
        policy = chosen.preemption_policy or pod.spec.preemption_policy
        return replace(pod, spec=replace(pod.spec, priority=chosen.value, preemption_policy=policy))

    def _complete_siblings(self, pod: Pod, *, is_new: bool) -> None:
        """Give the other pods of a group their claims."""
        for other in self._pods.values():
            if find_group_name(other) == find_group_name(pod) and other.metadata.uid != pod.metadata.uid:
                step(self._state, Changed(other, self._with_claims(other, [], is_new=is_new)), self._now)

    def _with_claims(self, pod: Pod, waits: list[Wait], *, is_new: bool) -> Pod:
        """The pod with claims for its templates, as the controller would make them."""
        statuses = list(pod.status.resource_claim_statuses)
        for entry in pod.spec.resource_claims:
            template_name = entry.resource_claim_template_name
            if template_name is None or find_choice(pod, entry) is not None or pod.spec.node_name:
                continue
            template = self._templates.get(ObjectName(template_name, pod.metadata.namespace))
            if template is None:
                waits.append(self._miss_template(pod, template_name))
                continue
            if not is_new:
                text = f"claim for {entry.name} is not made yet from template {template_name}"
                hint = "the resource claim controller makes it: is it running?"
                waits.append(Wait(WaitCode.CLAIM_NOT_GENERATED, text, hint))
            name = self._provide(pod, entry, template)
            statuses.append(PodResourceClaimStatus(name=entry.name, resource_claim_name=name))
        return replace(pod, status=replace(pod.status, resource_claim_statuses=tuple(statuses)))

    def _provide(self, pod: Pod, entry: PodResourceClaim, template: ResourceClaimTemplate) -> str:
        """Have a claim for an entry; its name. Pods of a group share those that the group names."""
        owner = self._find_owner(pod, entry)
        made = make_claim(owner.owner, entry.name, template)
        name = made.metadata.generate_name.rstrip("-")
        if self._state.claims.find(pod.metadata.namespace, name) is None:
            meta = replace(made.metadata, name=name, uid=f"{owner.uid}/{entry.name}", resource_version="0")
            step(self._state, Changed(None, replace(made, metadata=meta)), self._now)
        return name

    def _find_owner(self, pod: Pod, entry: PodResourceClaim) -> Claimant:
        key = find_group_name(pod)
        group: PodGroup | None = None if key is None else self._state.groups.get((key.namespace, key.name))
        return describe_group(group) if group is not None and is_group_entry(entry, group) else describe_pod(pod)

    def _miss_template(self, pod: Pod, name: str) -> Wait:
        namespace = pod.metadata.namespace
        names = [each.name for each in self._templates if each.namespace == namespace]
        elsewhere = [each.namespace for each in self._templates if each.name == name]
        close = difflib.get_close_matches(name, names, n=1)
        hint = (
            f"did you mean {close[0]}?"
            if close
            else f"did you mean that of namespace {elsewhere[0]}?"
            if elsewhere
            else ""
        )
        text = f"there is no ResourceClaimTemplate {namespace}/{name}"
        return Wait(WaitCode.TEMPLATE_NOT_FOUND, text, hint or "create the template")


def _uses(pod: Pod, claim: ResourceClaim) -> bool:
    return pod.metadata.namespace == claim.metadata.namespace and claim.metadata.name in list_claim_names(pod)


def _suggest(what: str, name: ObjectName, known: Iterable[ObjectName]) -> str:
    names = list(known)
    elsewhere = [each for each in names if each.name == name.name]
    if elsewhere:
        return f"dray explain {what} {name.name} -n {elsewhere[0].namespace}"
    close = difflib.get_close_matches(name.name, [each.name for each in names if each.namespace == name.namespace], n=1)
    return f"dray explain {what} {close[0]} -n {name.namespace}" if close else ""

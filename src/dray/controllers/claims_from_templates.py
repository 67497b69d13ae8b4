"""Claims from templates: each entry that names a template gets a claim of its own, recorded on the pod or group.

Between the claim and the record a crash may come: the claim is found again by its owner and its annotation. Several of
these controllers may work at once, for they all give the claim of an entry the same name. What a pod shares with its
group is made for the group, once, and its name copied. A pod that was placed by hand also gets its reservations here;
nothing is ever allocated here.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from dray.api.resource.podclaims import find_choice, is_controlled_by, is_finished
from dray.api.scheduling.kinds import POD_GROUP
from dray.api.scheduling.podgroup import PodGroup
from dray.client.changes import Change
from dray.client.overlay import Overlay
from dray.client.port import ObjectName, Patch, PatchType, Unreachable, WriteOptions
from dray.client.recording import EventType, refer
from dray.client.view import name_of
from dray.controllers.claimants import (
    PODS_BY_CLAIM,
    Claimant,
    ClaimantKey,
    describe_group,
    describe_pod,
    find_group_name,
    index_groups_by_claim,
    index_groups_by_template,
    index_pods_by_claim,
    index_pods_by_group,
    index_pods_by_template,
    is_group_entry,
    path_of,
)
from dray.controllers.commons import Commons
from dray.controllers.generatedclaims import is_made_for, make_claim
from dray.controllers.runtime import Controller
from dray.controllers.writing import find_stored
from dray.errors import AlreadyExists, ApiError, NotFound

__all__ = ["ClaimsFromTemplates"]

K = TypeVar("K", bound=ApiObject)

_WORKERS: Final = 50
"""As in Kubernetes. What they wait for is the server, which makes many writes durable in one go."""
_MOST_NAMES: Final = 8
"""Names that are tried for one claim: with 27⁵ suffixes, more would mean that something else is wrong."""
_MANAGER: Final = "ResourceClaimController"
_BY_CLAIM: Final = PODS_BY_CLAIM
_BY_TEMPLATE: Final = "by template"
_BY_GROUP: Final = "pods by group"
_BY_OWNER: Final = "claims by owner"


class ClaimsFromTemplates:
    """Makes claims for pods and groups. Pods that need none cost one look at their spec."""

    def __init__(self, commons: Commons) -> None:
        self._client = commons.client
        self._metrics = commons.metrics
        self._recorder = commons.get_recorder("resource_claim")
        self.controller: Controller[ClaimantKey] = Controller(
            "claims from templates", self.reconcile, commons.effects, workers=_WORKERS
        )
        self._made: dict[str, dict[str, str]] = {}
        """By uid of the claimant and entry: claims that were made and stand in no status yet."""
        pods, claims = commons.follow(POD), commons.follow(RESOURCE_CLAIM)
        templates = commons.follow(RESOURCE_CLAIM_TEMPLATE)
        groups = commons.follow(POD_GROUP) if commons.has(POD_GROUP) else None
        self._pods, self._claims = Overlay(pods), Overlay(claims)
        self._groups = Overlay(groups) if groups is not None else None
        self._pod_view, self._claim_view, self._template_view = pods.view, claims.view, templates.view
        self._group_view = groups.view if groups is not None else None
        pods.view.add_index(_BY_CLAIM, index_pods_by_claim)
        pods.view.add_index(_BY_TEMPLATE, index_pods_by_template)
        pods.view.add_index(_BY_GROUP, index_pods_by_group)
        claims.view.add_index(_BY_OWNER, _index_by_owner)
        pods.add_handler(self._note_pod)
        claims.add_handler(self._note_claim)
        templates.add_handler(self._note_template)
        if groups is not None:
            groups.view.add_index(_BY_CLAIM, index_groups_by_claim)
            groups.view.add_index(_BY_TEMPLATE, index_groups_by_template)
            groups.add_handler(self._note_group)

    def _note_pod(self, change: Change[Pod]) -> None:
        pod = change.new
        if pod is None:
            self._made.pop(change.latest.metadata.uid, None)
        elif pod.spec.resource_claims:
            self._wake_pods([pod])

    def _note_group(self, change: Change[PodGroup]) -> None:
        group = change.new
        if group is None:
            self._made.pop(change.latest.metadata.uid, None)
        else:
            self._wake_groups([group])
        self._wake_pods(self._pod_view.select_by(_BY_GROUP, path_of(change.name)))

    def _note_claim(self, change: Change[ResourceClaim]) -> None:
        self._wake_by(_BY_CLAIM, change.name)

    def _note_template(self, change: Change[ResourceClaimTemplate]) -> None:
        if change.new is not None:
            self._wake_by(_BY_TEMPLATE, change.name)

    def _wake_by(self, index: str, name: ObjectName) -> None:
        self._wake_pods(self._pod_view.select_by(index, path_of(name)))
        if self._group_view is not None:
            self._wake_groups(self._group_view.select_by(index, path_of(name)))

    def _wake_pods(self, pods: Iterable[Pod]) -> None:
        for pod in pods:
            if self._is_due(pod):
                meta = pod.metadata
                self.controller.wake(ClaimantKey(is_group=False, namespace=meta.namespace, name=meta.name))

    def _wake_groups(self, groups: Iterable[PodGroup]) -> None:
        for group in groups:
            if group.metadata.deletion_timestamp is None and self._lacks_claims(describe_group(group)):
                meta = group.metadata
                self.controller.wake(ClaimantKey(is_group=True, namespace=meta.namespace, name=meta.name))

    def _is_due(self, pod: Pod) -> bool:
        """Whether a claim, its name or a reservation of a pod may be missing, as far as we know."""
        if not pod.spec.resource_claims or pod.metadata.deletion_timestamp is not None or is_finished(pod):
            return False
        group = self._find_group(pod)
        return any(self._is_missing(pod, entry, group) for entry in pod.spec.resource_claims)

    def _is_missing(self, pod: Pod, entry: PodResourceClaim, group: PodGroup | None) -> bool:
        choice = find_choice(pod, entry)
        if choice is None:
            return True
        if not choice.name:
            return False
        claim = self._claims.find(ObjectName(choice.name, pod.metadata.namespace))
        holder = _choose_holder(pod, entry, group)
        if choice.is_generated and (claim is None or not is_controlled_by(claim, holder.uid)):
            return True
        return claim is not None and _lacks_reservation(claim, pod, holder)

    def _lacks_claims(self, claimant: Claimant) -> bool:
        """Whether a claim of a group may be missing, as far as we know."""
        namespace = claimant.key.namespace
        for entry in claimant.entries:
            if entry.resource_claim_template_name is None:
                continue
            name = claimant.names.get(entry.name, "")
            claim = self._claims.find(ObjectName(name, namespace)) if name else None
            if name is not None and (claim is None or not is_controlled_by(claim, claimant.uid)):
                return True
        return False

    def _find_group(self, pod: Pod) -> PodGroup | None:
        name = find_group_name(pod)
        return None if name is None or self._groups is None else self._groups.find(name)

    async def reconcile(self, key: ClaimantKey) -> None:
        """See that a claimant has its claims, their names and, if it is a pod placed by hand, its reservations."""
        if not key.is_group:
            await self._serve_pod(key.object_name)
            return
        group = self._groups.find(key.object_name) if self._groups is not None else None
        if group is None or group.metadata.deletion_timestamp is not None:
            return
        claimant = describe_group(group)
        names = await self._provide(group, claimant, claimant.entries)
        if names and self._groups is not None:
            recorded = await self._record_names(POD_GROUP, claimant, names)
            if recorded is not None:
                self._groups.note(recorded)

    async def _serve_pod(self, name: ObjectName) -> None:
        pod = self._pods.find(name)
        if pod is None or not self._is_due(pod):
            return
        group, group_name = self._find_group(pod), find_group_name(pod)
        if group_name is not None and group is None:
            raise NotFound(f'podgroup.scheduling.k8s.io "{group_name.name}" not found')
        claimant = describe_pod(pod)
        shared = [entry for entry in pod.spec.resource_claims if is_group_entry(entry, group)]
        names = await self._provide(pod, claimant, [each for each in pod.spec.resource_claims if each not in shared])
        if group is not None:
            names |= _copy_names(claimant, describe_group(group), shared)
        if names:
            recorded = await self._record_names(POD, claimant, names)
            if recorded is None:
                return
            self._pods.note(recorded)
            pod = recorded
        if pod.spec.node_name:
            await self._reserve(pod, group)

    async def _provide(self, about: ApiObject, claimant: Claimant, entries: Iterable[Any]) -> dict[str, str]:
        """The names of claims that a claimant did not have, by entry. What is missing is made."""
        names: dict[str, str] = {}
        for entry in entries:
            template_name = entry.resource_claim_template_name
            if template_name is None or await self._is_served(claimant, entry.name):
                continue
            found = self._find_made(claimant, entry.name)
            names[entry.name] = found or await self._create(about, claimant, entry.name, template_name)
        return names

    async def _is_served(self, claimant: Claimant, entry: str) -> bool:
        """Whether an entry has its claim, or needs none; the view alone is not trusted to say no."""
        claim_name = claimant.names.get(entry, "")
        if claim_name is None:
            return True
        if not claim_name:
            return False
        name = ObjectName(claim_name, claimant.key.namespace)
        claim = self._claims.find(name)
        if claim is None:
            claim = await find_stored(self._client, RESOURCE_CLAIM, name)
            if claim is not None:
                self._claims.note(claim)
        return claim is not None and is_controlled_by(claim, claimant.uid)

    def _find_made(self, claimant: Claimant, entry: str) -> str | None:
        """A claim that was made for an entry before, and did not make it into the status."""
        name = self._made.get(claimant.uid, {}).get(entry)
        if name is not None and self._claims.find(ObjectName(name, claimant.key.namespace)) is not None:
            return name
        for claim in self._claim_view.select_by(_BY_OWNER, claimant.uid):
            if is_made_for(claim, claimant.uid, entry):
                return claim.metadata.name
        return None

    async def _create(self, about: ApiObject, claimant: Claimant, entry: str, template_name: str) -> str:
        template = self._template_view.find(ObjectName(template_name, claimant.key.namespace))
        if template is None:
            missing = f'resourceclaimtemplate.resource.k8s.io "{template_name}" not found'
            self._complain(about, claimant, entry, f'resource claim template "{template_name}": {missing}')
            raise NotFound(missing)
        try:
            made = await self._make(claimant, entry, template)
        except (ApiError, Unreachable) as fault:
            self._complain(about, claimant, entry, f"create ResourceClaim : {fault}")
            raise
        self._claims.note(made)
        self._made.setdefault(claimant.uid, {})[entry] = made.metadata.name
        return made.metadata.name

    async def _make(self, claimant: Claimant, entry: str, template: ResourceClaimTemplate) -> ResourceClaim:
        """Make a claim, or find that it is made already. If its name is somebody else's there are others to try."""
        attempt = 0
        while True:
            claim = make_claim(claimant.owner, entry, template, attempt)
            try:
                made = await self._client.create(RESOURCE_CLAIM, claim)
            except AlreadyExists:
                found = await find_stored(self._client, RESOURCE_CLAIM, name_of(claim))
                if found is not None and is_made_for(found, claimant.uid, entry):
                    return found
                attempt += 1
                if found is None or attempt == _MOST_NAMES:
                    raise
            except (ApiError, Unreachable):
                self._metrics.count_claim_create(claim, claimant.owner, is_made=False)
                raise
            else:
                self._metrics.count_claim_create(claim, claimant.owner, is_made=True)
                return made

    def _complain(self, about: ApiObject, claimant: Claimant, entry: str, why: str) -> None:
        kind: AnyKind = POD_GROUP if claimant.key.is_group else POD
        message = f"{kind.name}ResourceClaim {entry}: {why}"
        self._recorder.tell(refer(kind, about), EventType.WARNING, "FailedResourceClaimCreation", message)

    async def _record_names(self, kind: Kind[K], claimant: Claimant, names: Mapping[str, str]) -> K | None:
        """Write names into a status, beside those that are there. Returns the object, None if it is gone."""
        key = claimant.key
        merged = {entry: name for entry, name in {**claimant.names, **names}.items() if name is not None}
        statuses = [{"name": entry, "resourceClaimName": merged[entry]} for entry in sorted(merged)]
        body = {
            "apiVersion": kind.api_version(kind.declared_version),
            "kind": kind.name,
            "metadata": {"name": key.name, "namespace": key.namespace, "uid": claimant.uid},
            "status": {"resourceClaimStatuses": statuses},
        }
        patch = Patch(PatchType.APPLY, msgspec.json.encode(body))
        options = WriteOptions(field_manager=_MANAGER, force=True)
        try:
            recorded = await self._client.patch(kind, key.object_name, patch, options, subresource="status")
        except NotFound:
            return None
        self._made.pop(claimant.uid, None)
        return recorded

    async def _reserve(self, pod: Pod, group: PodGroup | None) -> None:
        """Reserve what is allocated for a pod that somebody else than a scheduler placed."""
        for entry in pod.spec.resource_claims:
            choice = find_choice(pod, entry)
            claim = self._claims.find(ObjectName(choice.name, pod.metadata.namespace)) if choice else None
            holder = _choose_holder(pod, entry, group)
            if claim is None or not _lacks_reservation(claim, pod, holder):
                continue
            status = replace(claim.status, reserved_for=(*claim.status.reserved_for, holder.consumer))
            reserved = await self._client.update(RESOURCE_CLAIM, replace(claim, status=status), subresource="status")
            self._claims.note(reserved)


def _choose_holder(pod: Pod, entry: PodResourceClaim, group: PodGroup | None) -> Claimant:
    """Who owns and reserves the claim of an entry: the pod, or its group where they share it."""
    return describe_group(group) if group is not None and is_group_entry(entry, group) else describe_pod(pod)


def _copy_names(claimant: Claimant, group: Claimant, shared: Iterable[PodResourceClaim]) -> dict[str, str]:
    """Names that the group has for what a pod shares with it, where the pod has others or none."""
    names: dict[str, str] = {}
    for entry in shared:
        name = group.names.get(entry.name)
        if entry.resource_claim_template_name is not None and name and claimant.names.get(entry.name) != name:
            names[entry.name] = name
    return names


def _lacks_reservation(claim: ResourceClaim, pod: Pod, holder: Claimant) -> bool:
    """Whether a pod that has a node may not use an allocated claim yet."""
    if not pod.spec.node_name or claim.status.allocation is None or claim.metadata.deletion_timestamp is not None:
        return False
    return all(each.uid != holder.uid for each in claim.status.reserved_for)


def _index_by_owner(claim: ResourceClaim) -> Iterable[str]:
    return [each.uid for each in claim.metadata.owner_references if each.controller]

"""Claims from templates: each entry of a pod that names a template gets a claim of its own, recorded on the pod.

Between the claim and the record a crash may come: the claim is found again by its owner and its annotation. A pod that
was placed by hand also gets its reservations here; nothing is ever allocated here.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim
from dray.api.meta import OwnerReference
from dray.api.resource.allocation import ResourceClaimConsumerReference
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from dray.api.resource.podclaims import (
    POD_CLAIM_ANNOTATION,
    find_choice,
    is_controlled_by,
    is_finished,
    list_claim_names,
)
from dray.client.changes import Change
from dray.client.overlay import Overlay
from dray.client.port import ObjectName, Patch, PatchType, Unreachable, WriteOptions
from dray.client.recording import EventType, refer
from dray.client.view import name_of
from dray.controllers.commons import Commons
from dray.controllers.generatedclaims import make_claim
from dray.controllers.runtime import Controller
from dray.controllers.writing import find_stored
from dray.errors import ApiError, NotFound

__all__ = ["ClaimsFromTemplates"]

_WORKERS: Final = 50
"""As in Kubernetes. What they wait for is the server, which makes many writes durable in one go."""
_MANAGER: Final = "ResourceClaimController"
_PODS_BY_CLAIM: Final = "claims from templates: pods by claim"
_PODS_BY_TEMPLATE: Final = "claims from templates: pods by template"
_CLAIMS_BY_OWNER: Final = "claims from templates: claims by owner"


class ClaimsFromTemplates:
    """Makes claims for pods. Pods that need none cost one look at their spec."""

    def __init__(self, commons: Commons) -> None:
        self._client = commons.client
        self._metrics = commons.metrics
        self._recorder = commons.get_recorder("resource_claim")
        pods = commons.informers.get(POD)
        claims = commons.informers.get(RESOURCE_CLAIM)
        templates = commons.informers.get(RESOURCE_CLAIM_TEMPLATE)
        self.controller: Controller[ObjectName] = Controller(
            "claims from templates", self.reconcile, commons.effects, workers=_WORKERS
        )
        self._pods = Overlay(pods)
        self._claims = Overlay(claims)
        self._pod_view, self._claim_view, self._template_view = pods.view, claims.view, templates.view
        self._made: dict[str, dict[str, str]] = {}
        """By uid of the pod and entry: claims that were made and stand on no pod yet."""
        pods.view.add_index(_PODS_BY_CLAIM, _index_by_claim)
        pods.view.add_index(_PODS_BY_TEMPLATE, _index_by_template)
        claims.view.add_index(_CLAIMS_BY_OWNER, _index_by_owner)
        pods.add_handler(self._note_pod)
        claims.add_handler(self._note_claim)
        templates.add_handler(self._note_template)

    def _note_pod(self, change: Change[Pod]) -> None:
        pod = change.new
        if pod is None:
            self._made.pop(change.latest.metadata.uid, None)
        elif pod.spec.resource_claims:
            self._wake_if_due([pod])

    def _note_claim(self, change: Change[ResourceClaim]) -> None:
        self._wake_if_due(self._pod_view.select_by(_PODS_BY_CLAIM, _key(change.name)))

    def _note_template(self, change: Change[ResourceClaimTemplate]) -> None:
        if change.new is not None:
            self._wake_if_due(self._pod_view.select_by(_PODS_BY_TEMPLATE, _key(change.name)))

    def _wake_if_due(self, pods: Iterable[Pod]) -> None:
        for pod in pods:
            if self._is_due(pod):
                self.controller.wake(name_of(pod))

    def _is_due(self, pod: Pod) -> bool:
        """Whether a claim, its name or a reservation of a pod may be missing, as far as we know."""
        if pod.metadata.deletion_timestamp is not None or is_finished(pod):
            return False
        return any(self._is_missing(pod, entry) for entry in pod.spec.resource_claims)

    def _is_missing(self, pod: Pod, entry: PodResourceClaim) -> bool:
        choice = find_choice(pod, entry)
        if choice is None:
            return True
        if not choice.name:
            return False
        claim = self._claims.find(ObjectName(choice.name, pod.metadata.namespace))
        if choice.is_generated and (claim is None or not is_controlled_by(claim, pod.metadata.uid)):
            return True
        return claim is not None and _lacks_reservation(claim, pod)

    async def reconcile(self, name: ObjectName) -> None:
        """See that a pod has its claims, their names and, if it was placed already, its reservations."""
        pod = self._pods.find(name)
        if pod is None or not self._is_due(pod):
            return
        names: dict[str, str] = {}
        for entry in pod.spec.resource_claims:
            made = await self._provide(pod, entry)
            if made:
                names[entry.name] = made
        if names:
            recorded = await self._record_names(pod, names)
            if recorded is None:
                return
            pod = recorded
        if pod.spec.node_name:
            await self._reserve(pod)

    async def _provide(self, pod: Pod, entry: PodResourceClaim) -> str | None:
        """The name of the claim for an entry where the pod does not have it yet, None where nothing is missing."""
        template_name = entry.resource_claim_template_name
        if template_name is None:
            return None
        choice = find_choice(pod, entry)
        if choice is not None and (not choice.name or await self._is_sound(pod, choice.name)):
            return None
        found = self._find_made(pod, entry.name)
        if found is not None:
            return found
        return await self._create(pod, entry.name, template_name)

    async def _is_sound(self, pod: Pod, claim_name: str) -> bool:
        """Whether the claim is there and the pod's own; the view alone is not trusted to say no."""
        name = ObjectName(claim_name, pod.metadata.namespace)
        claim = self._claims.find(name)
        if claim is None:
            claim = await find_stored(self._client, RESOURCE_CLAIM, name)
            if claim is not None:
                self._claims.note(claim)
        return claim is not None and is_controlled_by(claim, pod.metadata.uid)

    def _find_made(self, pod: Pod, entry: str) -> str | None:
        """A claim that was made for an entry before, and did not make it onto the pod."""
        uid, namespace = pod.metadata.uid, pod.metadata.namespace
        name = self._made.get(uid, {}).get(entry)
        if name is not None and self._claims.find(ObjectName(name, namespace)) is not None:
            return name
        for claim in self._claim_view.select_by(_CLAIMS_BY_OWNER, uid):
            if claim.metadata.annotations.get(POD_CLAIM_ANNOTATION) == entry:
                return claim.metadata.name
        return None

    async def _create(self, pod: Pod, entry: str, template_name: str) -> str:
        template = self._template_view.find(ObjectName(template_name, pod.metadata.namespace))
        if template is None:
            missing = f'resourceclaimtemplate.resource.k8s.io "{template_name}" not found'
            self._complain(pod, entry, f'resource claim template "{template_name}": {missing}')
            raise NotFound(missing)
        owner = OwnerReference(
            api_version="v1", kind=POD.name, name=pod.metadata.name, uid=pod.metadata.uid, controller=True
        )
        claim = make_claim(owner, entry, template)
        try:
            made = await self._client.create(RESOURCE_CLAIM, claim)
        except (ApiError, Unreachable) as fault:
            self._metrics.count_claim_create(claim, owner, is_made=False)
            self._complain(pod, entry, f"create ResourceClaim : {fault}")
            raise
        self._metrics.count_claim_create(claim, owner, is_made=True)
        self._claims.note(made)
        self._made.setdefault(pod.metadata.uid, {})[entry] = made.metadata.name
        return made.metadata.name

    def _complain(self, pod: Pod, entry: str, why: str) -> None:
        message = f"PodResourceClaim {entry}: {why}"
        self._recorder.tell(refer(POD, pod), EventType.WARNING, "FailedResourceClaimCreation", message)

    async def _record_names(self, pod: Pod, names: Mapping[str, str]) -> Pod | None:
        """Write names on a pod, beside those that are there. None if the pod is gone."""
        meta = pod.metadata
        known = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
        merged = {entry: name for entry, name in {**known, **names}.items() if name is not None}
        statuses = [{"name": entry, "resourceClaimName": merged[entry]} for entry in sorted(merged)]
        body = {
            "apiVersion": "v1",
            "kind": POD.name,
            "metadata": {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid},
            "status": {"resourceClaimStatuses": statuses},
        }
        try:
            recorded = await self._client.patch(
                POD,
                name_of(pod),
                Patch(PatchType.APPLY, msgspec.json.encode(body)),
                WriteOptions(field_manager=_MANAGER, force=True),
                subresource="status",
            )
        except NotFound:
            return None
        self._pods.note(recorded)
        self._made.pop(meta.uid, None)
        return recorded

    async def _reserve(self, pod: Pod) -> None:
        """Reserve what is allocated for a pod that somebody else than a scheduler placed."""
        for entry in pod.spec.resource_claims:
            choice = find_choice(pod, entry)
            claim = self._claims.find(ObjectName(choice.name, pod.metadata.namespace)) if choice else None
            if claim is None or not _lacks_reservation(claim, pod):
                continue
            consumer = ResourceClaimConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)
            status = replace(claim.status, reserved_for=(*claim.status.reserved_for, consumer))
            self._claims.note(
                await self._client.update(RESOURCE_CLAIM, replace(claim, status=status), subresource="status")
            )


def _lacks_reservation(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether a pod that has a node may not use an allocated claim yet."""
    if not pod.spec.node_name or claim.status.allocation is None or claim.metadata.deletion_timestamp is not None:
        return False
    return all(each.uid != pod.metadata.uid for each in claim.status.reserved_for)


def _key(name: ObjectName) -> str:
    return f"{name.namespace}/{name.name}"


def _index_by_claim(pod: Pod) -> Iterable[str]:
    return [f"{pod.metadata.namespace}/{name}" for name in list_claim_names(pod)]


def _index_by_template(pod: Pod) -> Iterable[str]:
    namespace = pod.metadata.namespace
    names = (each.resource_claim_template_name for each in pod.spec.resource_claims)
    return [f"{namespace}/{name}" for name in names if name is not None]


def _index_by_owner(claim: ResourceClaim) -> Iterable[str]:
    return [each.uid for each in claim.metadata.owner_references if each.controller]

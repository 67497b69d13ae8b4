"""The claims of a pod: which they are, and whether they may be used by it."""

from __future__ import annotations

from typing import NamedTuple

from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim
from dray.api.resource.allocation import ResourceClaimConsumerReference
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.podclaims import find_controller
from dray.scheduler.core.claimbook import ClaimBook

__all__ = ["PodClaim", "Unresolved", "group_name_of", "is_reserved_for", "pod_consumer", "pod_ref", "resolve_claims"]

_GROUP_KIND = "PodGroup"
_GROUP_API = "scheduling.k8s.io"


class PodClaim(NamedTuple):
    """A claim of a pod, and the entry of the pod's spec that stands for it."""

    entry: str
    claim: ResourceClaim


class Unresolved(NamedTuple):
    """Why the claims of a pod cannot be told, in Kubernetes' words. `name` is the claim it is about, if it has one."""

    message: str
    name: str = ""


def pod_ref(pod: Pod) -> str:
    """Name a pod as messages do."""
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def group_name_of(pod: Pod) -> str:
    """The group of pods it belongs to; empty if to none."""
    group = pod.spec.scheduling_group
    return "" if group is None else group.pod_group_name or ""


def resolve_claims(pod: Pod, claims: ClaimBook) -> tuple[PodClaim, ...] | Unresolved:
    """Find the claims of a pod in the order of its spec. The first that cannot be used is the answer instead.

    Entries for which no claim is needed are left out. The claim for extended resources is not among them.
    """
    resolved: list[PodClaim] = []
    for entry in pod.spec.resource_claims:
        name, is_made = _name_claim(pod, entry)
        if isinstance(name, Unresolved):
            return name
        if name is None:
            continue
        claim = claims.find(pod.metadata.namespace, name)
        if claim is None:
            return Unresolved(f'could not find ResourceClaim "{pod.metadata.namespace}/{name}"', name)
        if claim.metadata.deletion_timestamp is not None:
            return Unresolved(f'resourceclaim "{name}" is being deleted', name)
        if is_made and not _belongs_to(claim, pod):
            return _not_the_owner(claim, pod)
        resolved.append(PodClaim(entry.name, claim))
    return tuple(resolved)


def _name_claim(pod: Pod, entry: PodResourceClaim) -> tuple[str | Unresolved | None, bool]:
    """The name of an entry's claim, None if it needs none; and whether it was made for the pod."""
    if entry.resource_claim_name:
        return entry.resource_claim_name, False
    if entry.resource_claim_template_name:
        for status in pod.status.resource_claim_statuses:
            if status.name == entry.name:
                return status.resource_claim_name, True
        return Unresolved(f'pod "{pod_ref(pod)}": ResourceClaim not created yet'), True
    text = f'pod "{pod_ref(pod)}", spec.resourceClaim "{entry.name}": none of the supported fields are set'
    return Unresolved(text), False


def _belongs_to(claim: ResourceClaim, pod: Pod) -> bool:
    owner = find_controller(claim.metadata)
    if owner is None:
        return False
    if owner.uid == pod.metadata.uid:
        return True
    group = group_name_of(pod)
    is_group = owner.kind == _GROUP_KIND and owner.api_version.partition("/")[0] == _GROUP_API
    return bool(group) and is_group and owner.name == group


def _not_the_owner(claim: ResourceClaim, pod: Pod) -> Unresolved:
    group = group_name_of(pod)
    whose = f"neither Pod nor PodGroup {group} is the owner" if group else "Pod is not owner"
    name = f"{claim.metadata.namespace}/{claim.metadata.name}"
    return Unresolved(f"ResourceClaim {name} was not created for Pod {pod_ref(pod)} ({whose})", claim.metadata.name)


def pod_consumer(pod: Pod) -> ResourceClaimConsumerReference:
    """How a claim names the pod it is reserved for."""
    return ResourceClaimConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)


def is_reserved_for(claim: ResourceClaim, consumer: ResourceClaimConsumerReference) -> bool:
    """Whether the claim names the consumer. Groups are known by name alone: pods do not know the uid of theirs."""
    if consumer.api_group:
        return any(
            (each.api_group, each.resource, each.name) == (consumer.api_group, consumer.resource, consumer.name)
            for each in claim.status.reserved_for
        )
    return any(each.uid == consumer.uid for each in claim.status.reserved_for)

"""Which claims a pod uses: what scheduler, controllers and node agents must read alike out of pods and claims."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim
from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.resource.claim import ResourceClaim

__all__ = [
    "EXTENDED_RESOURCE_ANNOTATION",
    "FINALIZER",
    "POD_CLAIM_ANNOTATION",
    "ClaimChoice",
    "find_choice",
    "find_controller",
    "is_controlled_by",
    "is_finished",
    "is_terminal",
    "list_claim_names",
]

FINALIZER: Final = "resource.kubernetes.io/delete-protection"
"""Holds a claim while it has devices. Who allocates adds it before; who clears the allocation for good removes it."""
POD_CLAIM_ANNOTATION: Final = "resource.kubernetes.io/pod-claim-name"
"""On claims made from templates: the entry of the pod, or of the group, that a claim was made for."""
EXTENDED_RESOURCE_ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"
"""`true` on claims that the scheduler made for extended resources."""


class ClaimChoice(NamedTuple):
    """The claim that stands behind one entry of a pod."""

    name: str
    """Empty where the entry was found to need none."""
    is_generated: bool
    """Whether the claim counts only if the pod, or its group, controls it: its name alone proves nothing."""


def find_choice(pod: Pod, entry: PodResourceClaim) -> ClaimChoice | None:
    """The claim behind an entry, None while its name is not known yet."""
    if entry.resource_claim_name is not None:
        return ClaimChoice(entry.resource_claim_name, is_generated=False)
    for status in pod.status.resource_claim_statuses:
        if status.name == entry.name:
            return ClaimChoice(status.resource_claim_name or "", is_generated=True)
    return None


def list_claim_names(pod: Pod) -> Iterator[str]:
    """The names of all claims that a pod uses as far as they are known, the one for extended resources included."""
    for entry in pod.spec.resource_claims:
        choice = find_choice(pod, entry)
        if choice is not None and choice.name:
            yield choice.name
    extended = pod.status.extended_resource_claim_status
    if extended is not None:
        yield extended.resource_claim_name


def find_controller(meta: ObjectMeta) -> OwnerReference | None:
    """The owner that manages an object."""
    return next((each for each in meta.owner_references if each.controller), None)


def is_controlled_by(claim: ResourceClaim, uid: str) -> bool:
    """Whether a claim was made for the object of that uid."""
    controller = find_controller(claim.metadata)
    return controller is not None and controller.uid == uid


def is_terminal(pod: Pod) -> bool:
    """Whether no container of the pod runs or will run."""
    return pod.status.phase in ("Succeeded", "Failed")


def is_finished(pod: Pod) -> bool:
    """Whether a pod needs its claims no more: it ended, or goes without ever having had a node.

    A pod that goes and has a node needs them until the node says that it ended: nobody else can know.
    """
    return is_terminal(pod) or (pod.metadata.deletion_timestamp is not None and not pod.spec.node_name)

"""Who claims are made for: pods, and groups of pods that share theirs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim
from dray.api.core.podstatus import PodResourceClaimStatus
from dray.api.meta import OwnerReference
from dray.api.resource.allocation import ResourceClaimConsumerReference
from dray.api.resource.podclaims import list_claim_names
from dray.api.scheduling.kinds import GROUP, POD_GROUP
from dray.api.scheduling.podgroup import PodGroup, PodGroupResourceClaim, PodGroupResourceClaimStatus
from dray.client.port import ObjectName

__all__ = [
    "PODS_BY_CLAIM",
    "Claimant",
    "ClaimantKey",
    "describe_group",
    "describe_pod",
    "find_group_name",
    "index_groups_by_claim",
    "index_groups_by_template",
    "index_pods_by_claim",
    "index_pods_by_group",
    "index_pods_by_template",
    "is_group_entry",
    "path_of",
]

PODS_BY_CLAIM: Final = "pods by claim"
"""Name of the index of pods by the claims they use, which several controllers share."""

Entry = TypeVar("Entry", PodResourceClaim, PodGroupResourceClaim)


class ClaimantKey(NamedTuple):
    """Which claimant a controller looks at."""

    is_group: bool
    namespace: str
    name: str

    @property
    def object_name(self) -> ObjectName:
        """The name within its kind."""
        return ObjectName(self.name, self.namespace)

    def __str__(self) -> str:
        return f"{'podgroup' if self.is_group else 'pod'}:{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Claimant:
    """What pods and groups have in common as owners of claims. `names` is what their status says by entry."""

    key: ClaimantKey
    uid: str
    entries: tuple[PodResourceClaim | PodGroupResourceClaim, ...]
    names: Mapping[str, str | None]

    @property
    def owner(self) -> OwnerReference:
        """The reference by which claims belong to it."""
        kind = POD_GROUP if self.key.is_group else POD
        version = kind.api_version(kind.storage_version)
        return OwnerReference(api_version=version, kind=kind.name, name=self.key.name, uid=self.uid, controller=True)

    @property
    def consumer(self) -> ResourceClaimConsumerReference:
        """The reference by which claims are reserved for it."""
        group, resource = (GROUP, POD_GROUP.plural) if self.key.is_group else ("", POD.plural)
        return ResourceClaimConsumerReference(api_group=group, resource=resource, name=self.key.name, uid=self.uid)


def describe_pod(pod: Pod) -> Claimant:
    """A pod as a claimant."""
    meta = pod.metadata
    key = ClaimantKey(is_group=False, namespace=meta.namespace, name=meta.name)
    return Claimant(key, meta.uid, pod.spec.resource_claims, _read_names(pod.status.resource_claim_statuses))


def describe_group(group: PodGroup) -> Claimant:
    """A group as a claimant."""
    meta = group.metadata
    key = ClaimantKey(is_group=True, namespace=meta.namespace, name=meta.name)
    return Claimant(key, meta.uid, group.spec.resource_claims, _read_names(group.status.resource_claim_statuses))


def _read_names(
    statuses: Iterable[PodResourceClaimStatus | PodGroupResourceClaimStatus],
) -> dict[str, str | None]:
    return {each.name: each.resource_claim_name for each in statuses}


def find_group_name(pod: Pod) -> ObjectName | None:
    """The group that a pod belongs to."""
    group = pod.spec.scheduling_group
    if group is None or not group.pod_group_name:
        return None
    return ObjectName(group.pod_group_name, pod.metadata.namespace)


def is_group_entry(entry: PodResourceClaim | PodGroupResourceClaim, group: PodGroup | None) -> bool:
    """Whether a pod's entry stands for a claim of its group: the group has one that equals it."""
    if group is None:
        return False
    return any(
        (each.name, each.resource_claim_name, each.resource_claim_template_name)
        == (entry.name, entry.resource_claim_name, entry.resource_claim_template_name)
        for each in group.spec.resource_claims
    )


def path_of(name: ObjectName) -> str:
    """How indexes name an object."""
    return f"{name.namespace}/{name.name}"


def index_pods_by_claim(pod: Pod) -> Iterable[str]:
    """Index of pods by the claims they use."""
    return [f"{pod.metadata.namespace}/{name}" for name in list_claim_names(pod)]


def index_pods_by_template(pod: Pod) -> Iterable[str]:
    """Index of pods by the templates they name."""
    return _list_templates(pod.metadata.namespace, pod.spec.resource_claims)


def index_pods_by_group(pod: Pod) -> Iterable[str]:
    """Index of pods by their group."""
    name = find_group_name(pod)
    return () if name is None else (path_of(name),)


def index_groups_by_claim(group: PodGroup) -> Iterable[str]:
    """Index of groups by the claims they share."""
    named = [each.resource_claim_name for each in group.spec.resource_claims]
    made = [each.resource_claim_name for each in group.status.resource_claim_statuses]
    return [f"{group.metadata.namespace}/{name}" for name in (*named, *made) if name]


def index_groups_by_template(group: PodGroup) -> Iterable[str]:
    """Index of groups by the templates they name."""
    return _list_templates(group.metadata.namespace, group.spec.resource_claims)


def _list_templates(namespace: str, entries: Iterable[Entry]) -> list[str]:
    names = (each.resource_claim_template_name for each in entries)
    return [f"{namespace}/{name}" for name in names if name is not None]

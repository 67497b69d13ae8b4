"""Which kinds Kubernetes' API has, served here or not: one of them where another belongs is no misspelt one."""

from collections.abc import Mapping
from typing import Final

__all__ = ["is_known_kind"]

_OPTIONS: Final = frozenset(
    {"CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent"}
)
"""In every group version."""
_RESOURCE: Final = frozenset({"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"})
_KINDS: Final[Mapping[str, frozenset[str]]] = {
    "apps/v1": frozenset({"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}),
    "authentication.k8s.io/v1": frozenset({"SelfSubjectReview", "TokenRequest", "TokenReview"}),
    "authorization.k8s.io/v1": frozenset(
        {"LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"}
    ),
    "autoscaling/v1": frozenset({"HorizontalPodAutoscaler", "Scale"}),
    "autoscaling/v2": frozenset({"HorizontalPodAutoscaler"}),
    "batch/v1": frozenset({"CronJob", "Job"}),
    "coordination.k8s.io/v1": frozenset({"Lease"}),
    "coordination.k8s.io/v1alpha2": frozenset({"LeaseCandidate"}),
    "coordination.k8s.io/v1beta1": frozenset({"LeaseCandidate"}),
    "events.k8s.io/v1": frozenset({"Event"}),
    "policy/v1": frozenset({"Eviction", "PodDisruptionBudget"}),
    "rbac.authorization.k8s.io/v1": frozenset({"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}),
    "resource.k8s.io/v1": _RESOURCE | {"DeviceTaintRule"},
    "resource.k8s.io/v1alpha3": frozenset({"DeviceTaintRule", "ResourcePoolStatusRequest"}),
    "resource.k8s.io/v1beta1": _RESOURCE,
    "resource.k8s.io/v1beta2": _RESOURCE | {"DeviceTaintRule"},
    "scheduling.k8s.io/v1": frozenset({"PriorityClass"}),
    "scheduling.k8s.io/v1alpha3": frozenset({"PodGroup", "Workload"}),
    "scheduling.k8s.io/v1beta1": frozenset({"PodGroup", "Workload"}),
    "v1": frozenset(
        {
            *("Binding", "ComponentStatus", "ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node"),
            *("NodeProxyOptions", "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodAttachOptions"),
            *("PodExecOptions", "PodPortForwardOptions", "PodProxyOptions", "PodTemplate", "ReplicationController"),
            *("ResourceQuota", "Secret", "Service", "ServiceAccount", "ServiceProxyOptions", "List", "Status"),
        }
    ),
}


def is_known_kind(api_version: str, kind: str) -> bool:
    """Whether Kubernetes 1.37 has a kind, or lists of it, in a group version."""
    kinds = _KINDS.get(api_version, frozenset())
    return kind in kinds or kind.removesuffix("List") in kinds or (bool(kinds) and kind in _OPTIONS)

"""The checks of a pod, for each way of writing it."""

from dray.api.checks import CheckContext
from dray.api.core.checks.podspec import pod_spec_faults
from dray.api.core.checks.podstatus import nomination_faults, pod_status_faults, pod_transition_faults
from dray.api.core.checks.podupdate import ephemeral_update_faults, pod_update_faults, resize_faults
from dray.api.core.pod import Pod
from dray.errors import FieldError, forbidden
from dray.values.fieldpath import SPEC, STATUS

__all__ = [
    "check_pod",
    "check_pod_create",
    "check_pod_ephemeral_containers",
    "check_pod_resize",
    "check_pod_status",
    "check_pod_update",
]

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
"""Marks the image of a static pod, which the node agent runs without being told."""


def check_pod(new: Pod, old: Pod | None, context: CheckContext) -> list[FieldError]:
    """What holds of every pod."""
    is_mirror = MIRROR_ANNOTATION in new.metadata.annotations
    return list(pod_spec_faults(new.spec, SPEC, is_mirror=is_mirror))


def check_pod_create(new: Pod, old: Pod | None, context: CheckContext) -> list[FieldError]:
    """What holds of a new pod besides."""
    faults: list[FieldError] = []
    if new.spec.ephemeral_containers:
        hint = "use `kubectl debug` on the running pod"
        faults.append(forbidden(SPEC / "ephemeralContainers", "cannot be set on create", hint=hint))
    if new.spec.node_name and new.spec.scheduling_gates:
        faults.append(forbidden(SPEC / "nodeName", "cannot be set until all schedulingGates have been cleared"))
    return faults


def check_pod_update(new: Pod, old: Pod | None, context: CheckContext) -> list[FieldError]:
    """What may not change."""
    return [] if old is None else list(pod_update_faults(new.spec, old.spec, SPEC))


def check_pod_status(new: Pod, old: Pod | None, context: CheckContext) -> list[FieldError]:
    """What may be said of the pod, and what may be said after what was said before."""
    faults = list(pod_status_faults(new, STATUS))
    if old is None:
        return faults
    return [*pod_transition_faults(new, old, STATUS), *faults, *nomination_faults(new, old, STATUS)]


def check_pod_ephemeral_containers(new: Pod, old: Pod | None, context: CheckContext) -> list[FieldError]:
    """What the subresource `ephemeralcontainers` may do."""
    faults = check_pod(new, old, context)
    return faults if old is None else [*faults, *ephemeral_update_faults(new.spec, old.spec, SPEC)]


def check_pod_resize(new: Pod, old: Pod | None, context: CheckContext) -> list[FieldError]:
    """What the subresource `resize` may do."""
    faults = check_pod(new, old, context)
    return faults if old is None else [*faults, *resize_faults(new.spec, old.spec, SPEC)]

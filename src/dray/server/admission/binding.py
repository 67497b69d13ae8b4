"""Binding: the request that puts a pod on a node, once and for all."""

from collections.abc import Sequence

from msgspec.structs import replace

from dray.api.core.binding import Binding
from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodCondition
from dray.errors import Conflict, ObjectRef
from dray.values.times import Time

__all__ = ["bind_pod"]


def bind_pod(pod: Pod, binding: Binding, now: Time) -> Pod:
    """The pod on its node. Raises Conflict if it is on one, may not be placed yet, is going, or is another pod.

    The node need not exist. What the binding says in labels and annotations is added to the pod, and no node is being
    cleared for it any more.
    """
    _require_same(pod, binding)
    reason = _find_obstacle(pod)
    if reason is not None:
        raise _refuse(pod, "pods/binding", reason)
    meta = replace(
        pod.metadata,
        labels={**pod.metadata.labels, **binding.metadata.labels},
        annotations={**pod.metadata.annotations, **binding.metadata.annotations},
    )
    conditions = _set_scheduled(pod.status.conditions, now)
    status = replace(pod.status, conditions=conditions, nominated_node_name="")
    return replace(pod, metadata=meta, spec=replace(pod.spec, node_name=binding.target.name), status=status)


def _refuse(pod: Pod, resource: str, reason: str) -> Conflict:
    name = pod.metadata.name
    about = ObjectRef(kind="Pod", resource=resource, namespace=pod.metadata.namespace, name=name)
    return Conflict(f'Operation cannot be fulfilled on {resource} "{name}": {reason}', about)


def _require_same(pod: Pod, binding: Binding) -> None:
    """A binding that names a uid or a version is meant for that pod alone."""
    wanted, meta = binding.metadata, pod.metadata
    for what, named, stored in (
        ("UID", wanted.uid, meta.uid),
        ("ResourceVersion", wanted.resource_version, meta.resource_version),
    ):
        if named and named != stored:
            reason = (
                f"StorageError: invalid object, Code: 4, Key: /registry/pods/{meta.namespace}/{meta.name}, "
                f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {what} in precondition: {named}, "
                f"{what} in object meta: {stored}"
            )
            raise _refuse(pod, "pods", reason)


def _find_obstacle(pod: Pod) -> str | None:
    name = pod.metadata.name
    if pod.metadata.deletion_timestamp is not None:
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if pod.spec.node_name:
        return f'pod {name} is already assigned to node "{pod.spec.node_name}"'
    return f"pod {name} has non-empty .spec.schedulingGates" if pod.spec.scheduling_gates else None


def _set_scheduled(conditions: Sequence[PodCondition], now: Time) -> tuple[PodCondition, ...]:
    scheduled = PodCondition(type="PodScheduled", status="True", last_transition_time=now)
    if all(each.type != scheduled.type for each in conditions):
        return (*conditions, scheduled)
    return tuple(scheduled if each.type == scheduled.type else each for each in conditions)

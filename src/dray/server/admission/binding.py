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

    The node need not exist. What the binding says in labels and annotations is added to the pod.
    """
    reason = _find_obstacle(pod, binding)
    if reason is not None:
        name = pod.metadata.name
        about = ObjectRef(kind="Pod", resource="pods/binding", namespace=pod.metadata.namespace, name=name)
        raise Conflict(f'Operation cannot be fulfilled on pods/binding "{name}": {reason}', about)
    meta = replace(
        pod.metadata,
        labels={**pod.metadata.labels, **binding.metadata.labels},
        annotations={**pod.metadata.annotations, **binding.metadata.annotations},
    )
    status = replace(pod.status, conditions=_set_scheduled(pod.status.conditions, now))
    return replace(pod, metadata=meta, spec=replace(pod.spec, node_name=binding.target.name), status=status)


def _find_obstacle(pod: Pod, binding: Binding) -> str | None:
    name, wanted = pod.metadata.name, binding.metadata
    if wanted.uid and wanted.uid != pod.metadata.uid:
        return f"Precondition failed: UID in precondition: {wanted.uid}, UID in object meta: {pod.metadata.uid}"
    if wanted.resource_version and wanted.resource_version != pod.metadata.resource_version:
        versions = f"{wanted.resource_version}, ResourceVersion in object meta: {pod.metadata.resource_version}"
        return f"Precondition failed: ResourceVersion in precondition: {versions}"
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

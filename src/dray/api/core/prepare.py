"""What each way of writing may not touch, and what the server keeps up itself.

An update of the object leaves its status as stored; an update of the status leaves the rest. A changed spec counts as a
new generation for the kinds that count them.
"""

from msgspec.structs import replace

from dray.api.core.labelkeys import apply_label_keys
from dray.api.core.namespace import Namespace, NamespaceStatus
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.core.podresources import quality_of_service
from dray.api.core.podstatus import PodCondition, PodStatus
from dray.api.core.resourcequota import ResourceQuota, ResourceQuotaStatus
from dray.api.core.service import Service
from dray.api.core.servicespec import ServiceStatus
from dray.values.times import Time

__all__ = [
    "prepare_namespace_create",
    "prepare_namespace_finalize",
    "prepare_namespace_status",
    "prepare_namespace_update",
    "prepare_node_status",
    "prepare_node_update",
    "prepare_pod_create",
    "prepare_pod_status",
    "prepare_pod_update",
    "prepare_quota_create",
    "prepare_quota_status",
    "prepare_quota_update",
    "prepare_service_create",
    "prepare_service_status",
    "prepare_service_update",
]

_CONTENT_FINALIZER = "kubernetes"
_GATED = PodCondition(
    type="PodScheduled",
    status="False",
    reason="SchedulingGated",
    message="Scheduling is blocked due to non-empty scheduling gates",
)


def prepare_pod_create(new: Pod) -> Pod:
    """A pod begins as Pending, with the quality of service its amounts give it; its label keys get their values.

    No time to end in good order is less than a second, unless it is none.
    """
    gated = replace(_GATED, last_transition_time=new.metadata.creation_timestamp)
    conditions = (gated,) if new.spec.scheduling_gates else ()
    status = PodStatus(phase="Pending", qos_class=quality_of_service(new.spec), conditions=conditions)
    spec = apply_label_keys(new.spec, new.metadata.labels)
    if (spec.termination_grace_period_seconds or 0) < 0:
        spec = replace(spec, termination_grace_period_seconds=1)
    return replace(new, spec=spec, status=status)


def prepare_pod_update(new: Pod, old: Pod, now: Time) -> Pod:
    """The status stays."""
    generation = old.metadata.generation + (new.spec != old.spec)
    return replace(new, status=old.status, metadata=replace(new.metadata, generation=generation))


def prepare_pod_status(new: Pod, old: Pod, now: Time) -> Pod:
    """The spec stays, as do the owners and the time it is to go; the rest of the metadata is taken."""
    status = new.status
    if not status.qos_class:
        status = replace(status, qos_class=old.status.qos_class)
    metadata = replace(
        new.metadata,
        owner_references=old.metadata.owner_references,
        deletion_timestamp=old.metadata.deletion_timestamp,
    )
    return replace(new, spec=old.spec, status=status, metadata=metadata)


def prepare_node_update(new: Node, old: Node, now: Time) -> Node:
    """The status stays."""
    return replace(new, status=old.status)


def prepare_node_status(new: Node, old: Node, now: Time) -> Node:
    """The spec stays; labels and annotations are taken, because the node agent writes them this way."""
    return replace(new, spec=old.spec)


def prepare_namespace_create(new: Namespace) -> Namespace:
    """A namespace begins as Active and is held by its content."""
    finalizers = new.spec.finalizers
    if _CONTENT_FINALIZER not in finalizers:
        finalizers = (*finalizers, _CONTENT_FINALIZER)
    return replace(new, spec=replace(new.spec, finalizers=finalizers), status=NamespaceStatus(phase="Active"))


def prepare_namespace_update(new: Namespace, old: Namespace, now: Time) -> Namespace:
    """Status and finalizers stay."""
    return replace(new, spec=replace(new.spec, finalizers=old.spec.finalizers), status=old.status)


def prepare_namespace_status(new: Namespace, old: Namespace, now: Time) -> Namespace:
    """The spec stays; a namespace of which nothing is said is active."""
    status = new.status if new.status.phase else replace(new.status, phase="Active")
    return replace(new, spec=old.spec, status=status)


def prepare_namespace_finalize(new: Namespace, old: Namespace, now: Time) -> Namespace:
    """The subresource `finalize` is the one way to the finalizers; the status stays."""
    return replace(new, status=old.status)


def prepare_quota_create(new: ResourceQuota) -> ResourceQuota:
    """A controller counts first."""
    return replace(new, status=ResourceQuotaStatus())


def prepare_quota_update(new: ResourceQuota, old: ResourceQuota, now: Time) -> ResourceQuota:
    """The status stays."""
    return replace(new, status=old.status)


def prepare_quota_status(new: ResourceQuota, old: ResourceQuota, now: Time) -> ResourceQuota:
    """The spec stays."""
    return replace(new, spec=old.spec)


def prepare_service_create(new: Service) -> Service:
    """No load balancer knows of it yet."""
    return replace(new, status=ServiceStatus())


def prepare_service_update(new: Service, old: Service, now: Time) -> Service:
    """The status stays."""
    return replace(new, status=old.status)


def prepare_service_status(new: Service, old: Service, now: Time) -> Service:
    """The spec stays."""
    return replace(new, spec=old.spec)

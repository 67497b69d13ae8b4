"""The kinds of `scheduling.k8s.io`, and what belongs to each."""

from msgspec.structs import replace

from dray.api.columns import AGE, NAME, Column
from dray.api.kind import STATUS, Kind, Scope, ServedVersion
from dray.api.resource.prepare import restore_metadata
from dray.api.scheduling.checks import check_priority_class, check_priority_class_update
from dray.api.scheduling.groupchecks import (
    check_pod_group,
    check_pod_group_status,
    check_pod_group_update,
    check_workload,
    check_workload_update,
)
from dray.api.scheduling.podgroup import DisruptionMode, PodGroup, PodGroupStatus, SingleDisruptionMode
from dray.api.scheduling.priorityclass import PriorityClass
from dray.api.scheduling.workload import Workload
from dray.values.times import Time

__all__ = ["GROUP", "KINDS", "POD_GROUP", "POD_GROUP_FINALIZER", "PRIORITY_CLASS", "WORKLOAD"]

GROUP = "scheduling.k8s.io"


def _default_class(new: PriorityClass, now: Time) -> PriorityClass:
    return new if new.preemption_policy is not None else replace(new, preemption_policy="PreemptLowerPriority")


PRIORITY_CLASS: Kind[PriorityClass] = Kind(
    struct=PriorityClass,
    group=GROUP,
    plural="priorityclasses",
    singular="priorityclass",
    scope=Scope.CLUSTER,
    versions=(ServedVersion("v1", delete_returns_object=False),),
    storage_version="v1",
    short_names=("pc",),
    counts_generations=True,
    default=_default_class,
    create_checks=(check_priority_class,),
    update_checks=(check_priority_class, check_priority_class_update),
    columns=(
        NAME,
        Column("Value", lambda item, now: item.value, type="integer", description="The priority."),
        Column(
            "Global-Default",
            lambda item, now: item.global_default,
            type="boolean",
            description="Whether pods without a class get this one.",
        ),
        AGE,
        Column(
            "PreemptionPolicy",
            lambda item, now: item.preemption_policy or "",
            description="Whether pods of the class push others off a node.",
        ),
    ),
)

POD_GROUP_FINALIZER = "scheduling.k8s.io/podgroup-protection"
"""Holds a group while pods refer to it that have not ended. Every new group has it."""

_GROUP_VERSIONS = (
    ServedVersion("v1beta1", unconditional_update=False),
    ServedVersion("v1alpha3", unconditional_update=False),
)


def _default_group(new: PodGroup, now: Time) -> PodGroup:
    if new.spec.disruption_mode is not None:
        return new
    return replace(new, spec=replace(new.spec, disruption_mode=DisruptionMode(single=SingleDisruptionMode())))


def _prepare_group_create(new: PodGroup) -> PodGroup:
    """Start protected, and without a status."""
    finalizers = new.metadata.finalizers
    if POD_GROUP_FINALIZER not in finalizers:
        finalizers = (*finalizers, POD_GROUP_FINALIZER)
    return replace(new, metadata=replace(new.metadata, finalizers=finalizers), status=PodGroupStatus())


def _prepare_group_update(new: PodGroup, old: PodGroup, now: Time) -> PodGroup:
    """Keep the stored status."""
    return replace(new, status=old.status)


def _prepare_group_status(new: PodGroup, old: PodGroup, now: Time) -> PodGroup:
    """Keep all but the status."""
    return replace(new, metadata=restore_metadata(new.metadata, old.metadata), spec=old.spec)


def _show_group_state(group: PodGroup) -> str:
    conditions = {each.type: each for each in group.status.conditions}
    disrupted, scheduled = conditions.get("DisruptionTarget"), conditions.get("PodGroupInitiallyScheduled")
    if disrupted is not None:
        return disrupted.reason
    if scheduled is None:
        return "Pending"
    return "Scheduled" if scheduled.status == "True" else "Unschedulable"


POD_GROUP: Kind[PodGroup] = Kind(
    struct=PodGroup,
    group=GROUP,
    plural="podgroups",
    singular="podgroup",
    scope=Scope.NAMESPACED,
    versions=_GROUP_VERSIONS,
    storage_version="v1beta1",
    subresources=(STATUS,),
    default=_default_group,
    prepare_create=_prepare_group_create,
    prepare_update=_prepare_group_update,
    prepare_status=_prepare_group_status,
    create_checks=(check_pod_group,),
    update_checks=(check_pod_group, check_pod_group_update),
    status_checks=(check_pod_group_status,),
    columns=(
        NAME,
        Column(
            "Policy",
            lambda group, now: "Gang" if group.spec.scheduling_policy.gang is not None else "Basic",
            description="Whether the pods are scheduled together or one by one.",
        ),
        Column(
            "Workload",
            lambda group, now: group.spec.workload_ref.workload_name if group.spec.workload_ref else "<none>",
            description="The workload that the group was made from.",
        ),
        Column(
            "Status",
            lambda group, now: _show_group_state(group),
            description="Whether the group has been scheduled, or why it is disrupted.",
        ),
        AGE,
    ),
)

WORKLOAD: Kind[Workload] = Kind(
    struct=Workload,
    group=GROUP,
    plural="workloads",
    singular="workload",
    scope=Scope.NAMESPACED,
    versions=_GROUP_VERSIONS,
    storage_version="v1beta1",
    create_checks=(check_workload,),
    update_checks=(check_workload, check_workload_update),
)

KINDS = (POD_GROUP, PRIORITY_CLASS, WORKLOAD)
"""All kinds of the group, in the order in which discovery lists them."""

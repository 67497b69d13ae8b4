"""`Workload`: the patterns of the groups of pods that make up one application."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.scheduling.podgroup import (
    MERGE_BY_NAME,
    DisruptionMode,
    PodGroupResourceClaim,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
)
from dray.api.struct import REQUIRED, ApiStruct, Int32, always, list_map

__all__ = ["PodGroupTemplate", "Workload", "WorkloadControllerReference", "WorkloadSpec"]


class WorkloadControllerReference(ApiStruct):
    """The object that the workload is the plan of, such as a Job."""

    api_group: Annotated[str, Meta(description="API group of the object; empty is the core group.")] = ""
    kind: Annotated[str, Meta(description="Kind of the object.", extra=REQUIRED)] = always(str)
    name: Annotated[str, Meta(description="Name of the object.", extra=REQUIRED)] = always(str)


class PodGroupTemplate(ApiStruct):
    """The pattern of some groups of pods. Whoever makes a group copies it."""

    name: Annotated[str, Meta(description="Name within the workload; a DNS label.", extra=REQUIRED)] = always(str)
    scheduling_policy: Annotated[
        PodGroupSchedulingPolicy, Meta(description="How the pods are scheduled.", extra=REQUIRED)
    ] = always(PodGroupSchedulingPolicy)
    scheduling_constraints: Annotated[
        PodGroupSchedulingConstraints | None, Meta(description="Where the pods may be, seen from the group.")
    ] = None
    resource_claims: Annotated[
        tuple[PodGroupResourceClaim, ...],
        Meta(description="Claims that the pods of one group share. At most 4.", extra=MERGE_BY_NAME),
    ] = ()
    disruption_mode: Annotated[
        DisruptionMode | None, Meta(description="How preemption may disrupt a group; absent is one pod at a time.")
    ] = None
    priority_class_name: Annotated[str, Meta(description="PriorityClass of the groups.")] = ""
    priority: Annotated[Int32 | None, Meta(description="Priority of the groups.")] = None
    preemption_policy: Annotated[
        str | None,
        Meta(
            description="Whether groups push others off nodes.",
            extra={"enum": ("Never", "PreemptLowerPriority")},
        ),
    ] = None


class WorkloadSpec(ApiStruct):
    """The patterns of the groups."""

    controller_ref: Annotated[
        WorkloadControllerReference | None, Meta(description="The object that the workload is the plan of.")
    ] = None
    pod_group_templates: Annotated[
        tuple[PodGroupTemplate, ...],
        Meta(
            description="Patterns of groups, 1 to 8. None can be added or removed later.",
            extra=list_map("name", patch="") | REQUIRED,
        ),
    ] = ()


class Workload(ApiObject):
    """The plan of an application: the groups of pods it consists of. Nothing is made from it by itself."""

    spec: Annotated[WorkloadSpec, Meta(description="The groups.", extra=REQUIRED)] = always(WorkloadSpec)

"""`PodGroup`: pods that are scheduled together, and the claims that they share."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject, Condition
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, always, list_map

__all__ = [
    "MERGE_BY_NAME",
    "AllDisruptionMode",
    "BasicSchedulingPolicy",
    "DisruptionMode",
    "GangSchedulingPolicy",
    "PodGroup",
    "PodGroupResourceClaim",
    "PodGroupResourceClaimStatus",
    "PodGroupSchedulingConstraints",
    "PodGroupSchedulingPolicy",
    "PodGroupSpec",
    "PodGroupStatus",
    "SingleDisruptionMode",
    "TopologyConstraint",
    "WorkloadReference",
]

MERGE_BY_NAME = list_map("name", patch="merge,retainKeys")


class BasicSchedulingPolicy(ApiStruct):
    """Each pod is scheduled as if it stood alone."""


class GangSchedulingPolicy(ApiStruct):
    """All or nothing: no pod is bound until enough of them can be."""

    min_count: Annotated[
        Int32, Meta(description="Pods that must be placed together; at least 1. May change later.", extra=REQUIRED)
    ] = always(int)


class PodGroupSchedulingPolicy(ApiStruct):
    """How the pods are scheduled. Exactly one member is set, and always the same one."""

    basic: Annotated[BasicSchedulingPolicy | None, Meta(description="Pod by pod.")] = None
    gang: Annotated[GangSchedulingPolicy | None, Meta(description="All or nothing.")] = None


class TopologyConstraint(ApiStruct):
    """A domain of nodes that all pods of the group must share."""

    key: Annotated[
        str, Meta(description="Label of nodes whose value must be the same for all pods.", extra=REQUIRED)
    ] = always(str)


class PodGroupSchedulingConstraints(ApiStruct):
    """Where the pods may be, seen from the group."""

    topology: Annotated[
        tuple[TopologyConstraint, ...], Meta(description="Domains to share. At most one.", extra=ATOMIC)
    ] = ()


class SingleDisruptionMode(ApiStruct):
    """Pods may be disrupted one by one."""


class AllDisruptionMode(ApiStruct):
    """Pods are disrupted together or not at all."""


class DisruptionMode(ApiStruct):
    """How preemption may disrupt the group. Exactly one member is set."""

    single: Annotated[SingleDisruptionMode | None, Meta(description="One pod at a time.")] = None
    all: Annotated[AllDisruptionMode | None, Meta(description="The whole group.")] = None


class PodGroupResourceClaim(ApiStruct):
    """A claim that the pods of the group share; a pod takes part if it has an entry that equals this one.

    Exactly one of `resource_claim_name` and `resource_claim_template_name` is set.
    """

    name: Annotated[str, Meta(description="Name within the group; a DNS label.", extra=REQUIRED)] = always(str)
    resource_claim_name: Annotated[str | None, Meta(description="A ResourceClaim in the group's namespace.")] = None
    resource_claim_template_name: Annotated[
        str | None, Meta(description="A ResourceClaimTemplate, from which one claim is made for the whole group.")
    ] = None


class WorkloadReference(ApiStruct):
    """The template that a group was made from."""

    workload_name: Annotated[str, Meta(description="Name of the Workload.", extra=REQUIRED)] = always(str)
    template_name: Annotated[str, Meta(description="Name of the template in it.", extra=REQUIRED)] = always(str)


class PodGroupSpec(ApiStruct):
    """What a group is to be. Only `minCount` of a gang may change."""

    workload_ref: Annotated[
        WorkloadReference | None, Meta(description="Template the group was made from, if it was made from one.")
    ] = None
    scheduling_policy: Annotated[
        PodGroupSchedulingPolicy, Meta(description="How the pods are scheduled.", extra=REQUIRED)
    ] = always(PodGroupSchedulingPolicy)
    scheduling_constraints: Annotated[
        PodGroupSchedulingConstraints | None, Meta(description="Where the pods may be, seen from the group.")
    ] = None
    resource_claims: Annotated[
        tuple[PodGroupResourceClaim, ...],
        Meta(description="Claims that the pods share, reserved once for the group. At most 4.", extra=MERGE_BY_NAME),
    ] = ()
    disruption_mode: Annotated[
        DisruptionMode | None, Meta(description="How preemption may disrupt the group; absent is one pod at a time.")
    ] = None
    priority_class_name: Annotated[str, Meta(description="PriorityClass of the group.")] = ""
    priority: Annotated[Int32 | None, Meta(description="Priority of the group, filled in from the class.")] = None
    preemption_policy: Annotated[
        str | None,
        Meta(
            description="Whether the group pushes others off nodes; filled in from the class.",
            extra={"enum": ("Never", "PreemptLowerPriority")},
        ),
    ] = None


class PodGroupResourceClaimStatus(ApiStruct):
    """The claim that was made for one entry of spec.resourceClaims."""

    name: Annotated[str, Meta(description="Name of the entry.", extra=REQUIRED)] = always(str)
    resource_claim_name: Annotated[
        str | None, Meta(description="ResourceClaim made for the group; absent if none was needed.")
    ] = None


class PodGroupStatus(ApiStruct):
    """What has become of a group."""

    conditions: Annotated[
        tuple[Condition, ...],
        Meta(
            description="PodGroupInitiallyScheduled stays True once it is; DisruptionTarget tells why the group goes.",
            extra=list_map("type"),
        ),
    ] = ()
    resource_claim_statuses: Annotated[
        tuple[PodGroupResourceClaimStatus, ...],
        Meta(description="Claims made from templates for the group.", extra=MERGE_BY_NAME),
    ] = ()


class PodGroup(ApiObject):
    """Pods that are scheduled together. Pods name it in spec.schedulingGroup; it may come before or after them."""

    spec: Annotated[PodGroupSpec, Meta(description="What the group is to be.", extra=REQUIRED)] = always(PodGroupSpec)
    status: Annotated[PodGroupStatus, Meta(description="What has become of it.")] = always(PodGroupStatus)

"""The kinds of `scheduling.k8s.io`, and what belongs to each."""

from msgspec.structs import replace

from dray.api.columns import AGE, NAME, Column
from dray.api.kind import Kind, Scope, ServedVersion
from dray.api.scheduling.checks import check_priority_class, check_priority_class_update
from dray.api.scheduling.priorityclass import PriorityClass
from dray.values.times import Time

__all__ = ["GROUP", "KINDS", "PRIORITY_CLASS"]

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

KINDS = (PRIORITY_CLASS,)
"""All kinds of the group, in the order in which discovery lists them."""

"""What the API server refuses in groups of pods and in workloads."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct

from dray.api.checks import CheckContext
from dray.api.core.checks.naming import (
    choice_faults,
    key_faults,
    label_faults,
    required_label_faults,
    subdomain_faults,
)
from dray.api.resource.checks.conditions import inspect_conditions
from dray.api.resource.checks.report import Report
from dray.api.scheduling.checks import HIGHEST_USER_PRIORITY
from dray.api.scheduling.podgroup import (
    DisruptionMode,
    PodGroup,
    PodGroupResourceClaim,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
)
from dray.api.scheduling.workload import PodGroupTemplate, Workload, WorkloadControllerReference
from dray.errors import FieldError, duplicate, invalid, required, too_many
from dray.values.fieldpath import SPEC, STATUS, FieldPath
from dray.values.names import path_segment_faults

__all__ = [
    "check_pod_group",
    "check_pod_group_status",
    "check_pod_group_update",
    "check_workload",
    "check_workload_update",
]

_MOST_CLAIMS: Final = 4
_MOST_TOPOLOGIES: Final = 1
_MOST_TEMPLATES: Final = 8
_POLICIES: Final = ("PreemptLowerPriority", "Never")
_IMMUTABLE: Final = "field is immutable"


class _Pattern(Protocol):
    """What groups and templates of groups have in common."""

    @property
    def scheduling_policy(self) -> PodGroupSchedulingPolicy: ...
    @property
    def scheduling_constraints(self) -> PodGroupSchedulingConstraints | None: ...
    @property
    def resource_claims(self) -> tuple[PodGroupResourceClaim, ...]: ...
    @property
    def disruption_mode(self) -> DisruptionMode | None: ...
    @property
    def priority_class_name(self) -> str: ...
    @property
    def priority(self) -> int | None: ...
    @property
    def preemption_policy(self) -> str | None: ...


def check_pod_group(new: PodGroup, old: PodGroup | None, context: CheckContext) -> list[FieldError]:
    """Every fault of a group."""
    return [*_reference_faults(new.spec), *_pattern_faults(new.spec, SPEC)]


def check_pod_group_update(new: PodGroup, old: PodGroup | None, context: CheckContext) -> list[FieldError]:
    """Only the size of a gang changes."""
    if old is None:
        return []
    faults = list(_policy_change_faults(new.spec.scheduling_policy, old.spec.scheduling_policy, SPEC))
    fixed = (
        "workload_ref",
        "scheduling_constraints",
        "resource_claims",
        "disruption_mode",
        "priority_class_name",
        "priority",
        "preemption_policy",
    )
    return faults + list(_change_faults(new.spec, old.spec, fixed, SPEC))


def check_pod_group_status(new: PodGroup, old: PodGroup | None, context: CheckContext) -> list[FieldError]:
    """Conditions are complete, and claims belong to entries of the spec."""
    report = Report(context)
    inspect_conditions(new.status.conditions, STATUS / "conditions", report)
    report.add_all(_claim_status_faults(new))
    return report.faults()


def check_workload(new: Workload, old: Workload | None, context: CheckContext) -> list[FieldError]:
    """Every fault of a workload."""
    return [*_controller_faults(new.spec.controller_ref), *_template_faults(new.spec.pod_group_templates)]


def check_workload_update(new: Workload, old: Workload | None, context: CheckContext) -> list[FieldError]:
    """Templates stay as they are, except for the sizes of gangs; the controller may be named once."""
    if old is None:
        return []
    faults: list[FieldError] = []
    if old.spec.controller_ref is not None and new.spec.controller_ref != old.spec.controller_ref:
        faults.append(invalid(SPEC / "controllerRef", None, _IMMUTABLE))
    path = SPEC / "podGroupTemplates"
    before, after = old.spec.pod_group_templates, new.spec.pod_group_templates
    if [each.name for each in before] != [each.name for each in after]:
        return [*faults, invalid(path, None, _IMMUTABLE, hint="create another workload")]
    fixed = tuple(name for name in PodGroupTemplate.__struct_fields__ if name not in ("name", "scheduling_policy"))
    for index, (one, other) in enumerate(zip(after, before, strict=True)):
        faults += _policy_change_faults(one.scheduling_policy, other.scheduling_policy, path / index)
        faults += _change_faults(one, other, fixed, path / index)
    return faults


def _pattern_faults(pattern: _Pattern, path: FieldPath) -> Iterator[FieldError]:
    yield from _policy_faults(pattern.scheduling_policy, path / "schedulingPolicy")
    if pattern.scheduling_constraints is not None:
        yield from _constraint_faults(pattern.scheduling_constraints, path / "schedulingConstraints" / "topology")
    yield from _claim_faults(pattern.resource_claims, path / "resourceClaims")
    mode = pattern.disruption_mode
    if mode is not None:
        members = {"single": mode.single is not None, "all": mode.all is not None}
        yield from _union_faults(members, path / "disruptionMode")
    if pattern.priority_class_name:
        yield from subdomain_faults(pattern.priority_class_name, path / "priorityClassName")
    if pattern.priority is not None and pattern.priority > HIGHEST_USER_PRIORITY and not pattern.priority_class_name:
        detail = f"must be less than or equal to {HIGHEST_USER_PRIORITY}"
        yield invalid(path / "priority", pattern.priority, detail)
    if pattern.preemption_policy is not None:
        yield from choice_faults(pattern.preemption_policy, _POLICIES, path / "preemptionPolicy")


def _union_faults(members: Mapping[str, bool], path: FieldPath) -> Iterator[FieldError]:
    """Exactly one member of a union is set."""
    known = ", ".join(f"`{name}`" for name in members)
    given = [name for name, is_set in members.items() if is_set]
    if not given:
        yield invalid(path, "", f"must specify one of: {known}")
    elif len(given) > 1:
        yield invalid(path, f"{{{', '.join(given)}}}", f"must specify exactly one of: {known}")


def _policy_faults(policy: PodGroupSchedulingPolicy, path: FieldPath) -> Iterator[FieldError]:
    yield from _union_faults({"basic": policy.basic is not None, "gang": policy.gang is not None}, path)
    if policy.gang is None:
        return
    at, count = path / "gang" / "minCount", policy.gang.min_count
    if count == 0:
        yield required(at, hint="give the number of pods that must be placed together")
    elif count < 0:
        yield invalid(at, count, "must be greater than or equal to 1")


def _policy_change_faults(
    new: PodGroupSchedulingPolicy, old: PodGroupSchedulingPolicy, path: FieldPath
) -> Iterator[FieldError]:
    for member in ("basic", "gang"):
        if (getattr(new, member) is None) != (getattr(old, member) is None):
            yield invalid(path / "schedulingPolicy" / member, None, _IMMUTABLE, hint="create another object")


def _change_faults(new: Struct, old: Struct, names: Sequence[str], path: FieldPath) -> Iterator[FieldError]:
    wire = dict(zip(type(new).__struct_fields__, type(new).__struct_encode_fields__, strict=True))
    for name in names:
        if getattr(new, name) != getattr(old, name):
            yield invalid(path / wire[name], None, _IMMUTABLE)


def _constraint_faults(constraints: PodGroupSchedulingConstraints, path: FieldPath) -> Iterator[FieldError]:
    if len(constraints.topology) > _MOST_TOPOLOGIES:
        yield too_many(path, len(constraints.topology), _MOST_TOPOLOGIES)
        return
    for index, constraint in enumerate(constraints.topology):
        if constraint.key:
            yield from key_faults(constraint.key, path / index / "key")
        else:
            yield required(path / index / "key")


def _claim_faults(claims: Sequence[PodGroupResourceClaim], path: FieldPath) -> Iterator[FieldError]:
    if len(claims) > _MOST_CLAIMS:
        yield too_many(path, len(claims), _MOST_CLAIMS)
        return
    names: set[str] = set()
    for index, claim in enumerate(claims):
        at = path / index
        if claim.name in names:
            yield duplicate(at, _show(claim))
        names.add(claim.name)
        yield from required_label_faults(claim.name, at / "name")
        ready_made, template = claim.resource_claim_name, claim.resource_claim_template_name
        members = {"resourceClaimName": ready_made is not None, "resourceClaimTemplateName": template is not None}
        yield from _union_faults(members, at)
        if ready_made is not None:
            yield from subdomain_faults(ready_made, at / "resourceClaimName")
        if template is not None:
            yield from subdomain_faults(template, at / "resourceClaimTemplateName")


def _show(claim: PodGroupResourceClaim) -> dict[str, Any]:
    return {"name": claim.name}


def _reference_faults(spec: PodGroupSpec) -> Iterator[FieldError]:
    reference, path = spec.workload_ref, SPEC / "workloadRef"
    if reference is None:
        return
    if reference.workload_name:
        yield from subdomain_faults(reference.workload_name, path / "workloadName")
    else:
        yield required(path / "workloadName")
    yield from required_label_faults(reference.template_name, path / "templateName")


def _claim_status_faults(group: PodGroup) -> Iterator[FieldError]:
    path, statuses = STATUS / "resourceClaimStatuses", group.status.resource_claim_statuses
    if len(statuses) > _MOST_CLAIMS:
        yield too_many(path, len(statuses), _MOST_CLAIMS)
        return
    known = {each.name for each in group.spec.resource_claims}
    seen: set[str] = set()
    for index, status in enumerate(statuses):
        if status.name in seen:
            yield duplicate(path / index, {"name": status.name})
        seen.add(status.name)
        if status.name not in known:
            yield invalid(
                path / index / "name", status.name, "must match the name of an entry in `spec.resourceClaims`"
            )
        if status.resource_claim_name is not None:
            yield from subdomain_faults(status.resource_claim_name, path / index / "resourceClaimName")


def _controller_faults(controller: WorkloadControllerReference | None) -> Iterator[FieldError]:
    if controller is None:
        return
    path = SPEC / "controllerRef"
    if controller.api_group:
        yield from subdomain_faults(controller.api_group, path / "apiGroup")
    for name, text in (("kind", controller.kind), ("name", controller.name)):
        if not text:
            yield required(path / name)
        for detail in path_segment_faults(text) if text else ():
            yield invalid(path / name, text, detail)


def _template_faults(templates: Sequence[PodGroupTemplate]) -> Iterator[FieldError]:
    path = SPEC / "podGroupTemplates"
    if not templates:
        yield required(path, hint="describe at least one group")
    if len(templates) > _MOST_TEMPLATES:
        yield too_many(path, len(templates), _MOST_TEMPLATES)
        return
    names: set[str] = set()
    for index, template in enumerate(templates):
        at = path / index
        if template.name in names:
            yield duplicate(at, {"name": template.name})
        names.add(template.name)
        if template.name:
            yield from label_faults(template.name, at / "name")
        else:
            yield required(at / "name")
        yield from _pattern_faults(template, at)

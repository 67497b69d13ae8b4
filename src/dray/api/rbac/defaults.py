"""What the API server fills into bindings: the group that roles, users and groups belong to."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from dray.api.rbac.checks import GROUP
from dray.api.rbac.rolebinding import ClusterRoleBinding, RoleBinding, Subject
from dray.values.times import Time

__all__ = ["default_binding"]

Binding = TypeVar("Binding", RoleBinding, ClusterRoleBinding)


def default_binding(new: Binding, now: Time) -> Binding:
    """Name the group where it is left out."""
    role = new.role_ref if new.role_ref.api_group else replace(new.role_ref, api_group=GROUP)
    return replace(new, role_ref=role, subjects=_default_subjects(new.subjects))


def _default_subjects(subjects: Sequence[Subject]) -> tuple[Subject, ...]:
    return tuple(
        replace(subject, api_group=GROUP) if subject.kind in ("User", "Group") and not subject.api_group else subject
        for subject in subjects
    )

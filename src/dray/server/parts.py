"""Writes to a part of an object other than its status: how each is planned.

The part is taken from what was sent; all else stays as stored.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from dray.api.core.checks.pod import check_pod_ephemeral_containers, check_pod_resize
from dray.api.core.containers import Container
from dray.api.core.namespace import Namespace
from dray.api.core.pod import Pod
from dray.api.core.prepare import prepare_namespace_finalize
from dray.api.writing import PlannedWrite, get_reference
from dray.server.changing import Plan

__all__ = ["find_plan"]


def _plan_finalize(kind: Any, new: Any, old: Any, context: Any) -> PlannedWrite[Any]:
    """`namespaces/finalize`: only the finalizers of the spec change."""
    assert isinstance(new, Namespace)
    assert isinstance(old, Namespace)
    kept = replace(old, spec=new.spec, metadata=replace(old.metadata, managed_fields=new.metadata.managed_fields))
    return PlannedWrite(get_reference(kind, new), prepare_namespace_finalize(kept, old, context.now), ())


def _plan_ephemeral(kind: Any, new: Any, old: Any, context: Any) -> PlannedWrite[Any]:
    """`pods/ephemeralcontainers`: containers for debugging are added."""
    assert isinstance(new, Pod)
    assert isinstance(old, Pod)
    wanted = replace(old.spec, ephemeral_containers=new.spec.ephemeral_containers)
    return _plan_pod(kind, (replace(new, spec=wanted), old), context, check_pod_ephemeral_containers)


def _plan_resize(kind: Any, new: Any, old: Any, context: Any) -> PlannedWrite[Any]:
    """`pods/resize`: the amounts of containers change."""
    assert isinstance(new, Pod)
    assert isinstance(old, Pod)
    kept = replace(
        old.spec,
        resources=new.spec.resources,
        containers=_take_amounts(new.spec.containers, old.spec.containers),
        init_containers=_take_amounts(new.spec.init_containers, old.spec.init_containers),
    )
    return _plan_pod(kind, (replace(new, spec=kept), old), context, check_pod_resize)


def _take_amounts(new: Sequence[Container], old: Sequence[Container]) -> tuple[Container, ...]:
    """The stored containers with what a resize may say of them; others where they are not the same ones."""
    if [each.name for each in new] != [each.name for each in old]:
        return tuple(new)
    return tuple(
        replace(before, resources=after.resources, resize_policy=after.resize_policy)
        for after, before in zip(new, old, strict=True)
    )


def _plan_pod(kind: Any, written: tuple[Pod, Pod], context: Any, check: Any) -> PlannedWrite[Any]:
    new, old = written
    generation = old.metadata.generation + (new.spec != old.spec)
    meta = replace(old.metadata, generation=generation, managed_fields=new.metadata.managed_fields)
    kept = replace(old, metadata=meta, spec=new.spec)
    return PlannedWrite(get_reference(kind, kept), kept, tuple(check(kept, old, context)))


_PLANS: dict[tuple[str, str], Plan] = {
    ("namespaces", "finalize"): _plan_finalize,
    ("pods", "ephemeralcontainers"): _plan_ephemeral,
    ("pods", "resize"): _plan_resize,
}


def find_plan(plural: str, subresource: str) -> Plan | None:
    """How a write to a subresource is planned; None for the object itself and its status."""
    return _PLANS.get((plural, subresource))

"""What of a pod may still change: little, because containers run by it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from dray.api.core.checks.naming import INT32_MAX
from dray.api.core.containers import Container
from dray.api.core.podresources import quality_of_service
from dray.api.core.podspec import PodSpec
from dray.api.core.taints import Toleration
from dray.errors import FieldError, forbidden, invalid, required
from dray.values.fieldpath import FieldPath

__all__ = ["ephemeral_update_faults", "pod_update_faults", "resize_faults"]

_RESIZED = ("cpu", "memory")
_CHANGEABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
    "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)"
)


def pod_update_faults(new: PodSpec, old: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    """Everything in which the specs may not differ."""
    yield from _container_set_faults(new.containers, old.containers, path / "containers")
    if len(new.containers) != len(old.containers):
        return
    yield from _container_set_faults(new.init_containers, old.init_containers, path / "initContainers")
    if len(new.init_containers) != len(old.init_containers):
        return
    deadline_faults = list(_deadline_faults(new, old, path / "activeDeadlineSeconds"))
    yield from deadline_faults
    if deadline_faults and new.active_deadline_seconds is not None:
        return
    yield from _toleration_faults(new.tolerations, old.tolerations, path / "tolerations")
    yield from _gate_faults(new, old, path / "schedulingGates")
    if old.scheduling_gates and not new.node_selector.items() >= old.node_selector.items():
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid(path / "nodeSelector", new.node_selector, detail)
        new = replace(new, node_selector=old.node_selector)
    rest = _with_old_values(new, old)
    if rest != old:
        difference = _describe_difference(old, rest)
        hint = "delete the pod and create it anew, or change the workload that owns it"
        yield forbidden(path, f"pod updates may not change fields other than {_CHANGEABLE}\n{difference}\n", hint=hint)


def _container_set_faults(new: Sequence[Container], old: Sequence[Container], path: FieldPath) -> Iterator[FieldError]:
    if len(new) != len(old):
        yield forbidden(path, "pod updates may not add or remove containers")
        return
    for index, container in enumerate(new):
        if not container.image:
            yield required(path / index / "image")


def _deadline_faults(new: PodSpec, old: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    after, before = new.active_deadline_seconds, old.active_deadline_seconds
    if after is None:
        if before is not None:
            yield invalid(path, None, "must not update from a positive integer to nil value")
    elif not 0 <= after <= INT32_MAX:
        yield invalid(path, after, f"must be between 0 and {INT32_MAX}, inclusive")
    elif before is not None and before < after:
        yield invalid(path, after, "must be less than or equal to previous value")


def _toleration_faults(new: Sequence[Toleration], old: Sequence[Toleration], path: FieldPath) -> Iterator[FieldError]:
    kept = {_without_seconds(toleration) for toleration in new}
    if any(_without_seconds(toleration) not in kept for toleration in old):
        yield forbidden(path, "existing toleration can not be modified except its tolerationSeconds")


def _without_seconds(toleration: Toleration) -> Toleration:
    return replace(toleration, toleration_seconds=None)


def _gate_faults(new: PodSpec, old: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    known = {gate.name for gate in old.scheduling_gates}
    for index, gate in enumerate(new.scheduling_gates):
        if gate.name not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate.name}'"
            yield forbidden(path / index / "name", detail)


def _with_old_values(new: PodSpec, old: PodSpec) -> PodSpec:
    """The new spec with everything that may change as it was."""
    grace_period = new.termination_grace_period_seconds
    was_negative = (old.termination_grace_period_seconds or 0) < 0
    spec = replace(
        new,
        containers=_with_old_images(new.containers, old.containers),
        init_containers=_with_old_images(new.init_containers, old.init_containers),
        active_deadline_seconds=old.active_deadline_seconds,
        tolerations=old.tolerations,
        scheduling_gates=old.scheduling_gates,
        termination_grace_period_seconds=(
            old.termination_grace_period_seconds if was_negative and grace_period == 1 else grace_period
        ),
    )
    # Until it is scheduled, a gated pod may still be tied to fewer nodes.
    is_narrower = old.scheduling_gates and new.node_selector.items() >= old.node_selector.items()
    return replace(spec, node_selector=old.node_selector) if is_narrower else spec


def _with_old_images(new: Sequence[Container], old: Sequence[Container]) -> tuple[Container, ...]:
    return tuple(replace(after, image=before.image) for after, before in zip(new, old, strict=True))


def _describe_difference(old: PodSpec, new: PodSpec) -> str:
    before, after = (msgspec.to_builtins(spec, enc_hook=str, str_keys=True) for spec in (old, new))
    return "\n".join(_differences(before, after, ""))


def _differences(before: object, after: object, path: str) -> Iterator[str]:
    """The leaves that differ, as `-` and `+` lines with their paths."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted(before.keys() | after.keys()):
            yield from _differences(before.get(name), after.get(name), f"{path}.{name}" if path else str(name))
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        for index, (was, becomes) in enumerate(zip(before, after, strict=True)):
            yield from _differences(was, becomes, f"{path}[{index}]")
    elif before != after:
        if before is not None:
            yield f"- {path}: {msgspec.json.encode(before).decode()}"
        if after is not None:
            yield f"+ {path}: {msgspec.json.encode(after).decode()}"


def ephemeral_update_faults(new: PodSpec, old: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    """Through their subresource, ephemeral containers are added and nothing else happens."""
    known = {container.name: container for container in new.ephemeral_containers}
    at = path / "ephemeralContainers"
    for index, before in enumerate(old.ephemeral_containers):
        after = known.get(before.name)
        if after is None:
            yield forbidden(at, f"existing ephemeral containers {before.name!r} may not be removed\n".replace("'", '"'))
        elif after != before:
            changed = f'existing ephemeral containers "{before.name}" may not be changed\n'
            yield forbidden(at, changed + _describe_difference_of(before, after, str(at / index)))


def _describe_difference_of(before: object, after: object, path: str) -> str:
    was, becomes = (msgspec.to_builtins(each, enc_hook=str, str_keys=True) for each in (before, after))
    return "\n".join(_differences(was, becomes, path))


def resize_faults(new: PodSpec, old: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    """Through their subresource, amounts of containers change, none is taken back, and nothing else happens."""
    if len(new.containers) != len(old.containers) or len(new.init_containers) != len(old.init_containers):
        part = "containers" if len(new.containers) != len(old.containers) else "initContainers"
        yield forbidden(path / part, "containers may not be added or removed on resize")
        return
    for part, after, before in (
        ("containers", new.containers, old.containers),
        ("initContainers", new.init_containers, old.init_containers),
    ):
        for index, (container, stored) in enumerate(zip(after, before, strict=True)):
            yield from _removal_faults(container, stored, path / part / index / "resources")
    if quality_of_service(new) != quality_of_service(old):
        yield invalid(path, quality_of_service(old), "Pod QOS Class may not change as a result of resizing")
    rest = replace(
        new,
        resources=old.resources,
        containers=_with_old_amounts(new.containers, old.containers),
        init_containers=_with_old_amounts(new.init_containers, old.init_containers),
    )
    if rest != old:
        yield forbidden(path, "only cpu and memory resources are mutable")


def _removal_faults(new: Container, old: Container, path: FieldPath) -> Iterator[FieldError]:
    if any(name in old.resources.requests and name not in new.resources.requests for name in _RESIZED):
        yield forbidden(path / "requests", "resource requests cannot be removed")
    if any(name in old.resources.limits and name not in new.resources.limits for name in _RESIZED):
        yield forbidden(path / "limits", "resource limits cannot be removed")


def _with_old_amounts(new: Sequence[Container], old: Sequence[Container]) -> tuple[Container, ...]:
    containers = []
    for after, before in zip(new, old, strict=True):
        resources = replace(
            after.resources,
            limits=_keep(after.resources.limits, before.resources.limits, _RESIZED),
            requests=_keep(after.resources.requests, before.resources.requests, _RESIZED),
        )
        containers.append(replace(after, resources=resources))
    return tuple(containers)


Amount = TypeVar("Amount")


def _keep(new: Mapping[str, Amount], old: Mapping[str, Amount], names: Sequence[str]) -> dict[str, Amount]:
    kept = {name: amount for name, amount in new.items() if name not in names}
    return kept | {name: old[name] for name in names if name in old}

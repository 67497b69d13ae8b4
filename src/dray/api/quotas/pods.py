"""What pods are charged for: themselves, and the amounts they request and limit while they can run."""

from collections.abc import Iterator, Sequence
from typing import Final

from dray.api.core.affinity import PodAffinityTerm
from dray.api.core.containers import Container
from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podresources import add_amounts, quality_of_service, sum_pod_limits, sum_pod_requests
from dray.api.core.resourcequota import ScopedResourceSelectorRequirement
from dray.api.quotas.meter import ONE, Amounts, Meter, Surroundings
from dray.values.times import Time

__all__ = ["IMPLICIT_PREFIX", "POD_METER", "REQUESTS_PREFIX", "is_extended_quota_name", "is_extended_resource"]

REQUESTS_PREFIX: Final = "requests."
IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""Every device class can be asked for as an extended resource under this prefix and its own name."""

_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_COUNT: Final = "count/pods"
_NAMES: Final = frozenset(
    {
        _COUNT,
        "pods",
        *_COMPUTE,
        *(REQUESTS_PREFIX + name for name in _COMPUTE),
        *("limits." + name for name in _COMPUTE),
    }
)
_MUST_BE_NAMED: Final = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
_HUGE_PAGES: Final = ("hugepages-", "requests.hugepages-")


def is_extended_resource(name: str) -> bool:
    """Whether a container that requests this resource asks for devices, by a class's name or its extended resource."""
    if name.startswith(IMPLICIT_PREFIX):
        return True
    return "/" in name and "kubernetes.io/" not in name and not name.startswith(REQUESTS_PREFIX)


def is_extended_quota_name(name: str) -> bool:
    """Whether a quota of this name limits an extended resource."""
    return name.startswith(REQUESTS_PREFIX) and is_extended_resource(name.removeprefix(REQUESTS_PREFIX))


def _covers(name: str) -> bool:
    return name in _NAMES or name.startswith(_HUGE_PAGES) or is_extended_quota_name(name)


def _measure(pod: Pod, surroundings: Surroundings) -> Amounts:
    """A pod that has ended, or should have by now, is only counted."""
    counted = {_COUNT: ONE}
    if not _can_run(pod, surroundings.now):
        return counted
    spec = pod.spec
    requests = add_amounts(sum_pod_requests(spec), spec.overhead)
    limits = sum_pod_limits(spec)
    limits = add_amounts(limits, {name: amount for name, amount in spec.overhead.items() if name in limits})
    return {**counted, "pods": ONE, **_name_amounts(requests, limits)}


def _can_run(pod: Pod, now: Time) -> bool:
    if pod.status.phase in ("Failed", "Succeeded"):
        return False
    meta = pod.metadata
    if meta.deletion_timestamp is None or meta.deletion_grace_period_seconds is None:
        return True
    return now <= meta.deletion_timestamp.plus_seconds(meta.deletion_grace_period_seconds)


def _name_amounts(requests: Amounts, limits: Amounts) -> Amounts:
    """Requests and limits under the names that quotas have for them."""
    named = {f"limits.{name}": amount for name, amount in limits.items() if name in _COMPUTE}
    for name, amount in requests.items():
        if name in _COMPUTE or name.startswith("hugepages-"):
            named[name] = amount
            named[REQUESTS_PREFIX + name] = amount
        elif is_extended_resource(name):
            named[REQUESTS_PREFIX + name] = amount
    return named


def _find_gap(pod: Pod, names: Sequence[str]) -> str | None:
    """Where cpu or memory is limited, each container must say how much of it it wants."""
    required = sorted(_MUST_BE_NAMED.intersection(names))
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    gaps: list[str] = []
    for name in required:
        silent = sorted({each.name for each in containers if name not in _name_container(each)})
        if silent:
            gaps.append(f"{name} for: {','.join(silent)}")
    return f"must specify {'; '.join(gaps)}" if gaps else None


def _name_container(container: Container) -> Amounts:
    return _name_amounts(container.resources.requests, container.resources.limits)


def _is_in_scope(pod: Pod, condition: ScopedResourceSelectorRequirement) -> bool:
    spec = pod.spec
    is_terminating = spec.active_deadline_seconds is not None and spec.active_deadline_seconds >= 0
    match condition.scope_name:
        case "Terminating":
            return is_terminating
        case "NotTerminating":
            return not is_terminating
        case "BestEffort":
            return quality_of_service(spec) == "BestEffort"
        case "NotBestEffort":
            return quality_of_service(spec) != "BestEffort"
        case "PriorityClass":
            return _has_class(spec.priority_class_name, condition)
        case "CrossNamespacePodAffinity":
            return any(term.namespaces or term.namespace_selector is not None for term in _list_terms(pod))
        case _:
            return False


def _has_class(name: str, condition: ScopedResourceSelectorRequirement) -> bool:
    match condition.operator:
        case "Exists":
            return bool(name)
        case "DoesNotExist":
            return not name
        case "In":
            return bool(name) and name in condition.values
        case _:
            return name not in condition.values


def _list_terms(pod: Pod) -> Iterator[PodAffinityTerm]:
    affinity = pod.spec.affinity
    if affinity is None:
        return
    for rules in (affinity.pod_affinity, affinity.pod_anti_affinity):
        if rules is not None:
            yield from rules.required_during_scheduling_ignored_during_execution
            for weighted in rules.preferred_during_scheduling_ignored_during_execution:
                yield weighted.pod_affinity_term


POD_METER: Final[Meter[Pod]] = Meter(
    kind=POD,
    covers=_covers,
    measure=_measure,
    is_in_scope=_is_in_scope,
    find_gap=_find_gap,
    charged_subresource="resize",
)
"""How pods are charged."""

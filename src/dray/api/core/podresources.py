"""What a pod needs altogether, and the quality of service that follows from it."""

from collections.abc import Callable, Iterable, Mapping

from dray.api.core.containers import Container
from dray.api.core.podspec import PodSpec
from dray.values.quantity import ZERO, Quantity

__all__ = [
    "add_amounts",
    "is_sidecar",
    "max_amounts",
    "quality_of_service",
    "sum_container_limits",
    "sum_container_requests",
    "sum_pod_limits",
    "sum_pod_requests",
]

Amounts = Mapping[str, Quantity]

_COMPUTE = ("cpu", "memory")


def is_sidecar(container: Container) -> bool:
    """Whether an init container keeps running beside the regular ones."""
    return container.restart_policy == "Always"


def add_amounts(one: Amounts, other: Amounts) -> dict[str, Quantity]:
    """The sum by resource."""
    total = dict(one)
    for name, amount in other.items():
        total[name] = total[name] + amount if name in total else amount
    return total


def max_amounts(one: Amounts, other: Amounts) -> dict[str, Quantity]:
    """The larger by resource."""
    larger = dict(one)
    for name, amount in other.items():
        if name not in larger or amount > larger[name]:
            larger[name] = amount
    return larger


def sum_container_requests(spec: PodSpec) -> dict[str, Quantity]:
    """What the containers need at the worst moment of the pod's life.

    Regular containers and sidecars run together. Before that, each other init container runs with the sidecars that
    stand before it.
    """
    return _sum_containers(spec, lambda container: container.resources.requests)


def sum_container_limits(spec: PodSpec) -> dict[str, Quantity]:
    """What the containers may use at the worst moment, for resources that any of them limits."""
    return _sum_containers(spec, lambda container: container.resources.limits)


def _sum_containers(spec: PodSpec, read: Callable[[Container], Amounts]) -> dict[str, Quantity]:
    running: dict[str, Quantity] = {}
    starting: dict[str, Quantity] = {}
    for container in spec.init_containers:
        amounts = read(container)
        if is_sidecar(container):
            running = add_amounts(running, amounts)
            starting = max_amounts(starting, running)
        else:
            starting = max_amounts(starting, add_amounts(running, amounts))
    for container in spec.containers:
        running = add_amounts(running, read(container))
    return max_amounts(running, starting)


def sum_pod_requests(spec: PodSpec) -> dict[str, Quantity]:
    """What the pod needs: amounts given for it as a whole come before those of its containers."""
    whole = spec.resources.requests if spec.resources is not None else {}
    return {**sum_container_requests(spec), **whole}


def sum_pod_limits(spec: PodSpec) -> dict[str, Quantity]:
    """What the pod may use: limits given for it as a whole come before those of its containers."""
    whole = spec.resources.limits if spec.resources is not None else {}
    return {**sum_container_limits(spec), **whole}


def quality_of_service(spec: PodSpec) -> str:
    """Guaranteed, Burstable or BestEffort, from amounts of cpu and memory that are not zero.

    Guaranteed takes a limit of both in every container, and requests equal to the limits. Amounts for the pod as a
    whole, where given, decide alone.
    """
    if spec.resources is not None and (spec.resources.limits or spec.resources.requests):
        parts = [(spec.resources.requests, spec.resources.limits)]
    else:
        containers = (*spec.containers, *spec.init_containers)
        parts = [(each.resources.requests, each.resources.limits) for each in containers]
    requests = _total(requests for requests, _ in parts)
    limits = _total(limits for _, limits in parts)
    if not requests and not limits:
        return "BestEffort"
    is_limited = all(limits.get(name, ZERO).sign > 0 for _, limits in parts for name in _COMPUTE)
    return "Guaranteed" if is_limited and requests == limits else "Burstable"


def _total(parts: Iterable[Amounts]) -> dict[str, Quantity]:
    total: dict[str, Quantity] = {}
    for amounts in parts:
        total = add_amounts(total, {name: amounts[name] for name in _COMPUTE if amounts.get(name, ZERO).sign > 0})
    return total

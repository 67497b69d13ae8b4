"""What a pod takes of a node: exact integers by resource, cpu in thousandths and everything else in whole units.

Two amounts are told apart. *Requests* decide whether a pod fits. *Guesses* are the same with something put in for
containers that name no cpu or memory, so that many such pods do not look as if they cost nothing; only scores use them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from dray.api.core.containers import Container
from dray.api.core.containerstatus import ContainerStatus
from dray.api.core.pod import Pod
from dray.api.core.podresources import is_sidecar
from dray.api.core.podspec import PodSpec
from dray.values.quantity import Quantity

__all__ = [
    "CPU",
    "EPHEMERAL_STORAGE",
    "MEMORY",
    "PODS",
    "Amounts",
    "Footprint",
    "amounts_of",
    "footprint_of",
    "is_extended",
]

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

_HUGEPAGES: Final = "hugepages-"
_NATIVE_DOMAIN: Final = "kubernetes.io/"
_CLASS_DOMAIN: Final = "deviceclass.resource.kubernetes.io/"

_GUESS: Final = {CPU: 100, MEMORY: 200 * 1024 * 1024}
"""What a container is taken to need where it names nothing: a tenth of a cpu, 200 MiB. Kubernetes' figures."""

Amounts = Mapping[str, int]
"""By resource; cpu in thousandths."""


class Footprint(NamedTuple):
    """What one pod takes. `requests` has no zeros; `guesses` has cpu and memory alone."""

    requests: Amounts
    guesses: Amounts


def is_extended(resource: str) -> bool:
    """Whether a resource is neither the node's own nor Kubernetes': a device plugin's, or devices by another name."""
    if resource.startswith(_CLASS_DOMAIN):
        return True
    return "/" in resource and _NATIVE_DOMAIN not in resource and not resource.startswith("requests.")


def amounts_of(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    """Quantities as integers, rounded up."""
    return {name: each.milli_value() if name == CPU else each.value() for name, each in quantities.items()}


def footprint_of(pod: Pod) -> Footprint:
    """What the pod takes of the node it is on, or would go to.

    Regular containers and sidecars run together, other init containers one by one before. Then comes what claims take
    of the node's own resources, as the status tells. Amounts of the pod as a whole stand for all of that, for the
    resources that can be given so. Overhead comes on top. While a container is being resized it counts with the larger
    of what it has and what it wants.
    """
    spec, status = pod.spec, pod.status
    is_plain = not (spec.init_containers or spec.overhead or spec.resources or status.container_statuses)
    if is_plain and not status.node_allocatable_resource_claim_statuses:
        return _plain_footprint(spec.containers)
    states = {each.name: each for each in (*status.container_statuses, *status.init_container_statuses)}
    requests = _sum(spec, states, {})
    guesses = _sum(spec, states, _GUESS)
    whole = {} if spec.resources is None else _whole_of(spec)
    extra = amounts_of(spec.overhead)
    for name, amount in _charges(pod):
        if name not in whole:
            extra[name] = extra.get(name, 0) + amount
    for total in (requests, guesses):
        total.update(whole)
        _add(total, extra)
    return Footprint(
        {name: amount for name, amount in requests.items() if amount},
        {name: guesses.get(name, 0) for name in _GUESS},
    )


def _plain_footprint(containers: Iterable[Container]) -> Footprint:
    """The sums, for the many pods that have nothing but containers."""
    requests: dict[str, int] = {}
    cpu = memory = 0
    for container in containers:
        amounts = amounts_of(container.resources.requests)
        cpu += amounts.get(CPU, _GUESS[CPU])
        memory += amounts.get(MEMORY, _GUESS[MEMORY])
        for name, amount in amounts.items():
            if amount:
                requests[name] = requests.get(name, 0) + amount
    return Footprint(requests, {CPU: cpu, MEMORY: memory})


def _whole_of(spec: PodSpec) -> dict[str, int]:
    """Amounts of the pod as a whole; other resources cannot be given so, and are those of the containers."""
    whole = {} if spec.resources is None else amounts_of(spec.resources.requests)
    return {name: each for name, each in whole.items() if name in _GUESS or name.startswith(_HUGEPAGES)}


def _sum(spec: PodSpec, states: Mapping[str, ContainerStatus], guess: Amounts) -> dict[str, int]:
    """What containers need at the worst moment of the pod's life."""
    running: dict[str, int] = {}
    starting: dict[str, int] = {}
    for container in spec.init_containers:
        amounts = _needed(container, states, guess)
        if is_sidecar(container):
            _add(running, amounts)
            _raise_to(starting, running)
        else:
            _add(amounts, running)
            _raise_to(starting, amounts)
    for container in spec.containers:
        _add(running, _needed(container, states, guess))
    _raise_to(running, starting)
    return running


def _needed(container: Container, states: Mapping[str, ContainerStatus], guess: Amounts) -> dict[str, int]:
    amounts = dict(guess)
    amounts.update(amounts_of(container.resources.requests))
    state = states.get(container.name)
    if state is not None:
        _raise_to(amounts, amounts_of(state.allocated_resources))
        if state.resources is not None:
            _raise_to(amounts, amounts_of(state.resources.requests))
    return amounts


def _charges(pod: Pod) -> Iterable[tuple[str, int]]:
    """What claims take of the node's own resources."""
    for claim in pod.status.node_allocatable_resource_claim_statuses:
        for mapped in claim.mapping:
            yield mapped.name, _amount(mapped.name, mapped.quantity)
        for cost in claim.overhead:
            per_container = _amount(cost.name, cost.per_container)
            yield cost.name, _amount(cost.name, cost.per_pod) + per_container * len(claim.containers)


def _amount(name: str, quantity: Quantity | None) -> int:
    return 0 if quantity is None else amounts_of({name: quantity})[name]


def _add(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        if amount > total.get(name, 0):
            total[name] = amount

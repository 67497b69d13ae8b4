"""A node with the pods on it, and what follows from them for those to come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from dray.api.core.containers import Container
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.core.podresources import is_sidecar
from dray.scheduler.core.kin import Kin
from dray.scheduler.core.resources import Amounts, Footprint, amounts_of
from dray.scheduler.core.terms import Term

__all__ = ["ANY_ADDRESS", "HostPort", "NodeInfo", "PlacedPod", "host_ports", "priority_of"]

_Key = TypeVar("_Key")

ANY_ADDRESS = "0.0.0.0"
"""What a port that names no address is bound to: all of them."""


class HostPort(NamedTuple):
    """A port of the host that leads into a pod."""

    protocol: str
    port: int
    address: str


class PlacedPod(NamedTuple):
    """A pod on a node, with what it takes there."""

    pod: Pod
    kin: Kin
    priority: int
    footprint: Footprint
    ports: tuple[HostPort, ...]
    terms: tuple[Term, ...]


def priority_of(pod: Pod) -> int:
    """How important the pod is; 0 if nobody said."""
    return pod.spec.priority or 0


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """The ports of the host that the pod's containers and sidecars want."""
    return tuple(
        HostPort(port.protocol or "TCP", port.host_port, port.host_ip or ANY_ADDRESS)
        for container in _lasting_containers(pod)
        for port in container.ports
        if port.host_port > 0
    )


def _lasting_containers(pod: Pod) -> Iterator[Container]:
    yield from filter(is_sidecar, pod.spec.init_containers)
    yield from pod.spec.containers


class NodeInfo:
    """One node as the scheduler sees it. The snapshot owns it; others only read, and keep no part of it.

    `requested` and `guessed` are the sums over the pods, of requests and of guesses. `version` grows with each change
    of node or pods.
    """

    __slots__ = (
        "allocatable",
        "guessed",
        "kins",
        "name",
        "node",
        "number",
        "pods",
        "ports",
        "requested",
        "terms",
        "version",
    )

    def __init__(self, number: int, node: Node) -> None:
        self.number = number
        self.name = node.metadata.name
        self.node = node
        self.allocatable: Amounts = {}
        self.pods: dict[str, PlacedPod] = {}
        self.kins: dict[Kin, int] = {}
        self.requested: dict[str, int] = {}
        self.guessed: dict[str, int] = {}
        self.ports: dict[HostPort, int] = {}
        self.terms: dict[Term, int] = {}
        self.version = 0
        self.replace(node)

    def replace(self, node: Node) -> None:
        """Take over a newer state of the node itself."""
        self.node = node
        self.allocatable = amounts_of(node.status.allocatable)
        self.version += 1

    def add(self, placed: PlacedPod) -> None:
        """Put a pod here."""
        self.pods[placed.pod.metadata.uid] = placed
        self._count(placed, 1)

    def remove(self, uid: str) -> None:
        """Take a pod away."""
        self._count(self.pods.pop(uid), -1)

    def _count(self, placed: PlacedPod, sign: int) -> None:
        self.version += 1
        _shift(self.kins, placed.kin, sign)
        for name, amount in placed.footprint.requests.items():
            _shift(self.requested, name, sign * amount)
        for name, amount in placed.footprint.guesses.items():
            _shift(self.guessed, name, sign * amount)
        for port in placed.ports:
            _shift(self.ports, port, sign)
        for term in placed.terms:
            _shift(self.terms, term, sign)


def _shift(counts: dict[_Key, int], key: _Key, by: int) -> None:
    count = counts.get(key, 0) + by
    if count:
        counts[key] = count
    else:
        counts.pop(key, None)

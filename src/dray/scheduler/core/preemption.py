"""Which pods of less priority to evict, and from which node, so that a pod fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from dray.api.core.pod import Pod

__all__ = ["DevicesFit", "Preemption", "PreemptionRefused"]

DevicesFit = Callable[[int, Sequence[Pod]], bool]
"""Asks about devices: whether the pod would get them on the node of a number once these pods are gone from it."""


class Preemption(msgspec.Struct, frozen=True):
    """What would make room: the node, and its pods to evict, most important first."""

    node: int
    node_name: str
    victims: tuple[Pod, ...]
    violations: int


class PreemptionRefused(msgspec.Struct, frozen=True):
    """Why nothing is evicted, in Kubernetes' words, ready to follow the reasons of the nodes in a message.

    `clears_nomination` tells that room the pod had been promised on a node is of no use to it any more.
    """

    message: str
    clears_nomination: bool = True

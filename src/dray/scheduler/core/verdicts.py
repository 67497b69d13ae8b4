"""What filters say: of one node, and of many nodes at once. The words are Kubernetes'."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

__all__ = ["Code", "Refusal", "Verdict"]


class Code(Enum):
    """Whether evicting pods from a node could change its verdict."""

    UNSCHEDULABLE = "Unschedulable"
    UNRESOLVABLE = "UnschedulableAndUnresolvable"


class Verdict(NamedTuple):
    """Why one node does not fit: the first plugin, in Kubernetes' order, that refuses it, and all its reasons."""

    plugin: str
    reasons: tuple[str, ...]
    code: Code


class Refusal(NamedTuple):
    """One reason and the nodes that have it, as a set of node numbers (bit `i` is node `i`).

    A node may stand in several refusals of one plugin, never in those of two.
    """

    plugin: str
    reason: str
    code: Code
    nodes: int

"""Pods by the node they are on."""

from collections.abc import Iterable
from typing import Final

from dray.api.core.pod import Pod

__all__ = ["PODS_BY_NODE", "index_pods_by_node"]

PODS_BY_NODE: Final = "pods by node"
"""Name of the index, which several controllers share."""


def index_pods_by_node(pod: Pod) -> Iterable[str]:
    """Index of pods by their node; pods without one are not in it."""
    return (pod.spec.node_name,) if pod.spec.node_name else ()

"""Nodes and pods by what filters and scores ask for. Each index follows the snapshot when it is asked, not before."""

from __future__ import annotations

from collections.abc import Iterator

from dray.scheduler.core.domains import DomainIndex
from dray.scheduler.core.membership import Membership
from dray.scheduler.core.nodeinfo import NodeInfo
from dray.scheduler.core.nodeterms import NodeTerms
from dray.scheduler.core.portindex import PortIndex
from dray.scheduler.core.resources import is_extended
from dray.scheduler.core.snapshot import Snapshot
from dray.scheduler.core.tainting import TaintGroups
from dray.scheduler.core.tallies import Tallies

__all__ = ["Indexes"]


class Indexes:
    """All indexes over one snapshot. Placements of several profiles can share them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.domains = DomainIndex(snapshot)
        self.node_terms = NodeTerms(snapshot, self.domains)
        self.taints = TaintGroups(snapshot)
        self.ports = PortIndex(snapshot)
        self.tallies = Tallies(snapshot, self.domains)
        self.features = Membership(snapshot, lambda node: node.node.status.declared_features)
        self.images = Membership(snapshot, _images)
        self.offers = Membership(snapshot, _offered)
        """By extended resource the nodes that have some of it to give, whether free or not."""


def _offered(node: NodeInfo) -> Iterator[str]:
    return (name for name, amount in node.allocatable.items() if amount > 0 and is_extended(name))


def _images(node: NodeInfo) -> Iterator[str]:
    return (name for image in node.node.status.images for name in image.names)

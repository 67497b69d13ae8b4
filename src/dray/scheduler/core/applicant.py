"""A pod that looks for a node, with everything that filters and scores read of it worked out once."""

from __future__ import annotations

from functools import cached_property

from dray.api.core.affinity import NodeAffinity
from dray.api.core.pod import Pod
from dray.scheduler.core.kin import Kin
from dray.scheduler.core.nodeinfo import HostPort, host_ports
from dray.scheduler.core.peers import SpreadRule
from dray.scheduler.core.resources import Footprint, footprint_of
from dray.scheduler.core.terms import Term, terms_of

__all__ = ["Applicant"]


class Applicant:
    """`mapped` are the extended resources that devices serve where a node has none to give."""

    def __init__(self, pod: Pod, mapped: frozenset[str]) -> None:
        self.pod = pod
        self.mapped = mapped
        self.spread_rules: dict[str, tuple[SpreadRule, ...]] = {}
        """By what happens where they do not hold; filled in by `Spreading`."""

    @cached_property
    def footprint(self) -> Footprint:
        """What it takes of a node."""
        return footprint_of(self.pod)

    @cached_property
    def ports(self) -> tuple[HostPort, ...]:
        """Ports of the host it wants."""
        return host_ports(self.pod)

    @cached_property
    def kin(self) -> Kin:
        """What selectors of other pods see of it."""
        return Kin(self.pod)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """What it says about other pods."""
        return terms_of(self.pod)

    @cached_property
    def node_labels(self) -> tuple[tuple[str, str], ...]:
        """Labels its node must have."""
        return tuple(sorted(self.pod.spec.node_selector.items()))

    @property
    def node_affinity(self) -> NodeAffinity | None:
        """What it says about nodes."""
        affinity = self.pod.spec.affinity
        return None if affinity is None else affinity.node_affinity

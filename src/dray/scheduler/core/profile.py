"""How pods of one scheduler name are judged: which filters and scores run, with what weights and settings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from dray.allocator.policy import FIRST_FIT, Policy
from dray.api.core.affinity import NodeAffinity, TopologySpreadConstraint
from dray.scheduler.core.resources import CPU, MEMORY

__all__ = ["DEFAULT_PLUGINS", "DEFAULT_WEIGHTS", "FitScore", "FitStrategy", "Profile", "UtilizationPoint"]

DEFAULT_PLUGINS: Final = (
    "SchedulingGates",
    "PrioritySort",
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "DefaultPreemption",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "DefaultBinder",
    "NodeDeclaredFeatures",
    "GangScheduling",
    "TopologyPlacementGenerator",
    "PodGroupPodsCount",
)
"""All plugins in Kubernetes' order, which is the order filters run in."""

DEFAULT_WEIGHTS: Final[Mapping[str, int]] = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}
"""The plugins that score, and what their points are multiplied with."""


class FitStrategy(StrEnum):
    """Which nodes NodeResourcesFit prefers: empty ones, full ones, or by a curve over their use."""

    LEAST_ALLOCATED = "LeastAllocated"
    MOST_ALLOCATED = "MostAllocated"
    REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"


class UtilizationPoint(msgspec.Struct, frozen=True):
    """A point of a curve: use in percent, and the score of a node with that use, 0 to 10."""

    utilization: int
    score: int


class FitScore(msgspec.Struct, frozen=True):
    """How NodeResourcesFit scores. `resources` are those that count, with their weights; `curve` is for the ratio."""

    strategy: FitStrategy = FitStrategy.LEAST_ALLOCATED
    resources: tuple[tuple[str, int], ...] = ((CPU, 1), (MEMORY, 1))
    curve: tuple[UtilizationPoint, ...] = ()


class Profile(msgspec.Struct, frozen=True):
    """Settings of one scheduler name. The defaults are Kubernetes'.

    A plugin takes part if it is in `plugins`, which holds names in the order of `DEFAULT_PLUGINS`; it filters unless it
    is in `disabled_filters`, and scores if it has a weight above 0. Preemption stops to look for something better after
    `preemption_candidates` nodes, or `preemption_percentage` of the candidates if that is more. `default_constraints`
    spread pods that name no constraints of their own; None is Kubernetes' own way, by host and zone, which does not ask
    that nodes have both labels.
    """

    scheduler_name: str = "default-scheduler"
    plugins: tuple[str, ...] = DEFAULT_PLUGINS
    disabled_filters: frozenset[str] = frozenset()
    weights: Mapping[str, int] = msgspec.field(default_factory=lambda: DEFAULT_WEIGHTS)
    fit_score: FitScore = FitScore()
    balanced_resources: tuple[str, ...] = (CPU, MEMORY)
    ignored_resources: frozenset[str] = frozenset()
    ignored_resource_groups: frozenset[str] = frozenset()
    default_constraints: tuple[TopologySpreadConstraint, ...] | None = None
    added_affinity: NodeAffinity | None = None
    hard_pod_affinity_weight: int = 1
    is_blind_to_preferences_of_placed_pods: bool = False
    preemption_candidates: int = 100
    preemption_percentage: int = 10
    allocation_policy: Policy = FIRST_FIT
    filter_timeout_seconds: float = 10.0
    binding_timeout_seconds: float = 600.0

    def has(self, plugin: str) -> bool:
        """Whether a plugin takes part."""
        return plugin in self.plugins

    def filters_by(self, plugin: str) -> bool:
        """Whether a plugin refuses nodes."""
        return plugin in self.plugins and plugin not in self.disabled_filters

    def weight(self, plugin: str) -> int:
        """What the points of a plugin are multiplied with; 0 if it does not score."""
        return self.weights.get(plugin, 0) if plugin in self.plugins else 0

"""Wishes and demands about the node a pod runs on, and about the pods beside it.

Written by tools/generate_core_types.py; change its table, not this.
"""

from typing import Annotated

from msgspec import Meta

from dray.api.core.nodeselector import NodeSelector, NodeSelectorTerm
from dray.api.meta import LabelSelector
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, always

__all__ = [
    "Affinity",
    "NodeAffinity",
    "PodAffinity",
    "PodAffinityTerm",
    "PodAntiAffinity",
    "PreferredSchedulingTerm",
    "TopologySpreadConstraint",
    "WeightedPodAffinityTerm",
]


class PreferredSchedulingTerm(ApiStruct):
    """A node selector term that adds to the score of the nodes it matches."""

    weight: Annotated[Int32, Meta(description="What a match adds to the score, 1 to 100.", extra=REQUIRED)] = always(
        int
    )
    preference: Annotated[NodeSelectorTerm, Meta(description="Which nodes get the weight.", extra=REQUIRED)] = always(
        NodeSelectorTerm
    )


class NodeAffinity(ApiStruct):
    """Rules about the node a pod may run on."""

    required_during_scheduling_ignored_during_execution: Annotated[
        NodeSelector | None,
        Meta(description="Nodes the pod may be placed on; later changes of the node do not evict it."),
    ] = None
    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[PreferredSchedulingTerm, ...],
        Meta(description="Nodes the pod is better placed on; the sum of the matching weights counts.", extra=ATOMIC),
    ] = ()


class PodAffinityTerm(ApiStruct):
    """A set of other pods, and the kind of place that is shared with them."""

    label_selector: Annotated[
        LabelSelector | None, Meta(description="Labels of the pods that are meant; absent matches no pod.")
    ] = None
    namespaces: Annotated[
        tuple[str, ...],
        Meta(
            description="Namespaces of the pods that are meant, in addition to namespaceSelector; both absent is "
            "the pod's own.",
            extra=ATOMIC,
        ),
    ] = ()
    topology_key: Annotated[
        str, Meta(description="Node label whose equal values make two nodes the same place.", extra=REQUIRED)
    ] = always(str)
    namespace_selector: Annotated[
        LabelSelector | None,
        Meta(description="Labels of the namespaces of the pods that are meant; empty matches all namespaces."),
    ] = None
    match_label_keys: Annotated[
        tuple[str, ...],
        Meta(description="Labels of the pod itself whose values the other pods must share.", extra=ATOMIC),
    ] = ()
    mismatch_label_keys: Annotated[
        tuple[str, ...],
        Meta(description="Labels of the pod itself whose values the other pods must not share.", extra=ATOMIC),
    ] = ()


class WeightedPodAffinityTerm(ApiStruct):
    """A pod affinity term that adds to the score of the nodes it holds for."""

    weight: Annotated[Int32, Meta(description="What a match adds to the score, 1 to 100.", extra=REQUIRED)] = always(
        int
    )
    pod_affinity_term: Annotated[
        PodAffinityTerm, Meta(description="Which pods and which kind of place.", extra=REQUIRED)
    ] = always(PodAffinityTerm)


class PodAffinity(ApiStruct):
    """Other pods that a pod wants to be near to."""

    required_during_scheduling_ignored_during_execution: Annotated[
        tuple[PodAffinityTerm, ...],
        Meta(description="Every one of these terms must hold for the place the pod goes to.", extra=ATOMIC),
    ] = ()
    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[WeightedPodAffinityTerm, ...],
        Meta(description="Places with such pods are better; the sum of the matching weights counts.", extra=ATOMIC),
    ] = ()


class PodAntiAffinity(ApiStruct):
    """Other pods that a pod wants to be away from."""

    required_during_scheduling_ignored_during_execution: Annotated[
        tuple[PodAffinityTerm, ...],
        Meta(description="None of these terms may hold for the place the pod goes to.", extra=ATOMIC),
    ] = ()
    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[WeightedPodAffinityTerm, ...],
        Meta(description="Places with such pods are worse; the sum of the matching weights counts.", extra=ATOMIC),
    ] = ()


class Affinity(ApiStruct):
    """All rules about nodes and neighbours of a pod."""

    node_affinity: Annotated[NodeAffinity | None, Meta(description="Rules about the node.")] = None
    pod_affinity: Annotated[PodAffinity | None, Meta(description="Pods to be near to.")] = None
    pod_anti_affinity: Annotated[PodAntiAffinity | None, Meta(description="Pods to be away from.")] = None


class TopologySpreadConstraint(ApiStruct):
    """How evenly pods of one kind are spread over places."""

    max_skew: Annotated[Int32, Meta(description="By how many pods two places may differ.", extra=REQUIRED)] = always(
        int
    )
    topology_key: Annotated[str, Meta(description="Node label whose values are the places.", extra=REQUIRED)] = always(
        str
    )
    when_unsatisfiable: Annotated[
        str,
        Meta(
            description="Whether a pod that would make the spread worse waits, or goes where it is least bad.",
            extra=REQUIRED
            | {
                "enum": (
                    "DoNotSchedule",
                    "ScheduleAnyway",
                )
            },
        ),
    ] = always(str)
    label_selector: Annotated[LabelSelector | None, Meta(description="Pods that are counted.")] = None
    min_domains: Annotated[
        Int32 | None,
        Meta(description="Places there must be at least; with fewer, the emptiest counts as holding none."),
    ] = None
    node_affinity_policy: Annotated[
        str | None,
        Meta(
            description="Whether nodes the pod's affinity rules out are counted; absent is Honor.",
            extra={
                "enum": (
                    "Honor",
                    "Ignore",
                )
            },
        ),
    ] = None
    node_taints_policy: Annotated[
        str | None,
        Meta(
            description="Whether nodes with taints the pod does not tolerate are counted; absent is Ignore.",
            extra={
                "enum": (
                    "Honor",
                    "Ignore",
                )
            },
        ),
    ] = None
    match_label_keys: Annotated[
        tuple[str, ...],
        Meta(description="Labels of the pod itself whose values the counted pods must share.", extra=ATOMIC),
    ] = ()

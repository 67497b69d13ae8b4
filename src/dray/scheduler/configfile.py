"""The text of a scheduler configuration file: KubeSchedulerConfiguration, as far as it has a meaning here.

Fields that tune what dray does otherwise, such as how many nodes are looked at, are taken and change nothing, so that
an existing file can be used. What the file means is worked out in `configuration`.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Raw

from dray.api.core.affinity import NodeAffinity, TopologySpreadConstraint
from dray.api.struct import NO_JSON, ApiStruct, Int32, Int64

__all__ = [
    "ConfigurationFile",
    "DefaultPreemptionFile",
    "DynamicResourcesFile",
    "InterPodAffinityFile",
    "LeaderElectionFile",
    "NodeAffinityFile",
    "NodeResourcesBalancedAllocationFile",
    "NodeResourcesFitFile",
    "PluginEntry",
    "PluginSet",
    "PluginsFile",
    "PodTopologySpreadFile",
    "ProfileFile",
    "RatioFile",
    "ResourceEntry",
    "ScoringStrategyFile",
    "VolumeBindingFile",
]


class PluginEntry(ApiStruct):
    """A plugin by name."""

    name: Annotated[str, Meta(description="Name of the plugin; `*` stands for all where plugins are disabled.")] = ""
    weight: Annotated[Int32 | None, Meta(description="What its points are multiplied with; 0 is 1.")] = None


class PluginSet(ApiStruct):
    """What is changed about the plugins of one step."""

    enabled: Annotated[tuple[PluginEntry, ...], Meta(description="Plugins to add, or to give another weight.")] = ()
    disabled: Annotated[tuple[PluginEntry, ...], Meta(description="Plugins to leave out.")] = ()


class PluginsFile(ApiStruct):
    """Changes by step. Steps that filter and score can be changed one by one, the others only together."""

    multi_point: Annotated[PluginSet, Meta(description="All steps at once.")] = PluginSet()
    filter: Annotated[PluginSet, Meta(description="Which nodes are refused.")] = PluginSet()
    score: Annotated[PluginSet, Meta(description="Which nodes are better.")] = PluginSet()
    post_filter: Annotated[PluginSet, Meta(description="What is done for a pod that fits nowhere.")] = PluginSet()
    pre_enqueue: Annotated[PluginSet, Meta(description="Cannot be changed.")] = PluginSet()
    queue_sort: Annotated[PluginSet, Meta(description="Cannot be changed.")] = PluginSet()
    pre_filter: Annotated[PluginSet, Meta(description="Cannot be changed.")] = PluginSet()
    pre_score: Annotated[PluginSet, Meta(description="Cannot be changed.")] = PluginSet()
    reserve: Annotated[PluginSet, Meta(description="Cannot be changed.")] = PluginSet()
    permit: Annotated[PluginSet, Meta(description="Cannot be changed.")] = PluginSet()
    pre_bind: Annotated[PluginSet, Meta(description="Cannot be changed.")] = PluginSet()
    bind: Annotated[PluginSet, Meta(description="Cannot be changed.")] = PluginSet()
    post_bind: Annotated[PluginSet, Meta(description="Cannot be changed.")] = PluginSet()


class PluginConfig(ApiStruct):
    """Settings of one plugin."""

    name: Annotated[str, Meta(description="Name of the plugin.")] = ""
    args: Annotated[Raw, Meta(description="Its settings.")] = NO_JSON


class ProfileFile(ApiStruct):
    """Settings for pods of one scheduler name."""

    scheduler_name: Annotated[str, Meta(description="What `spec.schedulerName` of the pods says.")] = ""
    percentage_of_nodes_to_score: Annotated[Int32 | None, Meta(description="Changes nothing.")] = None
    plugins: Annotated[PluginsFile, Meta(description="Which plugins take part.")] = PluginsFile()
    plugin_config: Annotated[tuple[PluginConfig, ...], Meta(description="Settings of plugins.")] = ()


class LeaderElectionFile(ApiStruct):
    """How several schedulers agree on the one that works."""

    leader_elect: Annotated[bool | None, Meta(description="Whether they do at all.")] = None
    lease_duration: Annotated[str | None, Meta(description="How long a leader counts as alive.")] = None
    renew_deadline: Annotated[str | None, Meta(description="How long a leader tries to renew.")] = None
    retry_period: Annotated[str | None, Meta(description="Time between tries.")] = None
    resource_lock: Annotated[str, Meta(description="leases, the only kind.")] = ""
    resource_name: Annotated[str, Meta(description="Name of the lease.")] = ""
    resource_namespace: Annotated[str, Meta(description="Namespace of the lease.")] = ""


class ClientConnectionFile(ApiStruct):
    """How to reach the API server."""

    kubeconfig: Annotated[str, Meta(description="Path of a kubeconfig file.")] = ""
    accept_content_types: Annotated[str, Meta(description="Changes nothing.")] = ""
    content_type: Annotated[str, Meta(description="Changes nothing.")] = ""
    qps: Annotated[float | None, Meta(description="Changes nothing.")] = None
    burst: Annotated[Int32 | None, Meta(description="Changes nothing.")] = None


class ConfigurationFile(ApiStruct):
    """The whole file."""

    api_version: Annotated[str, Meta(description="kubescheduler.config.k8s.io/v1")] = ""
    kind: Annotated[str, Meta(description="KubeSchedulerConfiguration")] = ""
    parallelism: Annotated[Int32 | None, Meta(description="Changes nothing.")] = None
    leader_election: Annotated[LeaderElectionFile, Meta(description="How one of several is chosen.")] = (
        LeaderElectionFile()
    )
    client_connection: Annotated[ClientConnectionFile, Meta(description="How to reach the API server.")] = (
        ClientConnectionFile()
    )
    enable_profiling: Annotated[bool | None, Meta(description="Changes nothing.")] = None
    enable_contention_profiling: Annotated[bool | None, Meta(description="Changes nothing.")] = None
    percentage_of_nodes_to_score: Annotated[Int32 | None, Meta(description="Changes nothing.")] = None
    pod_initial_backoff_seconds: Annotated[Int64 | None, Meta(description="First wait after a failure.")] = None
    pod_max_backoff_seconds: Annotated[Int64 | None, Meta(description="Longest wait after failures; 0 is none.")] = None
    profiles: Annotated[tuple[ProfileFile, ...], Meta(description="Settings by scheduler name.")] = ()
    extenders: Annotated[tuple[Raw, ...], Meta(description="Not supported: must be empty.")] = ()
    delay_cache_until_active: Annotated[bool | None, Meta(description="Changes nothing.")] = None


class _PluginFile(ApiStruct):
    """What settings of every plugin may say about themselves."""

    api_version: Annotated[str, Meta(description="kubescheduler.config.k8s.io/v1")] = ""
    kind: Annotated[str, Meta(description="The plugin's name and Args.")] = ""


class ResourceEntry(ApiStruct):
    """A resource that counts."""

    name: Annotated[str, Meta(description="Name of the resource.")] = ""
    weight: Annotated[Int64, Meta(description="Its weight, 1 to 100; 0 is 1.")] = 0


class ShapePoint(ApiStruct):
    """A point of a curve."""

    utilization: Annotated[Int32, Meta(description="Use in percent.")] = 0
    score: Annotated[Int32, Meta(description="Score at that use, 0 to 10.")] = 0


class RatioFile(ApiStruct):
    """A curve over the use of resources."""

    shape: Annotated[tuple[ShapePoint, ...], Meta(description="Points of the curve, by rising use.")] = ()


class ScoringStrategyFile(ApiStruct):
    """Which nodes NodeResourcesFit prefers."""

    type: Annotated[str, Meta(description="LeastAllocated, MostAllocated or RequestedToCapacityRatio.")] = ""
    resources: Annotated[tuple[ResourceEntry, ...], Meta(description="What counts; absent is cpu and memory.")] = ()
    requested_to_capacity_ratio: Annotated[RatioFile | None, Meta(description="The curve, for the ratio.")] = None


class NodeResourcesFitFile(_PluginFile):
    """Settings of NodeResourcesFit."""

    ignored_resources: Annotated[tuple[str, ...], Meta(description="Extended resources not looked at.")] = ()
    ignored_resource_groups: Annotated[
        tuple[str, ...], Meta(description="Domains of extended resources not looked at.")
    ] = ()
    scoring_strategy: Annotated[ScoringStrategyFile, Meta(description="Which nodes are better.")] = (
        ScoringStrategyFile()
    )


class NodeResourcesBalancedAllocationFile(_PluginFile):
    """Settings of NodeResourcesBalancedAllocation."""

    resources: Annotated[tuple[ResourceEntry, ...], Meta(description="What counts; weights must be 1.")] = ()


class PodTopologySpreadFile(_PluginFile):
    """Settings of PodTopologySpread."""

    default_constraints: Annotated[
        tuple[TopologySpreadConstraint, ...], Meta(description="For pods without constraints of their own.")
    ] = ()
    defaulting_type: Annotated[str, Meta(description="System, which is by host and zone, or List.")] = ""


class InterPodAffinityFile(_PluginFile):
    """Settings of InterPodAffinity."""

    hard_pod_affinity_weight: Annotated[
        Int32 | None, Meta(description="What required affinity of pods on nodes counts, 0 to 100.")
    ] = None
    ignore_preferred_terms_of_existing_pods: Annotated[
        bool, Meta(description="Whether pods without wishes are placed without regard to those of others.")
    ] = False


class NodeAffinityFile(_PluginFile):
    """Settings of NodeAffinity."""

    added_affinity: Annotated[NodeAffinity | None, Meta(description="Required of nodes besides the pod's own.")] = None


class DefaultPreemptionFile(_PluginFile):
    """Settings of DefaultPreemption."""

    min_candidate_nodes_percentage: Annotated[
        Int32 | None, Meta(description="Share of the candidates after which the search may end, in percent.")
    ] = None
    min_candidate_nodes_absolute: Annotated[
        Int32 | None, Meta(description="Number of candidates after which the search may end.")
    ] = None


class DynamicResourcesFile(_PluginFile):
    """Settings of DynamicResources. `allocationPolicy` is dray's own."""

    filter_timeout: Annotated[str | None, Meta(description="Time to look for devices on one node; 0s is no end.")] = (
        None
    )
    binding_timeout: Annotated[str | None, Meta(description="Time to wait for devices to become ready.")] = None
    allocation_policy: Annotated[
        str | None, Meta(description="Which devices are preferred: first-fit, pack, spread or cel:<expression>.")
    ] = None


class VolumeBindingFile(_PluginFile):
    """Settings of VolumeBinding; they change nothing."""

    bind_timeout_seconds: Annotated[Int64 | None, Meta(description="Changes nothing.")] = None
    shape: Annotated[tuple[ShapePoint, ...], Meta(description="Changes nothing.")] = ()

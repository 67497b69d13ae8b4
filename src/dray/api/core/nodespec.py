"""What is wanted of a node.

Written by tools/generate_core_types.py; change its table, not this.
"""

from typing import Annotated

from msgspec import Meta, field

from dray.api.core.taints import Taint
from dray.api.struct import ATOMIC, REQUIRED, SET, ApiStruct, always

__all__ = ["ConfigMapNodeConfigSource", "NodeConfigSource", "NodePodPreemptionPolicy", "NodeSpec"]


class ConfigMapNodeConfigSource(ApiStruct):
    """A config map with settings for the node agent."""

    namespace: Annotated[str, Meta(description="Namespace of the config map.", extra=REQUIRED)] = always(str)
    name: Annotated[str, Meta(description="Name of the config map.", extra=REQUIRED)] = always(str)
    uid: Annotated[str, Meta(description="Uid of the config map.")] = ""
    resource_version: Annotated[str, Meta(description="Revision of the config map.")] = ""
    kubelet_config_key: Annotated[str, Meta(description="Key with the settings.", extra=REQUIRED)] = always(str)


class NodeConfigSource(ApiStruct):
    """Settings for the node agent; no longer acted upon."""

    config_map: Annotated[ConfigMapNodeConfigSource | None, Meta(description="A config map.")] = None


class NodePodPreemptionPolicy(ApiStruct):
    """Limits to preemption on the node."""

    disable_resize_preemption: Annotated[
        tuple[str, ...], Meta(description="Resources whose resizing preempts no pod.", extra=SET)
    ] = ()


class NodeSpec(ApiStruct):
    """What is wanted of a node."""

    pod_cidr: Annotated[str, Meta(description="First address range for pods.")] = field(default="", name="podCIDR")
    external_id: Annotated[str, Meta(description="Old identity of the machine.")] = field(default="", name="externalID")
    provider_id: Annotated[str, Meta(description="Identity of the machine at its provider.")] = field(
        default="", name="providerID"
    )
    unschedulable: Annotated[bool, Meta(description="Whether new pods are kept away.")] = False
    taints: Annotated[tuple[Taint, ...], Meta(description="Marks that repel pods.", extra=ATOMIC)] = ()
    config_source: Annotated[
        NodeConfigSource | None, Meta(description="Settings for the node agent; no longer acted upon.")
    ] = None
    pod_cidrs: Annotated[
        tuple[str, ...], Meta(description="Address ranges for pods.", extra=SET | {"patch": "merge"})
    ] = field(default=(), name="podCIDRs")
    pod_preemption_policy: Annotated[
        NodePodPreemptionPolicy | None, Meta(description="Limits to preemption on the node.")
    ] = None

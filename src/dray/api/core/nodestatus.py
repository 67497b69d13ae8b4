"""What is known about a node.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.core.nodespec import NodeConfigSource
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, Int64, always, always_null, list_map
from dray.values.quantity import Quantity
from dray.values.times import Time

__all__ = [
    "AttachedVolume",
    "ContainerImage",
    "DaemonEndpoint",
    "NodeAddress",
    "NodeCondition",
    "NodeConfigStatus",
    "NodeDaemonEndpoints",
    "NodeFeatures",
    "NodeRuntimeHandler",
    "NodeRuntimeHandlerFeatures",
    "NodeStatus",
    "NodeSwapStatus",
    "NodeSystemInfo",
]


class NodeAddress(ApiStruct):
    """An address of the node."""

    type: Annotated[
        str,
        Meta(description="What kind: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.", extra=REQUIRED),
    ] = always(str)
    address: Annotated[str, Meta(description="The address.", extra=REQUIRED)] = always(str)


class NodeCondition(ApiStruct):
    """One aspect of the state of a node."""

    type: Annotated[str, Meta(description="Which aspect, such as Ready.", extra=REQUIRED)] = always(str)
    status: Annotated[str, Meta(description="True, False or Unknown.", extra=REQUIRED)] = always(str)
    last_heartbeat_time: Annotated[Time | None, Meta(description="When this was last confirmed.")] = always_null()
    last_transition_time: Annotated[Time | None, Meta(description="When the status last changed.")] = always_null()
    reason: Annotated[str, Meta(description="Why, as one word.")] = ""
    message: Annotated[str, Meta(description="Why, in a sentence.")] = ""


class DaemonEndpoint(ApiStruct):
    """Where a daemon listens."""

    port: Annotated[Int32, Meta(description="Number of the port.", extra=REQUIRED)] = always(int, name="Port")


class NodeDaemonEndpoints(ApiStruct):
    """Where the daemons of the node listen."""

    kubelet_endpoint: Annotated[DaemonEndpoint, Meta(description="Where the node agent listens.")] = always(
        DaemonEndpoint
    )


class NodeSwapStatus(ApiStruct):
    """Swap space."""

    capacity: Annotated[Int64 | None, Meta(description="Size in bytes.")] = None


class NodeSystemInfo(ApiStruct):
    """Versions and identities of the machine."""

    machine_id: Annotated[str, Meta(description="Identity of the installation.", extra=REQUIRED)] = always(
        str, name="machineID"
    )
    system_uuid: Annotated[str, Meta(description="Identity of the hardware.", extra=REQUIRED)] = always(
        str, name="systemUUID"
    )
    boot_id: Annotated[str, Meta(description="Identity of this boot.", extra=REQUIRED)] = always(str, name="bootID")
    kernel_version: Annotated[str, Meta(description="Version of the kernel.", extra=REQUIRED)] = always(str)
    os_image: Annotated[str, Meta(description="Name of the operating system image.", extra=REQUIRED)] = always(str)
    container_runtime_version: Annotated[str, Meta(description="Runtime and its version.", extra=REQUIRED)] = always(
        str
    )
    kubelet_version: Annotated[str, Meta(description="Version of the node agent.", extra=REQUIRED)] = always(str)
    kube_proxy_version: Annotated[str, Meta(description="Old version of the proxy.", extra=REQUIRED)] = always(str)
    operating_system: Annotated[str, Meta(description="Operating system.", extra=REQUIRED)] = always(str)
    architecture: Annotated[str, Meta(description="Processor architecture.", extra=REQUIRED)] = always(str)
    swap: Annotated[NodeSwapStatus | None, Meta(description="Swap space.")] = None
    running_in_user_namespace: Annotated[
        bool | None, Meta(description="Whether the node agent is not root on the host.")
    ] = None


class ContainerImage(ApiStruct):
    """An image on the node."""

    names: Annotated[tuple[str, ...], Meta(description="Names of the image.", extra=ATOMIC)] = ()
    size_bytes: Annotated[Int64, Meta(description="Size in bytes.")] = 0


class AttachedVolume(ApiStruct):
    """A volume attached to the node."""

    name: Annotated[str, Meta(description="Name of the volume.", extra=REQUIRED)] = always(str)
    device_path: Annotated[str, Meta(description="Path of the device.", extra=REQUIRED)] = always(str)


class NodeConfigStatus(ApiStruct):
    """State of the settings; no longer acted upon."""

    assigned: Annotated[NodeConfigSource | None, Meta(description="Settings to use next.")] = None
    active: Annotated[NodeConfigSource | None, Meta(description="Settings in use.")] = None
    last_known_good: Annotated[NodeConfigSource | None, Meta(description="Settings to fall back to.")] = None
    error: Annotated[str, Meta(description="What is wrong with them.")] = ""


class NodeRuntimeHandlerFeatures(ApiStruct):
    """What a runtime handler can do."""

    recursive_read_only_mounts: Annotated[
        bool | None, Meta(description="Whether mounts can be read-only all the way down.")
    ] = None
    user_namespaces: Annotated[bool | None, Meta(description="Whether pods can have user ids of their own.")] = None


class NodeRuntimeHandler(ApiStruct):
    """One handler of the container runtime."""

    name: Annotated[str, Meta(description="Name of the handler; empty is the default.")] = always(str)
    features: Annotated[NodeRuntimeHandlerFeatures | None, Meta(description="What it can do.")] = None


class NodeFeatures(ApiStruct):
    """What the container runtime can do."""

    supplemental_groups_policy: Annotated[
        bool | None, Meta(description="Whether it follows supplementalGroupsPolicy.")
    ] = None


class NodeStatus(ApiStruct):
    """What is known about a node."""

    capacity: Annotated[Mapping[str, Quantity], Meta(description="All there is, by resource.")] = {}
    allocatable: Annotated[Mapping[str, Quantity], Meta(description="What pods may use of it, by resource.")] = {}
    phase: Annotated[
        str,
        Meta(
            description="Old life phase; not set any more.",
            extra={
                "enum": (
                    "Pending",
                    "Running",
                    "Terminated",
                )
            },
        ),
    ] = ""
    conditions: Annotated[
        tuple[NodeCondition, ...], Meta(description="Aspects of its state.", extra=list_map("type"))
    ] = ()
    addresses: Annotated[tuple[NodeAddress, ...], Meta(description="How to reach it.", extra=list_map("type"))] = ()
    daemon_endpoints: Annotated[NodeDaemonEndpoints, Meta(description="Where its daemons listen.")] = always(
        NodeDaemonEndpoints
    )
    node_info: Annotated[NodeSystemInfo, Meta(description="Versions and identities.")] = always(NodeSystemInfo)
    images: Annotated[tuple[ContainerImage, ...], Meta(description="Images it holds.", extra=ATOMIC)] = ()
    volumes_in_use: Annotated[tuple[str, ...], Meta(description="Volumes in use.", extra=ATOMIC)] = ()
    volumes_attached: Annotated[tuple[AttachedVolume, ...], Meta(description="Volumes attached.", extra=ATOMIC)] = ()
    config: Annotated[NodeConfigStatus | None, Meta(description="State of the settings; no longer acted upon.")] = None
    runtime_handlers: Annotated[
        tuple[NodeRuntimeHandler, ...], Meta(description="Handlers of the container runtime.", extra=ATOMIC)
    ] = ()
    features: Annotated[NodeFeatures | None, Meta(description="What the container runtime can do.")] = None
    declared_features: Annotated[
        tuple[str, ...], Meta(description="Features of the node agent that pods may depend on.", extra=ATOMIC)
    ] = ()

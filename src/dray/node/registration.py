"""The Node object: what a machine is and has, written when its agent begins and kept up to date."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dray.api.core.kinds import NODE
from dray.api.core.node import Node
from dray.api.core.nodespec import NodeSpec
from dray.api.core.nodestatus import (
    DaemonEndpoint,
    NodeAddress,
    NodeCondition,
    NodeDaemonEndpoints,
    NodeStatus,
    NodeSystemInfo,
)
from dray.api.core.taints import Taint
from dray.api.meta import ObjectMeta
from dray.client.port import Client, ObjectName
from dray.errors import AlreadyExists, Conflict
from dray.values.quantity import Quantity, parse_quantity
from dray.values.times import Time

__all__ = ["KUBELET_VERSION", "NodeFacts", "describe_node", "register_node"]

KUBELET_VERSION: Final = "v1.37.0"
"""The Kubernetes whose kubelet the agent behaves like."""
_DECLARED: Final = ("DRANodeAllocatableResources", "DRAOptionalNodeOperations")
"""Optional behaviour that schedulers may count on."""
_SOUND: Final = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
_MOST_ATTEMPTS: Final = 5


class NodeFacts(Struct, frozen=True):
    """What there is to say of a node."""

    name: str
    runtime_version: str
    capacity: Mapping[str, Quantity] = {}
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    """Set when the node is registered for the first time; later they belong to administrators."""
    host_ip: str = "127.0.0.1"
    port: int = 0
    """Where the agent's endpoint listens; 0 if it is in the server's process."""
    architecture: str = "amd64"
    kernel: str = ""
    os_image: str = ""
    machine_id: str = ""
    boot_id: str = ""


DEFAULT_CAPACITY: Final[Mapping[str, str]] = {
    "cpu": "64",
    "memory": "512Gi",
    "pods": "250",
    "ephemeral-storage": "1Ti",
}
"""What a node has that nobody measured: enough that devices, not processors, decide where pods go."""


def describe_node(facts: NodeFacts, now: Time, old: Node | None = None) -> Node:
    """The node as it should be. Labels, taints and conditions that others set on an old one stay."""
    meta = old.metadata if old is not None else ObjectMeta(name=facts.name)
    labels = {
        "kubernetes.io/arch": facts.architecture,
        "kubernetes.io/hostname": facts.name,
        "kubernetes.io/os": "linux",
        **facts.labels,
    }
    annotations = {**meta.annotations, **facts.annotations}
    spec = old.spec if old is not None else NodeSpec(taints=facts.taints)
    return Node(
        kind=NODE.name,
        api_version="v1",
        metadata=replace(meta, labels={**meta.labels, **labels}, annotations=annotations),
        spec=spec,
        status=_describe_status(facts, now, old.status if old is not None else NodeStatus()),
    )


def _describe_status(facts: NodeFacts, now: Time, old: NodeStatus) -> NodeStatus:
    capacity = {name: parse_quantity(text) for name, text in DEFAULT_CAPACITY.items()} | dict(facts.capacity)
    return replace(
        old,
        capacity=capacity,
        allocatable=capacity,
        conditions=_describe_conditions(old.conditions, now),
        addresses=(
            NodeAddress(type="InternalIP", address=facts.host_ip),
            NodeAddress(type="Hostname", address=facts.name),
        ),
        daemon_endpoints=NodeDaemonEndpoints(kubelet_endpoint=DaemonEndpoint(port=facts.port)),
        node_info=NodeSystemInfo(
            machine_id=facts.machine_id,
            boot_id=facts.boot_id,
            kernel_version=facts.kernel,
            os_image=facts.os_image,
            container_runtime_version=facts.runtime_version,
            kubelet_version=KUBELET_VERSION,
            operating_system="linux",
            architecture=facts.architecture,
        ),
        declared_features=_DECLARED,
    )


def _describe_conditions(old: Sequence[NodeCondition], now: Time) -> tuple[NodeCondition, ...]:
    wanted = [(type_, "False", reason, message) for type_, reason, message in _SOUND]
    wanted.append(("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
    known = {each.type: each for each in old}
    mine = [
        NodeCondition(
            type=type_,
            status=status,
            last_heartbeat_time=now,
            last_transition_time=known[type_].last_transition_time
            if type_ in known and known[type_].status == status
            else now,
            reason=reason,
            message=message,
        )
        for type_, status, reason, message in wanted
    ]
    names = {each.type for each in mine}
    return (*(each for each in old if each.type not in names), *mine)


async def register_node(client: Client, facts: NodeFacts, now: Time) -> Node:
    """Create the Node, or bring the one that is there up to date. Raises ApiError, Unreachable."""
    try:
        return await client.create(NODE, describe_node(facts, now))
    except AlreadyExists:
        pass
    for attempt in range(_MOST_ATTEMPTS):
        old = await client.get(NODE, ObjectName(facts.name))
        try:
            wanted = describe_node(facts, now, old)
            if wanted.metadata != old.metadata:
                old = await client.update(NODE, replace(wanted, status=old.status))
            return await client.update(NODE, replace(old, status=wanted.status), subresource="status")
        except Conflict:
            if attempt == _MOST_ATTEMPTS - 1:
                raise
    raise AssertionError

"""Groups of nodes as people ask for them: from `dgx-h100:4` to nodes with names, labels and equipment."""

import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from dray.api.core.taints import Taint
from dray.drivers.sim.catalog import Equipment, parse_equipment
from dray.errors import DrayError
from dray.values.names import dns_subdomain_faults
from dray.values.quantity import Quantity, parse_quantity

__all__ = ["NodeGroup", "NodeGroupError", "PlannedNode", "parse_node_groups", "plan_nodes"]

_GROUP: Final = re.compile(r"(?P<equipment>.+?)(?::(?P<count>[0-9]+))?", re.DOTALL)
_MOST_NODES: Final = 10_000
"""Of one group: more do not fit into one process, so a larger number is a slip."""
_CONTROL_PLANE: Final = "control-plane"
"""The equipment of a node that has no devices, and that pods keep away from."""
_CONTROL_PLANE_KEY: Final = "node-role.kubernetes.io/control-plane"
_MACHINE: Final = "machine"
"""The machine that dray runs on: its own processors and memory, and drivers that register with it."""


class NodeGroupError(DrayError):
    """A group of nodes is not as `PROFILE[:COUNT]`."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.hint = hint


class NodeGroup(Struct, frozen=True):
    """Nodes that are alike: how many, and what each of them has."""

    count: int
    equipment: Equipment
    is_control_plane: bool = False
    is_machine: bool = False

    @property
    def title(self) -> str:
        """How names of its nodes begin: as its first profile."""
        return re.split(r"[:+]", self.equipment.text)[0]


class PlannedNode(Struct, frozen=True):
    """One node as it is to be."""

    name: str
    equipment: Equipment
    is_machine: bool = False
    architecture: str = "amd64"
    capacity: dict[str, Quantity] = {}
    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()


def parse_node_groups(texts: Iterable[str]) -> list[NodeGroup]:
    """Read `dgx-h100`, `dgx-h100:mig+rdma-nic:4` and their like. Raises NodeGroupError, ProfileError."""
    groups = [_parse_group(text) for text in texts]
    if sum(group.is_machine for group in groups) > 1:
        raise NodeGroupError("there is one machine that this runs on", f"name {_MACHINE} once")
    return groups


def _parse_group(text: str) -> NodeGroup:
    match = _GROUP.fullmatch(text)
    if match is None:
        raise NodeGroupError("a group of nodes has no name", "dgx-h100 is one node, dgx-h100:4 are four")
    name = match["equipment"]
    is_bare = name in (_CONTROL_PLANE, _MACHINE)
    equipment = parse_equipment("plain" if is_bare else name)
    count = int(match["count"]) if match["count"] else equipment.nodes
    if name == _MACHINE and count != 1:
        raise NodeGroupError(f"{text}: there is one machine that this runs on", f"--nodes {_MACHINE}, without a number")
    if not 1 <= count <= _MOST_NODES:
        raise NodeGroupError(f"{text}: a group has 1 to {_MOST_NODES} nodes", f"{name}:4 are four")
    if is_bare:
        equipment = Equipment(name, equipment.profiles, equipment.blueprints)
    return NodeGroup(count, equipment, is_control_plane=name == _CONTROL_PLANE, is_machine=name == _MACHINE)


def plan_nodes(groups: Sequence[NodeGroup]) -> Iterator[PlannedNode]:
    """Nodes by group, named after it. Groups that begin alike count on."""
    counts: dict[str, int] = {}
    for group in groups:
        if group.is_machine:
            yield PlannedNode(_name_machine(), group.equipment, is_machine=True)
            continue
        for _ in range(group.count):
            index = counts.get(group.title, 0)
            counts[group.title] = index + 1
            yield _plan_node(group, index)


def _plan_node(group: NodeGroup, index: int) -> PlannedNode:
    shape = group.equipment.shape
    known = {"cpu": shape.cpu, "memory": shape.memory, "pods": shape.pods}
    role = {_CONTROL_PLANE_KEY: ""} if group.is_control_plane else {}
    return PlannedNode(
        name=f"{group.title}-{index}",
        equipment=group.equipment,
        architecture=shape.architecture,
        capacity={name: parse_quantity(text) for name, text in known.items() if text},
        labels={**group.equipment.labels(index), **role},
        taints=(Taint(key=_CONTROL_PLANE_KEY, effect="NoSchedule"),) if group.is_control_plane else (),
    )


def _name_machine() -> str:
    """As a kubelet would call it, by its host name; where that is no name for a node, by what it is."""
    name = socket.gethostname().lower()
    return _MACHINE if dns_subdomain_faults(name) else name

"""A profile: what one kind of node has, as its file says it."""

from collections.abc import Mapping

from msgspec import Struct

from dray.drivers.sim.amd import AmdPart
from dray.drivers.sim.example.part import ExamplePart
from dray.drivers.sim.fabric import FabricPart
from dray.drivers.sim.interfaces import DranetPart, VirtualFunctionsPart
from dray.drivers.sim.nvidia.part import ComputeDomainPart, NvidiaPart
from dray.drivers.sim.part import Nic
from dray.drivers.sim.plain import PlainPart
from dray.drivers.sim.processors import ProcessorsPart
from dray.drivers.sim.tpu import TpuPart

__all__ = ["AnyPart", "NodeShape", "Profile"]

AnyPart = (
    NvidiaPart
    | ComputeDomainPart
    | VirtualFunctionsPart
    | DranetPart
    | AmdPart
    | TpuPart
    | FabricPart
    | ExamplePart
    | ProcessorsPart
    | PlainPart
)


class NodeShape(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The node itself. `{rack}` in the value of a label is the number of the rack, counted from 0."""

    cpu: str = ""
    memory: str = ""
    architecture: str = ""
    pods: str = ""
    """How many pods fit; empty for as many as on any node."""
    labels: Mapping[str, str] = {}


class Profile(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One kind of node. `unconfirmed` says, in words, what of it no primary source vouches for."""

    title: str
    parts: tuple[AnyPart, ...]
    classes: tuple[str, ...]
    """The files in `classes` that hold the DeviceClasses of the drivers."""
    node: NodeShape = NodeShape()
    nodes: int = 1
    """How many nodes belong together: the trays of a rack."""
    nics: tuple[Nic, ...] = ()
    unconfirmed: tuple[str, ...] = ()

"""Devices that hang on a fabric: several nodes reach them, and one is attached to a node once it is allocated there.

Binding waits until the driver says that the device is attached. Nothing like it has a fixed name, so the driver bears
one of ours.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from dray.api.core.nodeselector import NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm
from dray.api.resource.device import Device, DeviceAttribute
from dray.drivers.sim.attributes import amount, number, text
from dray.drivers.sim.part import Machine, Part
from dray.drivers.sim.pools import Blueprint

__all__ = ["ATTACHED", "ATTACH_FAILED", "DRIVER", "FABRIC_LABEL", "FabricPart"]

DRIVER: Final = "fabric.sim.dray.dev"
FABRIC_LABEL: Final = "sim.dray.dev/fabric"
"""Label of the nodes that are on a fabric; its value is the fabric's name, and the name of the pool."""
ATTACHED: Final = "sim.dray.dev/attached"
ATTACH_FAILED: Final = "sim.dray.dev/attach-failed"


class FabricPart(Part, frozen=True, tag="fabric"):
    """A chassis of accelerators on a fabric."""

    fabric: str
    devices: int
    model: str
    memory: str

    def labels(self) -> Mapping[str, str]:
        """What a node on the fabric is labelled with."""
        return {FABRIC_LABEL: self.fabric}

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """One pool for all nodes on the fabric."""
        on_fabric = NodeSelectorRequirement(key=FABRIC_LABEL, operator=NodeSelectorOperator.IN, values=(self.fabric,))
        reach = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(on_fabric,)),))
        drawn = Blueprint.of(DRIVER, map(self._device, range(self.devices)))
        return [Blueprint(DRIVER, drawn.templates, shared_pool=self.fabric, reach=reach)]

    def _device(self, slot: int) -> Device:
        told = {
            "type": text("gpu"),
            "model": text(self.model),
            "slot": number(slot),
            "uuid": DeviceAttribute(string=f"FAB-{{uuid:{self.fabric}-{slot}}}"),
        }
        return Device(
            name=f"gpu-{slot}",
            attributes=told,
            capacity={"memory": amount(self.memory)},
            binds_to_node=True,
            binding_conditions=(ATTACHED,),
            binding_failure_conditions=(ATTACH_FAILED,),
        )

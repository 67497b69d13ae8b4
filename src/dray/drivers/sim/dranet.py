"""Preparing network interfaces as DRANET does: into the pod, and into the claim's status."""

from collections.abc import Sequence
from typing import ClassVar

from dray.api.meta import Condition
from dray.api.resource.allocation import NetworkDeviceData
from dray.driver.cdi import ContainerEdits, NetDevice, merge_edits
from dray.driver.claims import AllocatedDevice, Claim, DeviceReport, Prepared, PreparedDevice
from dray.driver.config import DriverConfig
from dray.drivers.net.config import NetworkConfig
from dray.drivers.sim.driver import PrepareRefused, SimDriver, show_device
from dray.drivers.sim.identity import derive_uuid

__all__ = ["DranetDriver"]


class DranetDriver(SimDriver):
    """`dra.net` on one node. There is no network behind it: the container is told of the interface it would have."""

    configs: ClassVar[tuple[type[DriverConfig], ...]] = (NetworkConfig,)

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Move each interface into the one pod that the claim is for."""
        consumers = claim.resource.status.reserved_for
        if len(consumers) != 1 or consumers[0].resource != "pods":
            raise PrepareRefused(f"claim must be reserved for one pod, is for {len(consumers)} consumers")
        return Prepared.of(self._attach(each) for each in devices)

    def _attach(self, allocated: AllocatedDevice) -> PreparedDevice:
        device = self.find_device(allocated.name)
        wanted = (allocated.find_config(NetworkConfig) or NetworkConfig()).interface
        host_name = device.attributes["ifName"].string or ""
        name = wanted.name or host_name
        now = self.host.clock.now().to_time()
        conditions = [
            Condition(type=each, status="True", reason=reason, last_transition_time=now)
            for each, reason in (("Ready", "NetworkDeviceReady"), ("NetworkReady", "NetworkReady"))
        ]
        network = NetworkDeviceData(
            interface_name=name,
            hardware_address=wanted.hardware_addr or self._address(device.name),
            ips=wanted.addresses,
        )
        moved = ContainerEdits(net_devices=(NetDevice(host_interface_name=host_name, name=name),))
        report = DeviceReport.of(network=network, conditions=conditions)
        return allocated.prepared(merge_edits(show_device(device), moved), report=report)

    def _address(self, device: str) -> str:
        """A hardware address of the kind that anybody may give out."""
        digits = derive_uuid(self.host.node_name, self.name, device).replace("-", "")[:10]
        return ":".join(("02", *(digits[at : at + 2] for at in range(0, 10, 2))))

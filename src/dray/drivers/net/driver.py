"""`dra.net`: network interfaces of this machine for pods.

A pod's interfaces go into a network namespace named after the pod, which is made for the first of them and removed
with the last; containers find its path in a variable. Devices that are away are still published, so that a pod's own
device does not vanish under it.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from dray.api.meta import Condition
from dray.api.resource.allocation import NetworkDeviceData
from dray.driver.cdi import ContainerEdits, env
from dray.driver.claims import AllocatedDevice, Claim, DeviceReport, Prepared, PreparedClaim, PreparedDevice
from dray.driver.config import DriverConfig
from dray.driver.devices import Devices
from dray.driver.port import Driver
from dray.driver.sysfs import Sysfs
from dray.drivers.net.attachment import plan_attachment
from dray.drivers.net.config import NetworkConfig
from dray.drivers.net.discovery import list_interfaces, list_visitors
from dray.drivers.net.interface import DRIVER, Interface, describe_interface, is_offered, name_device
from dray.drivers.net.moving import Arrival, MoveError, attach, bring_home
from dray.drivers.net.namespaces import NamespaceError, Namespaces
from dray.errors import DrayError
from dray.values.times import Time

__all__ = ["NETWORK_NAMESPACE", "NetDriver", "find_pod_uid"]

NETWORK_NAMESPACE: Final = "DRAY_NETWORK_NAMESPACE"
"""The variable in which containers find the path of their pod's namespace."""
_PREFIX: Final = "dray-"
_NAMESPACE: Final = "namespace"


class NetDriver(Driver):
    """The interfaces of one machine. One claim at a time: the kernel's tables of links are shared by all."""

    name = DRIVER
    configs: ClassVar[tuple[type[DriverConfig], ...]] = (NetworkConfig,)
    one_claim_at_a_time: ClassVar[bool] = True
    rescan_seconds: ClassVar[float | None] = 10.0

    def __init__(self, sysfs: Sysfs | None = None, namespaces: Namespaces | None = None) -> None:
        self._sysfs = sysfs or Sysfs()
        self._namespaces = namespaces or Namespaces()

    async def devices(self) -> Devices:
        """What is at home, and what pods have."""
        found = await asyncio.to_thread(lambda: [*filter(is_offered, list_interfaces(self._sysfs)), *self._visitors()])
        offered = {name_device(each): describe_interface(each) for each in reversed(found)}
        return Devices.of(*(offered[name] for name in sorted(offered)))

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Move each interface into the pod's namespace; all of them or none."""
        namespace = f"{_PREFIX}{find_pod_uid(claim)}"
        arrivals = await asyncio.to_thread(self._attach_all, namespace, devices)
        now = self.host.clock.now().to_time()
        answers = [_answer(each, arrival, namespace, now) for each, arrival in zip(devices, arrivals, strict=True)]
        place = env({NETWORK_NAMESPACE: self._namespaces.path(namespace)})
        return Prepared.of(answers, common=ContainerEdits(env=place))

    async def unprepare(self, claim: PreparedClaim) -> None:
        """Give each interface back. Looks in every namespace of a pod if it is not known which one it was."""
        await asyncio.to_thread(self._bring_all_home, claim.devices)

    def _attach_all(self, namespace: str, devices: Sequence[AllocatedDevice]) -> list[Arrival]:
        self._namespaces.ensure(namespace)
        arrivals: list[Arrival] = []
        try:
            for each in devices:
                bring_home(self._namespaces, namespace, each.name)  # what an attempt before this one left there
                interface = self._find_interface(each.name)
                config = each.find_config(NetworkConfig) or NetworkConfig()
                arrivals.append(attach(self._namespaces, namespace, interface, plan_attachment(interface, config)))
        except (MoveError, NamespaceError):
            for each in devices[: len(arrivals)]:
                bring_home(self._namespaces, namespace, each.name)
            self._remove_if_empty(namespace)
            raise
        return arrivals

    def _find_interface(self, device: str) -> Interface:
        for each in list_interfaces(self._sysfs):
            if name_device(each) == device and is_offered(each):
                return each
        raise MoveError(f"requested device is not allocatable: {device}")

    def _bring_all_home(self, devices: Sequence[PreparedDevice]) -> None:
        for device in devices:
            known = device.memo.get(_NAMESPACE)
            for namespace in [known] if known else self._namespaces.names(_PREFIX):
                bring_home(self._namespaces, namespace, device.name)
                self._remove_if_empty(namespace)

    def _remove_if_empty(self, namespace: str) -> None:
        try:
            visitors = self._namespaces.inside(namespace, list_visitors)
        except NamespaceError:
            visitors = []
        if not visitors:
            self._namespaces.remove(namespace)

    def _visitors(self) -> Iterator[Interface]:
        """What is away from home, or on its way."""
        yield from list_visitors()
        for namespace in self._namespaces.names(_PREFIX):
            try:
                yield from self._namespaces.inside(namespace, list_visitors)
            except NamespaceError:
                continue  # it went just now; what was in it is home, or will be


def find_pod_uid(claim: Claim) -> str:
    """The one pod that the claim is for. An interface is in one namespace, so claims cannot be shared."""
    consumers = claim.resource.status.reserved_for
    if len(consumers) != 1 or consumers[0].resource != "pods":
        raise DrayError(f"claim must be reserved for one pod, is for {len(consumers)} consumers")
    return consumers[0].uid


def _answer(device: AllocatedDevice, arrival: Arrival, namespace: str, now: Time) -> PreparedDevice:
    conditions = [
        Condition(type=each, status="True", reason=reason, last_transition_time=now)
        for each, reason in (("Ready", "NetworkDeviceReady"), ("NetworkReady", "NetworkReady"))
    ]
    network = NetworkDeviceData(interface_name=arrival.name, hardware_address=arrival.mac, ips=arrival.addresses)
    report = DeviceReport.of(network=network, conditions=conditions)
    return device.prepared(report=report, memo={_NAMESPACE: namespace})

"""What failed devices look like: taints and attributes as the vendors' drivers would publish them, and health."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from dray.api.resource.device import Device, DeviceAttribute, DeviceTaint
from dray.driver.claims import DeviceHealth, Health
from dray.driver.devices import Pool
from dray.drivers.sim.attributes import flag, text
from dray.drivers.sim.faults import Fault

__all__ = ["find_fault", "lay_faults", "list_health"]

_LEASE_SECONDS: Final = 3600
"""Simulated devices change on command alone, so their reports need not be renewed for long."""
_FALLEN_OFF_THE_BUS: Final = "79"
"""The XID of a GPU that nothing is known of but that it failed."""
_LOST: Final = "lost"


def lay_faults(driver: str, pool: Pool, faults: Mapping[str, Fault]) -> Pool:
    """The pool with its failed devices tainted. A device fails with the card that it is a part of."""
    if not faults:
        return pool
    return replace(pool, devices=tuple(_lay(driver, device, faults) for device in pool.devices))


def list_health(devices: Sequence[Device], faults: Mapping[str, Fault]) -> list[DeviceHealth]:
    """How each device fares."""
    reports = []
    for device in devices:
        fault = find_fault(device.name, faults)
        reports.append(
            DeviceHealth(
                device=device.name,
                health=Health.HEALTHY if fault is None else Health.UNHEALTHY,
                message="" if fault is None else f"failed on command: {fault.reason or 'no reason given'}",
                lease_seconds=_LEASE_SECONDS,
            )
        )
    return reports


def find_fault(device: str, faults: Mapping[str, Fault]) -> Fault | None:
    """The fault of a device, or of the card that it is a part of: `gpu-0` of `gpu-0-mig-1g5gb-19-3`."""
    own = faults.get(device)
    if own is not None:
        return own
    card = next((name for name in faults if device.startswith((f"{name}-mig-", f"{name}-partition-"))), None)
    if card is None and device.startswith("gpu-vfio-"):
        card = device.replace("-vfio", "")
    return None if card is None else faults.get(card)


def _lay(driver: str, device: Device, faults: Mapping[str, Fault]) -> Device:
    fault = find_fault(device.name, faults)
    if fault is None:
        return device
    told = {name: each for name, each in _TELLTALES.get(driver, {}).items() if name in device.attributes}
    return replace(
        device,
        attributes={**device.attributes, **told},
        taints=(*device.taints, _taint(driver, fault)),
    )


def _taint(driver: str, fault: Fault) -> DeviceTaint:
    """Under the key of the vendor's own driver. NVIDIA's itself never evicts; the effect is what was commanded."""
    key, value = f"{driver}/unhealthy", fault.reason
    if driver == "gpu.nvidia.com":
        key, value = f"{driver}/xid", fault.reason if fault.reason.isdigit() else _FALLEN_OFF_THE_BUS
        if fault.reason == _LOST:
            key, value = f"{driver}/gpu-lost", ""
    elif driver == "gpu.intel.com":
        key, value = f"HealthIssues-{fault.reason or 'Unknown'}", ""
    return DeviceTaint(key=key, value=value, effect=fault.effect)


_TELLTALES: Final[Mapping[str, Mapping[str, DeviceAttribute]]] = {
    "gpu.intel.com": {"health": text("Unhealthy")},
    "gaudi.intel.com": {"healthy": flag(False)},
}
"""Attributes by which drivers tell a failed device, besides the taint."""

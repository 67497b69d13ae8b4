"""Which configuration counts for a device, by the rules of the NVIDIA driver.

From the strongest entry to the weakest: one that names the request must be of the kind that the device takes, one that
names none is passed over if it is not.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from dray.api.resource.allocation import AllocationConfigSource
from dray.api.resource.claim import ResourceClaim
from dray.driver.claims import AllocatedDevice
from dray.driver.config import DriverConfig
from dray.drivers.sim.driver import PrepareRefused
from dray.drivers.sim.nvidia.config import (
    ComputeDomainChannelConfig,
    ComputeDomainDaemonConfig,
    GpuConfig,
    MigDeviceConfig,
    VfioDeviceConfig,
)

__all__ = ["CONFIG_OF_TYPE", "choose_config"]

CONFIG_OF_TYPE: Final[Mapping[str, type[DriverConfig]]] = {
    "gpu": GpuConfig,
    "mig": MigDeviceConfig,
    "mig-ci": MigDeviceConfig,
    "vfio": VfioDeviceConfig,
    "channel": ComputeDomainChannelConfig,
    "daemon": ComputeDomainDaemonConfig,
}
"""By the `type` of the device."""


class _Head(Struct):
    kind: str = ""


def choose_config(claim: ResourceClaim, driver: str, device: AllocatedDevice, device_type: str) -> DriverConfig | None:
    """The configuration of a device of that type; None if there is none for it. Raises PrepareRefused."""
    wanted = CONFIG_OF_TYPE[device_type]
    allocation = claim.status.allocation
    entries = list(reversed(allocation.devices.config)) if allocation is not None else []
    # Sorting is stable: within claim and class the later entry stays the stronger one.
    for entry in sorted(entries, key=lambda each: each.source != AllocationConfigSource.CLAIM):
        if entry.opaque is None or entry.opaque.driver != driver:
            continue
        names = (device.request, f"{device.request}/{device.alternative}")
        is_named = any(name in entry.requests for name in names)
        kind = msgspec.json.decode(bytes(entry.opaque.parameters), type=_Head).kind
        if kind == wanted.__name__ and (is_named or not entry.requests):
            return device.find_config(wanted)
        if is_named:
            raise PrepareRefused(
                f"cannot apply {kind} to request {device.request}: {device.name} is of type {device_type}"
            )
    return None

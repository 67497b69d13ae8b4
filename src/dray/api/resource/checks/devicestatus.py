"""What drivers report of allocated devices in the status of a claim."""

import ipaddress
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dray.api.resource.allocation import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceRequestAllocationResult,
    NetworkDeviceData,
)
from dray.api.resource.checks.conditions import inspect_conditions
from dray.api.resource.checks.config import check_raw_json
from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.names import check_driver_name, check_label, check_pool_name, check_share_id
from dray.api.resource.checks.report import Report
from dray.api.struct import NO_JSON
from dray.errors import FieldError, invalid, too_long, too_many
from dray.values.fieldpath import FieldPath
from dray.values.names import byte_length

__all__ = ["AllocatedDevice", "inspect_device_statuses"]

_MAX_CONDITIONS = 8
_MAX_ADDRESSES = 16
_MAX_INTERFACE_NAME_BYTES = 256
_MAX_HARDWARE_ADDRESS_BYTES = 128


class AllocatedDevice(NamedTuple):
    """Which device, or which share of one, a result or a status is about."""

    driver: str
    pool: str
    device: str
    share_id: str

    @classmethod
    def of(cls, entry: DeviceRequestAllocationResult | AllocatedDeviceStatus) -> "AllocatedDevice":
        """The device of an entry; no share ID and an empty one are the same."""
        return cls(entry.driver, entry.pool, entry.device, entry.share_id or "")

    def shown(self) -> dict[str, str]:
        """As faults show it: in the spelling of upstream's own type."""
        return {"Driver": self.driver, "Pool": self.pool, "Device": self.device, "ShareID": self.share_id}


def inspect_device_statuses(
    statuses: Sequence[AllocatedDeviceStatus], allocation: AllocationResult | None, path: FieldPath, report: Report
) -> None:
    """Every status is about another device of the allocation, and sound."""
    if not statuses:
        return
    devices = [AllocatedDevice.of(each) for each in statuses]
    note_duplicates(devices, statuses, path, report.declare)
    results = allocation.devices.results if allocation is not None else ()
    allocated = {AllocatedDevice.of(each) for each in results}
    for index, (status, device) in enumerate(zip(statuses, devices, strict=True)):
        _inspect_device_status(status, path / index, report, is_allocated=device in allocated)


def _inspect_device_status(
    status: AllocatedDeviceStatus, path: FieldPath, report: Report, *, is_allocated: bool
) -> None:
    report.add_all(check_driver_name(status.driver, path / "driver"))
    report.add_all(check_pool_name(status.pool, path / "pool"))
    report.add_all(check_label(status.device, path / "device"))
    if status.share_id is not None:
        report.declare_all(check_share_id(status.share_id, path / "shareID"))
    if not is_allocated:
        hint = "copy driver, pool, device and shareID from a result of status.allocation"
        detail = "must be an allocated device in the claim"
        report.add(invalid(path, AllocatedDevice.of(status).shown(), detail, hint=hint))
    conditions = status.conditions or ()
    if len(conditions) > _MAX_CONDITIONS:
        report.add(too_many(path / "conditions", len(conditions), _MAX_CONDITIONS))
    inspect_conditions(conditions, path / "conditions", report)
    if status.data is not NO_JSON:
        report.add_all(check_raw_json(status.data, path / "data"))
    if status.network_data is not None:
        _inspect_network_data(status.network_data, path / "networkData", report)


def _inspect_network_data(network: NetworkDeviceData, path: FieldPath, report: Report) -> None:
    if byte_length(network.interface_name) > _MAX_INTERFACE_NAME_BYTES:
        report.declare(too_long(path / "interfaceName", _MAX_INTERFACE_NAME_BYTES))
    if fits(network.ips, _MAX_ADDRESSES, path / "ips", report.declare):
        note_duplicates(network.ips, network.ips, path / "ips", report.declare)
        for index, address in enumerate(network.ips):
            report.add_all(_address_faults(address, path / "ips" / index))
    if byte_length(network.hardware_address) > _MAX_HARDWARE_ADDRESS_BYTES:
        report.declare(too_long(path / "hardwareAddress", _MAX_HARDWARE_ADDRESS_BYTES))


def _address_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    canonical = _canonical_address(text)
    if canonical is None:
        detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        yield invalid(path, text, detail, hint="add the length of the prefix, such as /24")
    elif canonical != text:
        yield invalid(path, text, f'must be in canonical form ("{canonical}")', hint=f"write {canonical}")


def _canonical_address(text: str) -> str | None:
    """The address with its prefix as Kubernetes prints it, None if it is none. Leading zeros mean nothing."""
    address, slash, prefix = text.partition("/")
    if not slash or not prefix.isascii() or not prefix.isdigit() or "%" in address:
        return None
    if ":" not in address:
        address = ".".join(part.lstrip("0") or "0" if part.isdigit() else part for part in address.split("."))
    try:
        interface = ipaddress.ip_interface(f"{address}/{int(prefix)}")
    except ValueError:
        return None
    shown: object = interface.ip
    if isinstance(interface, ipaddress.IPv6Interface) and interface.ip.ipv4_mapped is not None:
        if int(prefix) < _MAPPED_BITS:
            return None
        shown, prefix = interface.ip.ipv4_mapped, str(int(prefix) - _MAPPED_BITS)
    return f"{shown}/{int(prefix)}"


_MAPPED_BITS = 96
"""Length of the prefix that marks an IPv4 address written as IPv6."""

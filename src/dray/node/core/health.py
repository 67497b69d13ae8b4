"""How devices fare, as their drivers report it: what is known, for how long it holds, and what a pod's status says."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct, field

from dray.api.core.containers import Container
from dray.api.core.containerstatus import ResourceHealth, ResourceStatus
from dray.api.core.pod import Pod
from dray.node.core.prepared_claims import PreparedClaims
from dray.values.times import Time, parse_time

__all__ = [
    "DeviceName",
    "HealthBook",
    "HealthReport",
    "decode_health",
    "encode_health",
    "render_health",
    "trim_message",
]

_MOST_DEVICES: Final = 16_384
"""Devices of one driver that are kept; a driver that makes names up must not fill the agent's memory."""
_MESSAGE_BYTES: Final = 1024
_DEFAULT_LEASE_SECONDS: Final = 30
_UNKNOWN: Final = "Unknown"
_NANOSECONDS: Final = 10**9


class DeviceName(Struct, frozen=True, order=True):
    """A device of a driver on this node."""

    driver: str
    pool: str
    device: str


class HealthReport(Struct, frozen=True):
    """What a driver says of one device."""

    pool: str
    device: str
    health: str
    """Healthy, Unhealthy or Unknown."""
    message: str = ""
    lease_seconds: int = 0
    """How long it holds; zero or less means the usual time."""


class _Entry(Struct, frozen=True, rename="pascal"):
    """What is kept, in the shape in which it is written down."""

    pool_name: str
    device_name: str
    health: str
    last_updated: str
    health_check_timeout: int
    """In nanoseconds."""
    message: str = ""

    def holds(self, now: Time) -> bool:
        """Whether the report still counts."""
        age = now.seconds_since(parse_time(self.last_updated))
        return age * _NANOSECONDS <= self.health_check_timeout

    def says_the_same(self, other: "_Entry") -> bool:
        """Whether nothing changed but the time."""
        return (self.health, self.message, self.health_check_timeout) == (
            other.health,
            other.message,
            other.health_check_timeout,
        )


class _Driver(Struct):
    devices: dict[str, _Entry] = field(default_factory=dict, name="Devices")


class HealthBook:
    """The last report on every device, by driver. Owned by the agent of the node."""

    def __init__(self, drivers: Mapping[str, Mapping[str, _Entry]] | None = None) -> None:
        self._drivers: dict[str, dict[str, _Entry]] = {name: dict(each) for name, each in (drivers or {}).items()}

    def note(self, driver: str, reports: Sequence[HealthReport], now: Time) -> list[DeviceName]:
        """Take reports in. Returns the devices of which something new is known, in order.

        A device that a message leaves out keeps its state until its lease ends; then it is forgotten.
        """
        entries = self._drivers.setdefault(driver, {})
        changed: list[DeviceName] = []
        told = {f"{each.pool}/{each.device}": each for each in reports}
        for key, report in told.items():
            entry = _to_entry(report, now)
            old = entries.get(key)
            if old is None and len(entries) >= _MOST_DEVICES:
                continue
            if old is None or not old.says_the_same(entry) or not old.holds(now):
                changed.append(DeviceName(driver, report.pool, report.device))
            entries[key] = entry
        for key, entry in list(entries.items()):
            if key not in told and not entry.holds(now):
                del entries[key]
                if entry.health != _UNKNOWN:
                    changed.append(DeviceName(driver, entry.pool_name, entry.device_name))
        return sorted(changed)

    def forget(self, driver: str) -> list[DeviceName]:
        """Know nothing more of a driver's devices. Returns those of which something was known."""
        entries = self._drivers.pop(driver, {})
        return sorted(DeviceName(driver, each.pool_name, each.device_name) for each in entries.values())

    def find(self, name: DeviceName, now: Time) -> tuple[str, str]:
        """Health and message of a device; Unknown where nothing is known, or no longer."""
        entry = self._drivers.get(name.driver, {}).get(f"{name.pool}/{name.device}")
        if entry is None or not entry.holds(now):
            return _UNKNOWN, ""
        return entry.health, entry.message

    def drivers(self) -> dict[str, dict[str, _Entry]]:
        """Everything that is known."""
        return self._drivers


def trim_message(text: str) -> str:
    """A message of at most 1024 bytes, cut between letters."""
    body = text.encode()
    if len(body) <= _MESSAGE_BYTES:
        return text
    return body[: _MESSAGE_BYTES - 3].decode(errors="ignore") + "..."


def _to_entry(report: HealthReport, now: Time) -> _Entry:
    lease = report.lease_seconds if report.lease_seconds > 0 else _DEFAULT_LEASE_SECONDS
    message = trim_message(report.message)
    return _Entry(report.pool, report.device, report.health, str(now), lease * _NANOSECONDS, message)


def encode_health(book: HealthBook) -> bytes:
    """The file `dra_health_state`."""
    return msgspec.json.encode({name: _Driver(entries) for name, entries in sorted(book.drivers().items())})


def decode_health(text: bytes) -> HealthBook:
    """The inverse. Raises ValueError for what cannot be read: then nothing is known of any device."""
    drivers = msgspec.json.decode(text, type=dict[str, _Driver])
    for each in (entry for driver in drivers.values() for entry in driver.devices.values()):
        parse_time(each.last_updated)
    return HealthBook({name: each.devices for name, each in drivers.items()})


def render_health(
    pod: Pod, claims: PreparedClaims, book: HealthBook, now: Time
) -> dict[str, tuple[ResourceStatus, ...]]:
    """By regular container, how the devices fare that it gets from each claim it lists."""
    rendered: dict[str, tuple[ResourceStatus, ...]] = {}
    for container in pod.spec.containers:
        if container.resources.claims:
            statuses = tuple(_render_entries(pod, container, claims, (book, now)))
            if statuses:
                rendered[container.name] = statuses
    return rendered


def _render_entries(
    pod: Pod, container: Container, claims: PreparedClaims, known: tuple[HealthBook, Time]
) -> Iterable[ResourceStatus]:
    names = {each.name: each.resource_claim_name for each in pod.spec.resource_claims}
    names |= {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    book, now = known
    for entry in container.resources.claims:
        record = claims.find(pod.metadata.namespace, names.get(entry.name) or "")
        found: dict[str, ResourceHealth] = {}
        for driver, device in record.devices if record is not None else ():
            if device.is_for(entry.request):
                name = DeviceName(driver, device.pool, device.device)
                resource_id = device.cdi_ids[0] if device.cdi_ids else f"{driver}/{device.pool}/{device.device}"
                health, message = book.find(name, now)
                found.setdefault(
                    resource_id, ResourceHealth(resource_id=resource_id, health=health, message=message or None)
                )
        if found:
            title = f"claim:{entry.name}/{entry.request}" if entry.request else f"claim:{entry.name}"
            yield ResourceStatus(name=title, resources=tuple(found.values()))

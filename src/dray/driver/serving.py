"""A whole driver on a real node: folders, checkpoint file, CDI files, sockets.

`open_served_driver` takes a client, so it runs against any API server; `dray.driver.run` finds one first.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dray.client.port import Client
from dray.client.retrying import Pace
from dray.driver.cdifiles import CdiFolder, CdiMemory
from dray.driver.checkpoint import CheckpointFile, CheckpointMemory
from dray.driver.files import FileLock
from dray.driver.host import DriverHost, HostParts, open_host
from dray.driver.metrics import DriverMetrics
from dray.driver.port import Driver
from dray.driver.published import NarrowWatches, SliceWatches
from dray.driver.serve import ServedDriver, open_sockets
from dray.driver.sockets import plan_sockets
from dray.effects.log import Log
from dray.errors import DrayError
from dray.values.names import dns_subdomain_faults

__all__ = ["NodePlaces", "ServingParts", "open_publishing_driver", "open_served_driver", "read_boot_id"]

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_MAX_NAME_LENGTH: Final = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlaces:
    """Which node, and where things are on it."""

    node_name: str
    plugins: Path = Path("/var/lib/kubelet/plugins")
    registry: Path = Path("/var/lib/kubelet/plugins_registry")
    cdi: Path = Path("/var/run/cdi")
    pod_uid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingParts:
    """What a served driver works with."""

    client: Client
    pace: Pace
    log: Log
    metrics: DriverMetrics
    watches: SliceWatches | None = None
    """None: the driver watches its own slices."""
    boot_id: str = ""


def read_boot_id() -> str:
    """What tells one run of this machine from the next; empty where the system does not say."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


@asynccontextmanager
async def open_served_driver(
    driver: Driver, places: NodePlaces, parts: ServingParts
) -> AsyncGenerator[tuple[DriverHost, ServedDriver], None]:
    """Serve a driver for the length of a block. Raises DrayError where it cannot."""
    _check_name(driver.name)
    folder = places.plugins / driver.name
    folder.mkdir(mode=0o750, parents=True, exist_ok=True)
    if not places.registry.is_dir():
        raise DrayError(f"{places.registry} is not a folder: is there a kubelet on this node?")
    paths = plan_sockets(driver.name, places.registry, folder, places.pod_uid)
    lock = FileLock(folder / "serialize.lock")
    checkpoint = CheckpointFile(folder / "checkpoint.json", lock, parts.pace.clock, is_shared=bool(places.pod_uid))
    async with checkpoint.open():
        host_parts = HostParts(
            node_name=places.node_name,
            client=parts.client,
            checkpoint=checkpoint,
            cdi=CdiFolder(places.cdi),
            watches=parts.watches or NarrowWatches(parts.client, parts.pace, parts.log),
            pace=parts.pace,
            log=parts.log,
            metrics=parts.metrics,
            boot_id=parts.boot_id,
        )
        async with open_host(driver, host_parts) as host, open_sockets(driver, host, paths, parts.metrics) as served:
            yield host, served


@asynccontextmanager
async def open_publishing_driver(driver: Driver, parts: ServingParts) -> AsyncGenerator[DriverHost, None]:
    """Run a driver without a node for the length of a block: it only publishes devices that several nodes reach."""
    _check_name(driver.name)
    host_parts = HostParts(
        node_name="",
        client=parts.client,
        checkpoint=CheckpointMemory(),
        cdi=CdiMemory(),
        watches=parts.watches or NarrowWatches(parts.client, parts.pace, parts.log),
        pace=parts.pace,
        log=parts.log,
        metrics=parts.metrics,
    )
    async with open_host(driver, host_parts) as host:
        yield host


def _check_name(name: str) -> None:
    faults = list(dns_subdomain_faults(name))
    if not name:
        raise DrayError("the driver has no name: give its class a `name`, such as gpu.example.com")
    if len(name) > _MAX_NAME_LENGTH:
        faults.append(f"must be no more than {_MAX_NAME_LENGTH} characters")
    if faults:
        raise DrayError(f"driver name {name!r}: {'; '.join(faults)}")

"""What runs on a data directory, and how the cluster fares."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.app.clientwire import wire_client
from dray.app.deviceview import DeviceChoice, read_devices
from dray.app.running import RunRecord, find_running
from dray.app.wishes import PartName
from dray.client.paging import list_all
from dray.client.port import Client, Unreachable
from dray.effects.clock import Clock
from dray.errors import ApiError, DrayError

__all__ = ["ClusterFigures", "Status", "list_parts", "read_status"]

_PATIENCE_SECONDS: Final = 5.0
"""A server of this machine answers at once, or is in trouble."""


class ClusterFigures(Struct, frozen=True, rename="camel"):
    """What there is in a cluster, counted."""

    nodes: int = 0
    nodes_ready: int = 0
    pods: dict[str, int] = {}
    """By phase."""
    claims: int = 0
    claims_allocated: int = 0
    devices: int = 0
    devices_in_use: int = 0


class Status(Struct, frozen=True, rename="camel"):
    """Processes of a data directory, the whole cluster first; and the cluster, if its server answers."""

    running: tuple[RunRecord, ...] = ()
    cluster: ClusterFigures | None = None
    problem: str = ""
    """Why there are no figures, where a server should answer."""


def list_parts() -> tuple[str, ...]:
    """What may run on a data directory, by what `running` calls it."""
    return ("", PartName.SCHEDULER, PartName.CONTROLLERS, PartName.NODE)


async def read_status(folder: Path, environment: Mapping[str, str], clock: Clock) -> Status:
    """How things are now. Raises OSError for a folder that cannot be looked at."""
    running = tuple(found for part in list_parts() if (found := find_running(folder, part)) is not None)
    main = next((each for each in running if each.part in ("", PartName.API_SERVER)), None)
    if main is None:
        return Status(running)
    if not main.address:
        return Status(running, problem="it is still starting")
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            async with wire_client(environment, clock, kubeconfig=Path(main.kubeconfig)) as client:
                return Status(running, await _count(client))
    except (Unreachable, ApiError, DrayError) as fault:
        return Status(running, problem=str(fault))
    except TimeoutError:
        return Status(running, problem=f"the server does not answer within {_PATIENCE_SECONDS:g} seconds")


async def _count(client: Client) -> ClusterFigures:
    nodes, pods, claims, view = await asyncio.gather(
        list_all(client, NODE),
        list_all(client, POD),
        list_all(client, RESOURCE_CLAIM),
        read_devices(client, DeviceChoice()),
    )
    devices = view.inventory.devices
    return ClusterFigures(
        nodes=len(nodes.items),
        nodes_ready=sum(map(_is_ready, nodes.items)),
        pods=dict(sorted(Counter(each.status.phase or "Pending" for each in pods.items).items())),
        claims=len(claims.items),
        claims_allocated=sum(each.status.allocation is not None for each in claims.items),
        devices=len(devices),
        devices_in_use=sum(bool(each.holders) for each in devices),
    )


def _is_ready(node: Node) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in node.status.conditions)

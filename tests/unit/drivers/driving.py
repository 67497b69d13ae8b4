"""Drivers at work in this process, on a real API server in memory, asked as a node agent asks them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from dray.api.codec import decode
from dray.api.core.kinds import NODE
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import Device
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.client.port import ObjectName
from dray.client.retrying import Pace
from dray.driver.cdi import CdiSpec, ContainerEdits, merge_edits
from dray.driver.cdifiles import CdiMemory
from dray.driver.checkpoint import CheckpointMemory
from dray.driver.claims import ClaimRef, DeviceHealth
from dray.driver.local import LocalDriver, LocalNode, open_local_driver
from dray.driver.metrics import DriverMetrics
from dray.driver.port import Driver
from dray.driver.published import NarrowWatches
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from tests.unit.controllers.cluster import Cluster, Meddled

NODE_NAME = "node-a"
_MANY_TURNS = 300
"""Of the event loop; what has not happened after them will not."""

Raw = Mapping[str, Any]


def config(driver: str, *requests: str, source: str = "FromClaim", **parameters: object) -> Raw:
    """An entry of an allocation's configuration."""
    return {
        "source": source,
        "requests": list(requests),
        "opaque": {"driver": driver, "parameters": parameters},
    }


class Work:
    """A driver at work on `node-a`."""

    def __init__(self, cluster: Cluster, driver: LocalDriver, cdi: CdiMemory) -> None:
        self.cluster = cluster
        self.driver = driver
        self._cdi = cdi

    def put_claim(
        self, uid: str, devices: Mapping[str, str], *configs: Raw, pods: Sequence[str] = ("p",), **more: Any
    ) -> ClaimRef:
        """Store an allocated claim: device by request. `more` goes into each result."""
        results = [
            {"request": request, "driver": self.driver.name, "pool": NODE_NAME, "device": device, **more}
            for request, device in devices.items()
        ]
        raw = {
            "metadata": {"name": f"claim-{uid}", "namespace": "ml", "uid": uid},
            "spec": {
                "devices": {"requests": [{"name": each, "exactly": {"deviceClassName": "c"}} for each in devices]}
            },
            "status": {
                "allocation": {"devices": {"results": results, "config": list(configs)}},
                "reservedFor": [{"resource": "pods", "name": each, "uid": f"uid-of-{each}"} for each in pods],
            },
        }
        claim: ResourceClaim = decode(RESOURCE_CLAIM, "v1", msgspec.json.encode(raw))
        self.cluster.put(RESOURCE_CLAIM, claim, uid)
        return ClaimRef(namespace="ml", name=f"claim-{uid}", uid=uid)

    async def prepare(self, claim: ClaimRef) -> str:
        """What became of it: nothing, or the error."""
        answers = await self.driver.host.claims.prepare([claim])
        return answers[claim.uid].error

    async def unprepare(self, claim: ClaimRef) -> str:
        answers = await self.driver.host.claims.unprepare([claim])
        return answers[claim.uid].error

    async def edits(self, claim: ClaimRef) -> ContainerEdits:
        """What a container gets that has all of a prepared claim."""
        answers = await self.driver.host.claims.prepare([claim])
        names = dict.fromkeys(name for each in answers[claim.uid].devices for name in each.cdi_names)
        found = {
            f"{spec.kind}={device.name}": device.container_edits for spec in self.specs() for device in spec.devices
        }
        return merge_edits(*(found[name] for name in names))

    async def env(self, claim: ClaimRef) -> dict[str, str]:
        """The variables that a container gets."""
        pairs = [each.partition("=") for each in (await self.edits(claim)).env]
        return {name: value for name, _, value in pairs}

    async def nodes(self, claim: ClaimRef) -> list[str]:
        """The device nodes that a container gets."""
        return [each.path for each in (await self.edits(claim)).device_nodes]

    def specs(self) -> list[CdiSpec]:
        return list(self._cdi.specs.values())

    async def devices(self) -> dict[str, Device]:
        """What is published once the driver's last word is."""
        await turn()
        await self.driver.host.wait_published()
        slices = (await self.cluster.client.list(RESOURCE_SLICE)).items
        return {device.name: device for each in slices for device in each.spec.devices or ()}

    async def health(self) -> dict[str, DeviceHealth]:
        """How each device fares."""
        reports = self.driver.host.health.reports()
        try:
            return {each.device: each for each in await anext(reports)}
        finally:
            await reports.aclose()

    async def claim(self, ref: ClaimRef) -> ResourceClaim:
        await turn()
        return await self.cluster.client.get(RESOURCE_CLAIM, ObjectName(ref.name, ref.namespace))


async def turn() -> None:
    """Let everybody do what is to be done without time passing."""
    for _ in range(_MANY_TURNS):
        await asyncio.sleep(0)


@asynccontextmanager
async def driving(
    driver: Driver,
    cluster: Cluster | None = None,
    node: str = NODE_NAME,
    checkpoint: CheckpointMemory | None = None,
) -> AsyncIterator[Work]:
    """A driver for the length of a block, its devices published."""
    cluster = cluster or Cluster()
    if cluster.find(NODE, NODE_NAME) is None:
        cluster.put(NODE, Node(metadata=ObjectMeta(name=NODE_NAME)))
    async with cluster.serving():
        pace, log = Pace(cluster.clock, SeededEntropy(3)), MemoryLog()
        cdi = CdiMemory()
        place = LocalNode(
            name=node,
            client=Meddled(cluster),
            watches=NarrowWatches(cluster.client, pace, log),
            pace=pace,
            log=log,
            metrics=DriverMetrics(driver.name),
            cdi=cdi,
            checkpoint=checkpoint or CheckpointMemory(),
        )
        async with open_local_driver(driver, place) as local:
            await local.host.wait_published()
            yield Work(cluster, local, cdi)

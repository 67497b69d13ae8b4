"""A cluster with agents for tests: an API server in memory, nodes, claims that are allocated, and a fake driver."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from dray.api.codec import get_codec
from dray.api.core.binding import Binding
from dray.api.core.kinds import BINDING, EVENT, POD, SERVICE_ACCOUNT
from dray.api.core.pod import Pod
from dray.api.core.references import ObjectReference
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.meta import DeleteOptions, ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.informer import Informer
from dray.client.port import Client, ListOptions, ObjectName
from dray.client.retrying import Pace
from dray.client.watching import Focus
from dray.driver.cdi import CdiDevice, CdiSpec, ContainerEdits
from dray.driver.claims import ClaimRef
from dray.effects.clock import Clock, SystemClock
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from dray.errors import NotFound
from dray.node.agent import NodeAgent, NodeParts, ResidentDriver
from dray.node.checkpoint import Checkpoint, NoCheckpoint
from dray.node.connection import DriverCallFailed, HealthNotOffered
from dray.node.core.answers import PrepareAnswer
from dray.node.core.health import HealthReport
from dray.node.core.prepared_claims import ReadyDevice
from dray.node.fleet import Fleet, FleetParts, open_fleet
from dray.node.registration import NodeFacts
from dray.node.runtime.devices import CdiSpecs
from dray.node.runtime.port import Runtime
from dray.node.runtime.simulated import SimulatedNetwork, SimulatedRuntime
from dray.server.assembly import MASTER
from dray.server.inprocess import InProcessClient
from tests.golden.server.asgi import open_connection

__all__ = ["DRIVER", "FakeDriver", "World", "open_world"]

DRIVER = "gpu.example.com"
_PATIENCE_SECONDS = 20.0


@dataclass
class FakeDriver:
    """Answers as it is told, and keeps count. Its devices are named after the claim."""

    calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    prepared: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)
    """Each call takes one: an error for every claim; `!CODE` fails the call; empty is success."""
    gate: asyncio.Event | None = None
    """Calls wait for it."""
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    """The same for calls about one claim, by its name."""
    health: asyncio.Queue[Sequence[HealthReport]] | None = None

    async def prepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, PrepareAnswer]:
        error = await self._begin("prepare", claims)
        if error:
            return {each.uid: PrepareAnswer(error=error) for each in claims}
        self.prepared |= {each.uid for each in claims}
        return {each.uid: PrepareAnswer((self.device(each),)) for each in claims}

    @staticmethod
    def device(claim: ClaimRef) -> ReadyDevice:
        return ReadyDevice("node-a", f"dev-{claim.name}", ("gpu",), (f"{DRIVER}/gpu={claim.uid}",))

    async def unprepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, str]:
        error = await self._begin("unprepare", claims)
        if not error:
            self.prepared -= {each.uid for each in claims}
        return {each.uid: error for each in claims}

    async def _begin(self, operation: str, claims: Sequence[ClaimRef]) -> str:
        self.calls.append((operation, tuple(each.name for each in claims)))
        failure = self.failures.pop(0) if self.failures else ""
        for gate in filter(None, (self.gate, *(self.gates.get(each.name) for each in claims))):
            await gate.wait()
        if failure.startswith("!"):
            raise DriverCallFailed(failure[1:], "told to fail")
        return failure

    async def watch_health(self) -> AsyncGenerator[Sequence[HealthReport], None]:
        if self.health is None:
            raise HealthNotOffered("no")
        while True:
            yield await self.health.get()

    async def aclose(self) -> None:
        pass

    def specs(self) -> list[CdiSpec]:
        """CDI files for what is prepared."""
        return [
            CdiSpec(
                cdi_version="0.5.0",
                kind=f"{DRIVER}/gpu",
                devices=(CdiDevice(name=uid, container_edits=ContainerEdits(env=(f"GPU={uid}",))),),
            )
            for uid in sorted(self.prepared)
        ]


@dataclass
class World:
    """See the module."""

    client: Client
    clock: Clock
    log: MemoryLog
    fleet: Fleet
    driver: FakeDriver
    runtime: Runtime | None = None

    async def add_node(
        self, name: str = "node-a", *, checkpoint: Checkpoint | None = None, with_driver: bool = True
    ) -> NodeAgent:
        """A node with the fake driver."""
        runtime = self.runtime or SimulatedRuntime(
            self.clock, self.fleet.around.timers, CdiSpecs(self.driver.specs), SimulatedNetwork()
        )
        residents = (ResidentDriver(DRIVER, self.driver),) if with_driver else ()
        parts = NodeParts(
            name=name, runtime=runtime, checkpoint=checkpoint or NoCheckpoint(), resident_drivers=residents
        )
        return await self.fleet.add_node(NodeFacts(name, runtime.version), parts)

    async def add_claim(self, name: str, *, driver: str = DRIVER, skipped: Sequence[str] = ()) -> ResourceClaim:
        """A claim with a device of the fake driver, reserved for nobody."""
        spec = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
        claim = await self.client.create(RESOURCE_CLAIM, decode_claim({"metadata": {"name": name}, "spec": spec}))
        result = {"request": "gpu", "driver": driver, "pool": "node-a", "device": f"dev-{name}"}
        if skipped:
            result["skipNodeOperations"] = list(skipped)  # type: ignore[assignment]  # JSON
        status = decode_claim({"status": {"allocation": {"devices": {"results": [result]}}}}).status
        return await self.client.update(RESOURCE_CLAIM, replace(claim, status=status), subresource="status")

    async def move_claim(self, name: str, device: str) -> None:
        """Give a claim another device, and nobody the right to use it."""
        claim = await self.client.get(RESOURCE_CLAIM, ObjectName(name, "default"))
        emptied = replace(claim, status=replace(claim.status, allocation=None, reserved_for=()))
        claim = await self.client.update(RESOURCE_CLAIM, emptied, subresource="status")
        result = {"request": "gpu", "driver": DRIVER, "pool": "node-a", "device": device}
        status = decode_claim({"status": {"allocation": {"devices": {"results": [result]}}}}).status
        await self.client.update(RESOURCE_CLAIM, replace(claim, status=status), subresource="status")

    async def remove_claim(self, name: str) -> None:
        """Delete a claim that nobody uses any more."""
        claim = await self.client.get(RESOURCE_CLAIM, ObjectName(name, "default"))
        emptied = replace(claim, status=replace(claim.status, allocation=None, reserved_for=()))
        await self.client.update(RESOURCE_CLAIM, emptied, subresource="status")
        await self.client.delete(RESOURCE_CLAIM, ObjectName(name, "default"))

    async def reserve(self, name: str, pod: Pod) -> None:
        """Let a pod use a claim."""
        claim = await self.client.get(RESOURCE_CLAIM, ObjectName(name, "default"))
        consumer = {"resource": "pods", "name": pod.metadata.name, "uid": pod.metadata.uid}
        added = decode_claim({"status": {"reservedFor": [consumer]}}).status.reserved_for
        status = replace(claim.status, reserved_for=(*claim.status.reserved_for, *added))
        await self.client.update(RESOURCE_CLAIM, replace(claim, status=status), subresource="status")

    async def add_pod(self, name: str, *, claims: Sequence[str] = (), reserve: bool = True, **more: Any) -> Pod:
        """A pod on node-a whose container gets all devices of some claims; `more` is spec, annotations, container."""
        container = {"name": "main", "image": "example/app:1"} | more.get("container", {})
        if claims:
            container["resources"] = {"claims": [{"name": each} for each in claims]}
        spec = {
            "nodeName": more.get("node", "node-a"),
            "containers": [container],
            "resourceClaims": [{"name": each, "resourceClaimName": each} for each in claims],
        } | more.get("spec", {})
        meta = {"name": name, "namespace": "default", "annotations": more.get("annotations", {})}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        if claims and reserve:
            # Bound last, as a scheduler does it.
            body["spec"] = {key: value for key, value in spec.items() if key != "nodeName"}
            pod = await self.client.create(POD, get_codec(POD, "v1").decode(msgspec.json.encode(body)))
            for each in claims:
                await self.reserve(each, pod)
            return await self.bind(pod, more.get("node", "node-a"))
        return await self.client.create(POD, get_codec(POD, "v1").decode(msgspec.json.encode(body)))

    async def bind(self, pod: Pod, node: str) -> Pod:
        """Place a pod."""
        meta = pod.metadata
        binding = Binding(
            metadata=ObjectMeta(name=meta.name, namespace=meta.namespace),
            target=ObjectReference(kind="Node", name=node),
        )
        await self.client.create(BINDING, binding, subresource="binding")
        return await self.pod(meta.name)

    async def pod(self, name: str) -> Pod:
        """The pod as the server has it now."""
        return await self.client.get(POD, ObjectName(name, "default"))

    async def wait(self, name: str, is_so: Callable[[Pod], bool]) -> Pod:
        """Wait until something is true of a pod."""
        pod: list[Pod] = []

        async def look() -> bool:
            pod[:] = [await self.pod(name)]
            return is_so(pod[0])

        await self.until(look)
        return pod[0]

    async def wait_phase(self, name: str, phase: str) -> Pod:
        """Wait until a pod is in a phase."""
        return await self.wait(name, lambda pod: pod.status.phase == phase)

    async def wait_gone(self, name: str) -> None:
        """Wait until a pod is no longer there."""

        async def look() -> bool:
            try:
                await self.pod(name)
            except NotFound:
                return True
            return False

        await self.until(look)

    async def until(self, is_so: Callable[[], Any]) -> None:
        """Wait until something is true; whatever it returns may be awaited."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                answer = is_so()
                if asyncio.iscoroutine(answer):
                    answer = await answer
                if answer:
                    return
                await asyncio.sleep(0.005)

    async def events(self, reason: str) -> list[str]:
        """The texts of the events with a reason."""
        listed = await self.client.list(EVENT, ListOptions(namespace="default"))
        return [each.message for each in listed.items if each.reason == reason]

    async def delete(self, name: str, grace_seconds: int | None = None) -> None:
        """Ask for a pod to go."""
        await self.client.delete(POD, ObjectName(name, "default"), DeleteOptions(grace_period_seconds=grace_seconds))


def decode_claim(body: dict[str, Any]) -> ResourceClaim:
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
    meta = {"namespace": "default", "name": "c"} | body.get("metadata", {})
    return get_codec(RESOURCE_CLAIM, "v1").decode(msgspec.json.encode(head | body | {"metadata": meta}))


@asynccontextmanager
async def open_world(*, clock: Clock | None = None, retry_seconds: float = 60.0) -> AsyncIterator[World]:
    """A world without nodes, for the length of a block. Drivers that failed are asked again after `retry_seconds`."""
    clock, log = clock or SystemClock(), MemoryLog()
    async with open_connection() as connection:
        client = InProcessClient(connection.api.desk, MASTER, "test")
        account = ServiceAccount(metadata=ObjectMeta(name="default", namespace="default"))
        await client.create(SERVICE_ACCOUNT, account)
        async with open_agents(client, clock, log, retry_seconds) as fleet:
            yield World(client, clock, log, fleet, FakeDriver())


@asynccontextmanager
async def open_agents(
    client: Client, clock: Clock, log: MemoryLog, retry_seconds: float = 60.0
) -> AsyncIterator[Fleet]:
    """A fleet with an informer of its own."""
    entropy = SeededEntropy(3)
    pods: Informer[Pod] = Informer(client, Focus(kind=POD), Pace(clock, entropy), log)
    following = asyncio.create_task(pods.run())
    try:
        parts = FleetParts(
            client=client, clock=clock, entropy=entropy, log=log, pods=pods, prepare_retry_seconds=retry_seconds
        )
        async with open_fleet(parts) as fleet:
            yield fleet
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)

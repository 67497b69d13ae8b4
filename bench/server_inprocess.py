"""What a write costs through the client in the server's own process, durably: the life of pods with claims.

Each step is made for all pods with 64 of them at once, as scheduler and controllers do: processor time of the whole
process for each write, the thread that writes to the disk and the watch cache included.
"""

import asyncio
import gc
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import uvloop
from msgspec.structs import replace

from dray.api.core.binding import Binding
from dray.api.core.containers import Container
from dray.api.core.event import Event
from dray.api.core.kinds import BINDING, EVENT, POD, SERVICE_ACCOUNT
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim, PodSpec
from dray.api.core.podstatus import PodCondition, PodResourceClaimStatus
from dray.api.core.references import ObjectReference
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.registry import SERVED
from dray.api.resource.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimConsumerReference,
)
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.resource.request import DeviceRequest, ExactDeviceRequest
from dray.app.serverwire import wire_entropy, wire_identity, wire_judge, wire_store
from dray.client.port import Client, ObjectName
from dray.effects.clock import SystemClock
from dray.effects.log import MemoryLog
from dray.server.assembly import MASTER, ServerParts, open_api_server
from dray.server.identity.signing import SigningKey, make_signing_key
from dray.server.inprocess import InProcessClient

PODS = 2_000
AT_ONCE = 64
NAMESPACE = "default"
FINALIZER = "resource.kubernetes.io/delete-protection"

GOALS = {"in process: all writes of a pod with a claim": 1_200.0}
"""At 500 pods a second, that leaves two fifths of a core to scheduler and controllers."""


@asynccontextmanager
async def _open_client(folder: Path) -> AsyncIterator[Client]:
    clock = SystemClock()
    async with wire_store(folder) as store:
        parts = ServerParts(
            kinds=tuple(SERVED),
            store=store,
            clock=clock,
            entropy=wire_entropy(),
            judge=wire_judge(),
            identity=wire_identity(SigningKey(make_signing_key()), clock, {}),
            log=MemoryLog(),
        )
        async with open_api_server(parts) as api:
            client = InProcessClient(api.desk, MASTER, "bench")
            account = ServiceAccount(metadata=ObjectMeta(name="default", namespace=NAMESPACE))
            await client.create(SERVICE_ACCOUNT, account)
            yield client


def _pod(number: int) -> Pod:
    claims = (PodResourceClaim(name="gpu", resource_claim_template_name="gpu"),)
    spec = PodSpec(containers=(Container(name="main", image="registry.example/app:1"),), resource_claims=claims)
    return Pod(metadata=ObjectMeta(name=f"pod-{number}", namespace=NAMESPACE), spec=spec)


def _claim(pod: Pod) -> ResourceClaim:
    request = DeviceRequest(name="gpu", exactly=ExactDeviceRequest(device_class_name="gpu.example.com"))
    meta = pod.metadata
    owner = OwnerReference(api_version="v1", kind="Pod", name=meta.name, uid=meta.uid, controller=True)
    metadata = ObjectMeta(name=f"{meta.name}-gpu", namespace=NAMESPACE, owner_references=(owner,))
    return ResourceClaim(metadata=metadata, spec=ResourceClaimSpec(devices=DeviceClaim(requests=(request,))))


def _allocated(claim: ResourceClaim, pod: Pod) -> ResourceClaim:
    result = DeviceRequestAllocationResult(request="gpu", driver="gpu.example.com", pool="node-a", device="gpu-0")
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(result,)))
    consumer = ResourceClaimConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)
    return replace(claim, status=replace(claim.status, allocation=allocation, reserved_for=(consumer,)))


def _event(pod: Pod) -> Event:
    meta = pod.metadata
    about = ObjectReference(kind="Pod", namespace=NAMESPACE, name=meta.name, uid=meta.uid)
    return Event(
        metadata=ObjectMeta(name=f"{meta.name}.1", namespace=NAMESPACE),
        involved_object=about,
        reason="Scheduled",
        message="Successfully assigned",
        type="Normal",
    )


class _Lives:
    """Pods and their claims, as they stand."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.pods: dict[int, Pod] = {}
        self.claims: dict[int, ResourceClaim] = {}

    async def create_pod(self, number: int) -> None:
        self.pods[number] = await self.client.create(POD, _pod(number))

    async def create_claim(self, number: int) -> None:
        self.claims[number] = await self.client.create(RESOURCE_CLAIM, _claim(self.pods[number]))

    async def name_claim(self, number: int) -> None:
        pod, claim = self.pods[number], self.claims[number]
        told = PodResourceClaimStatus(name="gpu", resource_claim_name=claim.metadata.name)
        status = replace(pod.status, resource_claim_statuses=(told,))
        self.pods[number] = await self.client.update(POD, replace(pod, status=status), subresource="status")

    async def hold_claim(self, number: int) -> None:
        claim = self.claims[number]
        held = replace(claim, metadata=replace(claim.metadata, finalizers=(FINALIZER,)))
        self.claims[number] = await self.client.update(RESOURCE_CLAIM, held)

    async def allocate(self, number: int) -> None:
        allocated = _allocated(self.claims[number], self.pods[number])
        self.claims[number] = await self.client.update(RESOURCE_CLAIM, allocated, subresource="status")

    async def bind(self, number: int) -> None:
        target = ObjectReference(kind="Node", name="node-a")
        metadata = ObjectMeta(name=f"pod-{number}", namespace=NAMESPACE)
        await self.client.create(BINDING, Binding(metadata=metadata, target=target), subresource="binding")

    async def record_event(self, number: int) -> None:
        await self.client.create(EVENT, _event(self.pods[number]))

    async def run(self, number: int) -> None:
        pod = await self.client.get(POD, ObjectName(f"pod-{number}", NAMESPACE))
        ready = PodCondition(type="Ready", status="True")
        status = replace(pod.status, phase="Running", conditions=(*pod.status.conditions, ready))
        self.pods[number] = await self.client.update(POD, replace(pod, status=status), subresource="status")


async def _time(step: Callable[[int], Awaitable[None]]) -> float:
    """Seconds of processor time for each pod."""
    numbers = iter(range(PODS))

    async def work() -> None:
        for number in numbers:
            await step(number)

    begin = time.process_time()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(work())
    return (time.process_time() - begin) / PODS


async def _measure(folder: Path) -> list[tuple[str, float, str]]:
    async with _open_client(folder) as client:
        lives = _Lives(client)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)  # as `dray up` does
        steps = {
            "create a pod": lives.create_pod,
            "create its claim": lives.create_claim,
            "name the claim in the pod's status": lives.name_claim,
            "put a finalizer on the claim": lives.hold_claim,
            "allocate and reserve the claim": lives.allocate,
            "bind the pod": lives.bind,
            "record an event": lives.record_event,
            "report the pod running": lives.run,
        }
        rows = [(f"in process: {name}", await _time(step) * 1e6, "µs") for name, step in steps.items()]
    return [*rows, ("in process: all writes of a pod with a claim", sum(row[1] for row in rows), "µs")]


def measure() -> list[tuple[str, float, str]]:
    Path("build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir="build") as folder:
        return uvloop.run(_measure(Path(folder)))

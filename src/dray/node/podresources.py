"""PodResourcesLister: which devices the pods of this node hold, for monitoring programs on a unix socket.

Answers are put together from what the agent knows when it is asked. Devices of DRA are told; there are no others here.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio

from dray.api.core.containers import Container
from dray.api.core.pod import Pod
from dray.api.core.podresources import is_sidecar
from dray.effects.clock import Clock
from dray.node.agent import NodeAgent
from dray.node.core.devicemapping import find_used_claims
from dray.node.core.prepared_claims import ClaimRecord
from dray.protocol import podresources_v1_pb2, podresources_v1_pb2_grpc

__all__ = ["serve_pod_resources"]

_CALLS_A_SECOND: Final = 100.0
_BURST: Final = 10.0


@asynccontextmanager
async def serve_pod_resources(agent: NodeAgent, socket: Path, clock: Clock) -> AsyncGenerator[None, None]:
    """Answer at a socket for the length of a block; one that is left over there is replaced."""
    _make_room(socket)
    server = grpc.aio.server()
    # The generated function is untyped.
    podresources_v1_pb2_grpc.add_PodResourcesListerServicer_to_server(_Lister(agent, _Bucket(clock)), server)  # type: ignore[no-untyped-call,unused-ignore]
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    try:
        yield
    finally:
        await server.stop(None)
        _make_room(socket)


def _make_room(socket: Path) -> None:
    socket.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    socket.unlink(missing_ok=True)


class _Bucket:
    """How many calls are answered: a hundred a second, ten at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tokens = _BURST
        self._at = clock.monotonic()

    def takes(self) -> bool:
        """Whether one more call is answered now."""
        now = self._clock.monotonic()
        self._tokens = min(_BURST, self._tokens + (now - self._at) * _CALLS_A_SECOND)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class _Lister(podresources_v1_pb2_grpc.PodResourcesListerServicer):
    """The service."""

    def __init__(self, agent: NodeAgent, bucket: _Bucket) -> None:
        self._agent = agent
        self._bucket = bucket

    async def List(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401 (the protocol's name; generated types)
        """All active pods."""
        await self._admit(context)
        pods = [self._describe(task.pod) for task in self._agent.pods if task.is_active]
        return podresources_v1_pb2.ListPodResourcesResponse(pod_resources=pods)

    async def Get(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """One active pod."""
        await self._admit(context)
        for task in self._agent.pods:
            meta = task.pod.metadata
            if task.is_active and (meta.name, meta.namespace) == (request.pod_name, request.pod_namespace):
                return podresources_v1_pb2.GetPodResourcesResponse(pod_resources=self._describe(task.pod))
        detail = f"pod {request.pod_name} in namespace {request.pod_namespace} not found"
        await context.abort(grpc.StatusCode.UNKNOWN, detail)
        raise AssertionError

    async def GetAllocatableResources(self, request: Any, context: Any) -> Any:  # noqa: N802, ANN401
        """Nothing: devices of DRA are allocated from ResourceSlices."""
        await self._admit(context)
        return podresources_v1_pb2.AllocatableResourcesResponse()

    async def _admit(self, context: Any) -> None:  # noqa: ANN401
        if not self._bucket.takes():
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")

    def _describe(self, pod: Pod) -> Any:  # noqa: ANN401
        sidecars = [each for each in pod.spec.init_containers if is_sidecar(each)]
        return podresources_v1_pb2.PodResources(
            name=pod.metadata.name,
            namespace=pod.metadata.namespace,
            containers=[self._describe_container(pod, each) for each in (*sidecars, *pod.spec.containers)],
        )

    def _describe_container(self, pod: Pod, container: Container) -> Any:  # noqa: ANN401
        records = [
            record
            for name in find_used_claims(pod, container)
            if (record := self._agent.keeper.claims.find(pod.metadata.namespace, name)) is not None
        ]
        return podresources_v1_pb2.ContainerResources(
            name=container.name, dynamic_resources=list(map(_describe_claim, records))
        )


def _describe_claim(record: ClaimRecord) -> Any:  # noqa: ANN401
    return podresources_v1_pb2.DynamicResource(
        claim_name=record.ref.name, claim_namespace=record.ref.namespace, claim_resources=list(_list_devices(record))
    )


def _list_devices(record: ClaimRecord) -> Iterator[Any]:
    """The devices of the whole claim, whichever of its requests the container names, as in Kubernetes."""
    for driver, device in record.devices:
        yield podresources_v1_pb2.ClaimResource(
            cdi_devices=[podresources_v1_pb2.CDIDevice(name=each) for each in device.cdi_ids],
            driver_name=driver,
            pool_name=device.pool,
            device_name=device.device,
            share_id=device.share_id,
        )

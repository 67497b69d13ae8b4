"""Drivers behind unix sockets: the kubelet's side of DRAPlugin and DRAResourceHealth, in the versions there are.

One channel a driver instance carries all calls and the health stream, for as long as the instance is registered.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import grpc
import grpc.aio

from dray.driver.claims import ClaimRef
from dray.effects.clock import Clock
from dray.node.connection import CALL_SECONDS, DriverCallFailed, HealthNotOffered
from dray.node.core.answers import PrepareAnswer
from dray.node.core.health import HealthReport
from dray.node.core.prepared_claims import ReadyDevice
from dray.node.metrics import NodeMetrics
from dray.protocol import dra_v1_pb2, dra_v1beta1_pb2, health_v1_pb2, health_v1alpha1_pb2

__all__ = ["DRA_SERVICES", "HEALTH_SERVICES", "GrpcConnection", "Versions", "describe_failure"]

DRA_SERVICES: Final[Mapping[str, Any]] = {
    "v1.DRAPlugin": dra_v1_pb2,
    "v1beta1.DRAPlugin": dra_v1beta1_pb2,
}
"""Messages by the name under which a driver announces the service."""
HEALTH_SERVICES: Final[Mapping[str, Any]] = {
    "v1.DRAResourceHealth": health_v1_pb2,
    "v1alpha1.DRAResourceHealth": health_v1alpha1_pb2,
}
"""Best first."""
_OPTIONS: Final = (
    # Two instances may listen at one path one after the other: neither inherits the other's state.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.default_authority", "localhost"),  # a path is no authority to some servers
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.max_receive_message_length", 16 << 20),
)
_CLOSING: Final = "grpc: the client connection is closing"
_HEALTH_NAMES: Final = {0: "Unknown", 1: "Healthy", 2: "Unhealthy"}


class Versions(NamedTuple):
    """The services that were agreed on with a driver; `health` is empty where it offers none."""

    dra: str
    health: str


class GrpcConnection:
    """One driver instance behind a socket."""

    def __init__(self, driver: str, endpoint: str, versions: Versions, clock: Clock, metrics: NodeMetrics) -> None:
        self._driver = driver
        self._clock = clock
        self._metrics = metrics
        self._messages = DRA_SERVICES[versions.dra]
        self._health = HEALTH_SERVICES.get(versions.health)
        self._path = f"/k8s.io.kubelet.pkg.apis.dra.{versions.dra}"
        self._health_path = f"/{versions.health}/NodeWatchResources"
        self._channel = grpc.aio.insecure_channel(f"unix:{endpoint}", options=_OPTIONS)

    async def prepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, PrepareAnswer]:
        """See `DriverConnection.prepare`."""
        response = await self._call("NodePrepareResources", claims)
        return {uid: self._read_answer(response.claims[uid]) for uid in response.claims}

    async def unprepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, str]:
        """See `DriverConnection.unprepare`."""
        response = await self._call("NodeUnprepareResources", claims)
        return {uid: response.claims[uid].error for uid in response.claims}

    async def watch_health(self) -> AsyncGenerator[Sequence[HealthReport], None]:
        """See `DriverConnection.watch_health`."""
        if self._health is None:
            raise HealthNotOffered("the driver does not watch its devices")
        messages = self._health
        call = self._channel.unary_stream(
            self._health_path,
            request_serializer=messages.NodeWatchResourcesRequest.SerializeToString,
            response_deserializer=messages.NodeWatchResourcesResponse.FromString,
        )(messages.NodeWatchResourcesRequest())
        try:
            async for response in call:
                yield [_read_health(each) for each in response.devices]
        except grpc.aio.AioRpcError as fault:
            if fault.code() is grpc.StatusCode.UNIMPLEMENTED:
                raise HealthNotOffered(fault.details() or "") from fault
            raise describe_failure(fault) from fault
        finally:
            call.cancel()

    async def follow_connection(self, note: Callable[[bool], None]) -> None:
        """Connect, and tell of every change, until the channel is closed."""
        state = self._channel.get_state(try_to_connect=True)
        while state is not grpc.ChannelConnectivity.SHUTDOWN:
            note(state is grpc.ChannelConnectivity.READY)
            await self._channel.wait_for_state_change(state)
            state = self._channel.get_state(try_to_connect=True)
        note(False)

    async def aclose(self) -> None:
        """See `DriverConnection.aclose`."""
        await self._channel.close()

    async def _call(self, method: str, claims: Sequence[ClaimRef]) -> Any:  # noqa: ANN401 (one of two versions)
        messages, path = self._messages, f"{self._path}/{method}"
        request = getattr(messages, f"{method}Request")(
            claims=[messages.Claim(namespace=each.namespace, uid=each.uid, name=each.name) for each in claims]
        )
        call: grpc.aio.UnaryUnaryMultiCallable[Any, Any] = self._channel.unary_unary(
            path,
            request_serializer=lambda message: cast("bytes", message.SerializeToString()),
            response_deserializer=getattr(messages, f"{method}Response").FromString,
        )
        begun, code = self._clock.monotonic(), "Canceled"
        try:
            response = await call(request, timeout=CALL_SECONDS)
            code = "OK"
        except grpc.aio.AioRpcError as fault:
            failure = describe_failure(fault)
            code = failure.code
            raise failure from fault
        except grpc.aio.UsageError as fault:
            raise DriverCallFailed("Canceled", _CLOSING) from fault
        except asyncio.CancelledError as fault:
            # A channel that is closed cancels its calls. Whoever waits for one is not cancelled by that.
            if _is_cancelled():
                raise
            raise DriverCallFailed("Canceled", _CLOSING) from fault
        finally:
            self._metrics.note_call(self._driver, path, code, self._clock.monotonic() - begun)
        return response

    def _read_answer(self, answer: Any) -> PrepareAnswer:  # noqa: ANN401 (one of two versions)
        return PrepareAnswer(
            tuple(
                ReadyDevice(
                    each.pool_name,
                    each.device_name,
                    tuple(each.request_names),
                    tuple(each.cdi_device_ids),
                    _read_share(each),
                )
                for each in answer.devices
            ),
            answer.error,
        )


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _read_share(device: Any) -> str | None:  # noqa: ANN401 (one of two versions)
    has_field = "share_id" in device.DESCRIPTOR.fields_by_name
    return device.share_id if has_field and device.HasField("share_id") else None


def _read_health(device: Any) -> HealthReport:  # noqa: ANN401 (one of two versions)
    return HealthReport(
        device.device.pool_name,
        device.device.device_name,
        _HEALTH_NAMES.get(device.health, "Unknown"),
        device.message,
        device.health_check_timeout_seconds,
    )


def describe_failure(fault: grpc.aio.AioRpcError) -> DriverCallFailed:
    """A failed call in the words of Go's library, which Kubernetes prints."""
    code = fault.code()
    name = "".join(part.capitalize() for part in code.name.split("_"))
    names = {"Ok": "OK", "Cancelled": "Canceled"}
    detail = "context deadline exceeded" if code is grpc.StatusCode.DEADLINE_EXCEEDED else fault.details() or ""
    return DriverCallFailed(names.get(name, name), detail)

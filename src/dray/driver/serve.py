"""A driver behind unix sockets: DRAPlugin and DRAResourceHealth, in all their versions, and the registration.

The kubelet finds the registration socket, asks what is there, and calls the service socket from then on. This is the
only module of the SDK that imports gRPC.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio

from dray.driver.claims import ClaimRef, DeviceHealth, Health
from dray.driver.health import HealthWatch, reports_health
from dray.driver.host import DriverHost
from dray.driver.metrics import DriverMetrics
from dray.driver.port import Driver
from dray.driver.service import ClaimService, PrepareAnswer
from dray.driver.sockets import SocketPaths
from dray.effects.clock import Clock
from dray.effects.log import Log
from dray.protocol import dra_v1_pb2, dra_v1beta1_pb2, health_v1_pb2, health_v1alpha1_pb2, registration_v1_pb2

__all__ = ["ServedDriver", "open_sockets"]

_DRA: Final = {"v1.DRAPlugin": dra_v1_pb2, "v1beta1.DRAPlugin": dra_v1beta1_pb2}
"""By the name that registration tells, newest first: kubelets take the first that they know."""
_HEALTH: Final = {"v1.DRAResourceHealth": health_v1_pb2, "v1alpha1.DRAResourceHealth": health_v1alpha1_pb2}
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", 16 << 20),
    # A socket belongs to one process: another that binds the same path is a mistake to see.
    ("grpc.so_reuseport", 0),
)
_STOP_SECONDS: Final = 30.0
"""How long calls that are running may take to end."""
_HEALTH_NUMBERS: Final = {Health.UNKNOWN: 0, Health.HEALTHY: 1, Health.UNHEALTHY: 2}

# Messages of several versions pass through the same code. Their generated classes share no base that has the fields, so
# they are Any here.
Message = Any
Messages = Any


class ServedDriver:
    """A driver whose sockets are open. `registrations` counts how often a kubelet took it in."""

    def __init__(self, driver: Driver, paths: SocketPaths, log: Log) -> None:
        self.paths = paths
        self.registrations = 0
        self.registration_error = ""
        self._log = log
        versions = [*_DRA, *(_HEALTH if reports_health(driver) else ())]
        self._info = registration_v1_pb2.PluginInfo(
            type="DRAPlugin", name=driver.name, endpoint=str(paths.service), supported_versions=versions
        )

    async def describe(self, _request: Message, _context: object) -> registration_v1_pb2.PluginInfo:
        """Say who is here."""
        return self._info

    async def note_registration(
        self, status: registration_v1_pb2.RegistrationStatus, _context: object
    ) -> registration_v1_pb2.RegistrationStatusResponse:
        """Hear how the registration went."""
        self.registration_error = "" if status.plugin_registered else status.error
        if status.plugin_registered:
            self.registrations += 1
            self._log.info("registered with the kubelet", driver=self._info.name)
        else:
            self._log.error("kubelet refuses the driver", driver=self._info.name, err=status.error)
        return registration_v1_pb2.RegistrationStatusResponse()


@asynccontextmanager
async def open_sockets(
    driver: Driver, host: DriverHost, paths: SocketPaths, metrics: DriverMetrics
) -> AsyncGenerator[ServedDriver, None]:
    """Serve a driver for the length of a block: the service first, then the registration, and the other way round."""
    served = ServedDriver(driver, paths, host.log)
    handlers = [
        *(_dra_handler(name, messages, host.claims, metrics, host.clock) for name, messages in _DRA.items()),
        *(
            _health_handler(name, messages, host.health, host.clock)
            for name, messages in _HEALTH.items()
            if reports_health(driver)
        ),
    ]
    async with _listen(paths.service, handlers), _listen(paths.registration, [_registration_handler(served)]):
        yield served


@asynccontextmanager
async def _listen(socket: Path, handlers: Sequence[grpc.GenericRpcHandler]) -> AsyncGenerator[None, None]:
    server = grpc.aio.server(options=_OPTIONS)
    server.add_generic_rpc_handlers(handlers)
    _remove(socket)  # left by an instance that was killed: listening would fail
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    try:
        yield
    finally:
        _remove(socket)  # nobody shall find it any more, while calls come to their end
        await server.stop(_STOP_SECONDS)


def _remove(socket: Path) -> None:
    with suppress(FileNotFoundError):
        os.unlink(socket)


def _registration_handler(served: ServedDriver) -> grpc.GenericRpcHandler:
    messages = registration_v1_pb2
    methods = {
        "GetInfo": _unary(served.describe, messages.InfoRequest),
        "NotifyRegistrationStatus": _unary(served.note_registration, messages.RegistrationStatus),
    }
    return grpc.method_handlers_generic_handler("pluginregistration.Registration", methods)


def _dra_handler(
    version: str, messages: Messages, claims: ClaimService, metrics: DriverMetrics, clock: Clock
) -> grpc.GenericRpcHandler:
    service = f"k8s.io.kubelet.pkg.apis.dra.{version}"

    async def prepare(request: Message, _context: object) -> Message:
        answers = await claims.prepare(_read_claims(request))
        response = messages.NodePrepareResourcesResponse()
        for uid, answer in answers.items():
            _write_answer(response.claims[uid], answer)
        return response

    async def unprepare(request: Message, _context: object) -> Message:
        answers = await claims.unprepare(_read_claims(request))
        response = messages.NodeUnprepareResourcesResponse()
        for uid, answer in answers.items():
            response.claims[uid].error = answer.error
        return response

    def measured(name: str, answer: Callable[[Message, object], Awaitable[Message]]) -> Any:  # noqa: ANN401 (generated)
        async def measure(request: Message, context: object) -> Message:
            begun, code = clock.monotonic(), "Canceled"
            try:
                response = await answer(request, context)
                code = "OK"
            finally:
                metrics.observe_call(f"/{service}/{name}", code, clock.monotonic() - begun)
            return response

        return _unary(measure, getattr(messages, f"{name}Request"))

    methods = {
        "NodePrepareResources": measured("NodePrepareResources", prepare),
        "NodeUnprepareResources": measured("NodeUnprepareResources", unprepare),
    }
    return grpc.method_handlers_generic_handler(service, methods)


def _read_claims(request: Message) -> list[ClaimRef]:
    return [ClaimRef(namespace=each.namespace, name=each.name, uid=each.uid) for each in request.claims]


def _write_answer(response: Message, answer: PrepareAnswer) -> None:
    response.error = answer.error
    for ready in answer.devices:
        device = response.devices.add(
            request_names=[ready.key.request],
            pool_name=ready.key.pool,
            device_name=ready.key.device,
            cdi_device_ids=ready.cdi_names,
        )
        # v1beta1 has no shares: kubelets that speak it know none.
        if ready.key.share_id is not None and "share_id" in device.DESCRIPTOR.fields_by_name:
            device.share_id = ready.key.share_id


def _health_handler(version: str, messages: Messages, health: HealthWatch, clock: Clock) -> grpc.GenericRpcHandler:
    async def watch(_request: Message, _context: object) -> AsyncIterator[Message]:
        async with aclosing(health.reports()) as reports:
            async for report in reports:
                now = clock.now().to_time().unix_seconds
                yield messages.NodeWatchResourcesResponse(
                    devices=[_write_health(messages, each, now) for each in report]
                )

    handler = grpc.unary_stream_rpc_method_handler(
        watch,
        request_deserializer=messages.NodeWatchResourcesRequest.FromString,
        response_serializer=_serialize,
    )
    return grpc.method_handlers_generic_handler(version, {"NodeWatchResources": handler})


def _write_health(messages: Messages, report: DeviceHealth, now: int) -> Message:
    return messages.DeviceHealth(
        device=messages.DeviceIdentifier(pool_name=report.pool, device_name=report.device),
        health=_HEALTH_NUMBERS[report.health],
        last_updated_time=now,
        health_check_timeout_seconds=report.lease_seconds,
        message=report.message,
    )


def _unary(answer: Callable[[Message, object], Awaitable[Message]], request: Message) -> Any:  # noqa: ANN401 (grpc's own)
    return grpc.unary_unary_rpc_method_handler(
        answer, request_deserializer=request.FromString, response_serializer=_serialize
    )


def _serialize(message: Message) -> bytes:
    text: bytes = message.SerializeToString()
    return text

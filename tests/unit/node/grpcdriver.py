"""A driver on real sockets that behaves as badly as it is told: in the kubelet's protocols, without the SDK."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from dray.protocol import (
    dra_v1_pb2,
    dra_v1_pb2_grpc,
    dra_v1beta1_pb2,
    dra_v1beta1_pb2_grpc,
    health_v1_pb2,
    health_v1_pb2_grpc,
    registration_v1_pb2,
    registration_v1_pb2_grpc,
)

__all__ = ["GrpcDriver", "open_driver"]

NAME = "gpu.example.com"


@dataclass
class GrpcDriver:
    """What the driver does, and what was asked of it."""

    root: Path
    name: str = NAME
    instance: str = ""
    """Part of the names of its sockets, for rolling updates."""
    type: str = "DRAPlugin"
    versions: Sequence[str] = ("v1.DRAPlugin",)
    answers: list[Any] = field(default_factory=list)
    """Each call takes one: a status code to fail with, a function that changes the response, or None."""
    refusals: int = 0
    """So many notifications of success it does not take."""
    gate: asyncio.Event | None = None
    calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    notified: list[tuple[bool, str]] = field(default_factory=list)
    reports: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue)
    watchers: int = 0

    @property
    def registration(self) -> Path:
        return self.root / "plugins_registry" / f"{self.name}{self.instance}-reg.sock"

    @property
    def endpoint(self) -> Path:
        return self.root / "plugins" / self.name / f"dra{self.instance}.sock"

    def count(self, operation: str) -> int:
        return sum(each == operation for each, _ in self.calls)


class _Registration(registration_v1_pb2_grpc.RegistrationServicer):
    def __init__(self, driver: GrpcDriver) -> None:
        self._driver = driver

    async def GetInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        return registration_v1_pb2.PluginInfo(
            type=self._driver.type,
            name=self._driver.name,
            endpoint=str(self._driver.endpoint),
            supported_versions=self._driver.versions,
        )

    async def NotifyRegistrationStatus(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._driver.notified.append((request.plugin_registered, request.error))
        if self._driver.refusals:
            self._driver.refusals -= 1
            await context.abort(grpc.StatusCode.INTERNAL, "not now")
        return registration_v1_pb2.RegistrationStatusResponse()


class _Plugin:
    """Both versions of DRAPlugin; `messages` says which."""

    def __init__(self, driver: GrpcDriver, messages: Any) -> None:
        self._driver = driver
        self._messages = messages

    async def NodePrepareResources(self, request: Any, context: Any) -> Any:  # noqa: N802
        response = self._messages.NodePrepareResourcesResponse()
        for claim in request.claims:
            device = self._messages.Device(pool_name="node-a", device_name=f"dev-{claim.name}", request_names=["gpu"])
            response.claims[claim.uid].devices.append(device)
        return await self._answer("prepare", request, response, context)

    async def NodeUnprepareResources(self, request: Any, context: Any) -> Any:  # noqa: N802
        response = self._messages.NodeUnprepareResourcesResponse()
        for claim in request.claims:
            response.claims[claim.uid].SetInParent()
        return await self._answer("unprepare", request, response, context)

    async def _answer(self, operation: str, request: Any, response: Any, context: Any) -> Any:
        driver = self._driver
        driver.calls.append((operation, tuple(each.name for each in request.claims)))
        if driver.gate is not None:
            await driver.gate.wait()
        answer = driver.answers.pop(0) if driver.answers else None
        if isinstance(answer, grpc.StatusCode):
            await context.abort(answer, "told to fail")
        if answer is not None:
            answer(response)
        return response


class _Health(health_v1_pb2_grpc.DRAResourceHealthServicer):
    def __init__(self, driver: GrpcDriver) -> None:
        self._driver = driver

    async def NodeWatchResources(self, request: Any, context: Any) -> AsyncGenerator[Any, None]:  # noqa: N802
        self._driver.watchers += 1
        try:
            while (report := await self._driver.reports.get()) is not None:
                yield health_v1_pb2.NodeWatchResourcesResponse(devices=report)
        finally:
            self._driver.watchers -= 1


@asynccontextmanager
async def open_driver(driver: GrpcDriver, *, with_service: bool = True) -> AsyncIterator[GrpcDriver]:
    """Serve a driver for the length of a block, its service before its registration."""
    for each in (driver.registration, driver.endpoint):
        each.parent.mkdir(parents=True, exist_ok=True)
        each.unlink(missing_ok=True)
    registration = grpc.aio.server()
    registration_v1_pb2_grpc.add_RegistrationServicer_to_server(_Registration(driver), registration)
    registration.add_insecure_port(f"unix:{driver.registration}")
    service = make_service(driver)
    if with_service:
        await service.start()
    await registration.start()
    try:
        yield driver
    finally:
        driver.reports.put_nowait(None)
        await registration.stop(None)
        driver.registration.unlink(missing_ok=True)
        await service.stop(None)
        driver.endpoint.unlink(missing_ok=True)


def make_service(driver: GrpcDriver) -> grpc.aio.Server:
    service = grpc.aio.server()
    dra_v1_pb2_grpc.add_DRAPluginServicer_to_server(_Plugin(driver, dra_v1_pb2), service)  # type: ignore[arg-type]  # both versions at once
    dra_v1beta1_pb2_grpc.add_DRAPluginServicer_to_server(_Plugin(driver, dra_v1beta1_pb2), service)  # type: ignore[arg-type]
    health_v1_pb2_grpc.add_DRAResourceHealthServicer_to_server(_Health(driver), service)
    service.add_insecure_port(f"unix:{driver.endpoint}")
    return service

"""Plugins of this node: who has put a socket into the registration directory, and the handshake with each.

The directory is scanned, not watched: a socket is known by its path, inode and time of creation, so that one that was
removed and made anew between two looks is seen as another. Every socket has a task of its own, in which registering,
trying again after growing waits, and unregistering follow one another.
"""

import asyncio
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
import grpc.aio

from dray.errors import DrayError
from dray.node.drivers import DriverInstance, Drivers
from dray.node.grpcdrivers import DRA_SERVICES, HEALTH_SERVICES, GrpcConnection, Versions, describe_failure
from dray.node.surroundings import Surroundings
from dray.protocol import registration_v1_pb2

__all__ = ["SCAN_SECONDS", "RegistrationRefused", "Registry", "agree_versions"]

SCAN_SECONDS: Final = 0.1
"""How often the directory is looked at: a look at an unchanged one takes some microseconds."""
_DRA: Final = "DRAPlugin"
_CONNECT_SECONDS: Final = 10.0
_INFO_SECONDS: Final = 1.0
_NOTIFY_SECONDS: Final = 5.0
_FIRST_RETRY_SECONDS: Final = 0.5
_LONGEST_RETRY_SECONDS: Final = 122.0
_SERVICE: Final = "/pluginregistration.Registration"


_OPTIONS: Final = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.default_authority", "localhost"),  # a path is no authority to some servers
)


class RegistrationRefused(DrayError):
    """A plugin cannot be registered; it is told why, and tried again."""


class _Socket(NamedTuple):
    """One socket file, as it was made."""

    path: str
    inode: int
    made: int
    """The modification time: of a socket, nothing changes it later."""


def agree_versions(driver: str, offered: Sequence[str]) -> Versions:
    """The services to speak: of DRA, the first we know in the plugin's order; of health, the best we know.

    Raises RegistrationRefused where there is none of DRA.
    """
    if not offered:
        raise RegistrationRefused(f"empty list of supported gRPC services (aka supported versions) for {driver}")
    dra = next((each for each in offered if each in DRA_SERVICES), None)
    if dra is None:
        known, listed = ", ".join(DRA_SERVICES), ", ".join(offered)
        raise RegistrationRefused(f"DRA driver {driver} offers none of the gRPC services {known}: {listed}")
    return Versions(dra, next((each for each in HEALTH_SERVICES if each in offered), ""))


class Registry:
    """Keeps the drivers of a node in step with the sockets in its registration directory."""

    def __init__(self, folder: Path, drivers: Drivers, around: Surroundings) -> None:
        self._folder = folder
        self._drivers = drivers
        self._around = around
        self._present: set[_Socket] = set()
        self._members: dict[str, _Member] = {}

    async def run(self) -> None:
        """Look at the directory until cancelled; it is made if it is missing."""
        while True:
            self._folder.mkdir(mode=0o750, parents=True, exist_ok=True)
            present = set(_find_sockets(self._folder))
            if present != self._present:
                self._follow(present)
            await self._around.clock.sleep(SCAN_SECONDS)

    def _follow(self, present: set[_Socket]) -> None:
        for socket in self._present - present:
            self._members[socket.path].wanted = None
        for socket in present - self._present:
            member = self._members.get(socket.path)
            if member is None:
                member = self._members[socket.path] = _Member(socket.path, self._drivers, self._around)
            member.wanted = socket
        self._present = present
        for path, member in list(self._members.items()):
            member.wake()
            if member.is_over:
                del self._members[path]


class _Member:
    """One path in the directory: the socket that should be registered, and the one that is."""

    def __init__(self, path: str, drivers: Drivers, around: Surroundings) -> None:
        self.wanted: _Socket | None = None
        self._path = path
        self._drivers = drivers
        self._around = around
        self._registered: _Socket | None = None
        self._instance: DriverInstance | None = None
        self._is_working = False

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do for the path."""
        return self.wanted is None and self._registered is None and not self._is_working

    def wake(self) -> None:
        """See that what is registered is what should be."""
        if not self._is_working and self.wanted != self._registered:
            self._is_working = True
            self._around.begin(self._work(), f"plugin at {self._path}")

    async def _work(self) -> None:
        attempt = 0
        try:
            while self.wanted != self._registered:
                await self._unregister()
                wanted = self.wanted
                if wanted is None:
                    continue
                try:
                    await self._register()
                    self._registered, attempt = wanted, 0
                except RegistrationRefused as fault:
                    seconds = min(_FIRST_RETRY_SECONDS * 2.0 ** min(attempt, 10), _LONGEST_RETRY_SECONDS)
                    attempt += 1
                    self._around.log.info(
                        "plugin is not registered", socket=self._path, attempt=attempt, seconds=seconds, err=fault
                    )
                    await self._pause(wanted, seconds)
        finally:
            self._is_working = False

    async def _pause(self, wanted: _Socket, seconds: float) -> None:
        """Wait, but no longer than the socket is the one that failed."""
        end = self._around.clock.monotonic() + seconds
        while self.wanted == wanted and (left := end - self._around.clock.monotonic()) > 0:
            await self._around.clock.sleep(min(left, SCAN_SECONDS))

    async def _unregister(self) -> None:
        instance, self._instance, self._registered = self._instance, None, None
        if instance is not None:
            self._around.log.info("driver has gone", driver=instance.driver, endpoint=instance.endpoint)
            await self._drivers.remove(instance)

    async def _register(self) -> None:
        """The handshake. Raises RegistrationRefused."""
        async with grpc.aio.insecure_channel(f"unix:{self._path}", options=_OPTIONS) as channel:
            await _connect(channel)
            info = await self._ask(channel)
            try:
                instance, connection = self._take_in(info)
            except RegistrationRefused as fault:
                await self._notify(channel, str(fault))
                raise
            try:
                await self._notify(channel, "")
            except RegistrationRefused:
                await self._drivers.remove(instance)
                raise
        self._instance = instance
        self._around.log.info("driver has registered", driver=instance.driver, endpoint=instance.endpoint)
        self._around.begin(
            connection.follow_connection(
                lambda is_there: self._drivers.note_connection(instance, is_connected=is_there)
            ),
            f"connection to {instance.driver}",
        )

    async def _ask(self, channel: grpc.aio.Channel) -> Any:  # noqa: ANN401 (a generated message)
        call = channel.unary_unary(
            f"{_SERVICE}/GetInfo",
            request_serializer=registration_v1_pb2.InfoRequest.SerializeToString,
            response_deserializer=registration_v1_pb2.PluginInfo.FromString,
        )
        try:
            return await call(registration_v1_pb2.InfoRequest(), timeout=_INFO_SECONDS)
        except grpc.aio.AioRpcError as fault:
            raise RegistrationRefused(
                f"failed to get plugin info using RPC GetInfo: {describe_failure(fault)}"
            ) from fault

    def _take_in(self, info: Any) -> tuple[DriverInstance, GrpcConnection]:  # noqa: ANN401 (a generated message)
        if info.type != _DRA:
            raise RegistrationRefused(f"no handler registered for plugin type: {info.type} at socket {self._path}")
        if not info.name:
            raise RegistrationRefused("DRA driver name is empty")
        endpoint = info.endpoint or self._path
        versions = agree_versions(info.name, list(info.supported_versions))
        connection = GrpcConnection(info.name, endpoint, versions, self._around.clock, self._around.metrics)
        instance = DriverInstance(info.name, endpoint, connection)
        try:
            self._drivers.add(instance)
        except ValueError as fault:
            raise RegistrationRefused(str(fault)) from fault
        return instance, connection

    async def _notify(self, channel: grpc.aio.Channel, error: str) -> None:
        """Tell the plugin how it went. Raises RegistrationRefused if it does not take a success."""
        call = channel.unary_unary(
            f"{_SERVICE}/NotifyRegistrationStatus",
            request_serializer=registration_v1_pb2.RegistrationStatus.SerializeToString,
            response_deserializer=registration_v1_pb2.RegistrationStatusResponse.FromString,
        )
        status = registration_v1_pb2.RegistrationStatus(plugin_registered=not error, error=error)
        try:
            await call(status, timeout=_NOTIFY_SECONDS)
        except grpc.aio.AioRpcError as fault:
            if not error:
                raise RegistrationRefused(
                    f"failed to send registration status using RPC NotifyRegistrationStatus: {describe_failure(fault)}"
                ) from fault


async def _connect(channel: grpc.aio.Channel) -> None:
    """Raises RegistrationRefused where nobody listens, at once, or where nobody takes the connection, after a while."""
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            state = channel.get_state(try_to_connect=True)
            while state is not grpc.ChannelConnectivity.READY:
                if state in (grpc.ChannelConnectivity.TRANSIENT_FAILURE, grpc.ChannelConnectivity.SHUTDOWN):
                    raise RegistrationRefused("failed to dial plugin: nobody listens at the socket")
                await channel.wait_for_state_change(state)
                state = channel.get_state(try_to_connect=True)
    except TimeoutError as fault:
        raise RegistrationRefused("failed to dial plugin: context deadline exceeded") from fault


def _find_sockets(folder: Path) -> Iterator[_Socket]:
    """Every socket below a folder, but for hidden ones."""
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            facts = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if stat.S_ISDIR(facts.st_mode):
            yield from _find_sockets(Path(entry.path))
        elif stat.S_ISSOCK(facts.st_mode):
            yield _Socket(entry.path, facts.st_ino, facts.st_mtime_ns)

"""What a driver is: subclass `Driver`, say which devices there are, prepare them, take them back.

    class MyDriver(Driver):
        name = "gpu.example.com"

        async def devices(self) -> Devices:
            return Devices.of(Device(name="gpu-0", attributes=attributes(model="X1"), capacity=capacity(memory="16Gi")))

        async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
            return Prepared.of(each.prepared(ContainerEdits(env=env(GPU=each.name))) for each in devices)

    run(MyDriver())

The SDK does the rest: it registers with the kubelet, publishes and updates ResourceSlices, remembers what is prepared,
writes CDI files, reports health, and calls these methods so that a driver needs no locks and no files of its own.
Nothing here knows whether the other side is a kubelet or dray's node agent, or whether there is a socket in between.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, Protocol

from dray.client.port import Client
from dray.driver.claims import (
    AllocatedDevice,
    Claim,
    ClaimRef,
    DeviceHealth,
    DeviceKey,
    DeviceReport,
    Prepared,
    PreparedClaim,
)
from dray.driver.config import DriverConfig
from dray.driver.devices import Devices
from dray.effects.clock import Clock
from dray.effects.log import Log
from dray.errors import InternalError

__all__ = ["Driver", "DriverFromCallbacks", "Host"]


class Host(Protocol):
    """What a running driver can ask of the SDK."""

    @property
    def node_name(self) -> str:
        """The node that the driver serves."""
        ...

    @property
    def client(self) -> Client:
        """The API server, with the driver's own rights."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

    @property
    def log(self) -> Log:
        """Where the driver says what happened."""
        ...

    def devices_changed(self) -> None:
        """Have `Driver.devices` asked again soon. Several calls in a row lead to one question."""
        ...

    def health_changed(self) -> None:
        """Have `Driver.health` asked again now."""
        ...

    def prepared_claims(self) -> Sequence[PreparedClaim]:
        """The claims that are prepared, or half so, each with what the driver gave it to remember.

        Within `prepare` and `unprepare` this is the whole truth, after a restart and beside another instance too, so
        that a driver which divides something among claims needs no record of its own.
        """
        ...

    async def report(self, claim: ClaimRef, devices: Sequence[tuple[DeviceKey, DeviceReport]]) -> None:
        """Write what the claim's status says of some of its devices; other entries stay as they are.

        `Prepared` carries first reports; this is for what becomes known later. A claim that is gone, or no longer
        has these devices, is left alone.
        """
        ...


class Driver:
    """A driver of devices. Subclass it: `name`, `devices` and `prepare` must be given, the rest may.

    All methods run on one event loop. What blocks for more than some milliseconds belongs into `asyncio.to_thread`.
    `prepare` and `unprepare` never overlap for one claim; for different claims they may, unless
    `one_claim_at_a_time`. An exception that one of them raises fails that claim alone: the pod sees its text and the
    kubelet tries again.
    """

    name: str = ""
    """The driver's name: a DNS subdomain of at most 63 characters."""
    configs: ClassVar[tuple[type[DriverConfig], ...]] = ()
    """The types of configuration that claims and classes may carry for this driver. Others are refused."""
    cdi_class: ClassVar[str] = "claim"
    """The class in names of CDI devices, `k8s.<driver>/<class>=<device>`."""
    one_claim_at_a_time: ClassVar[bool] = False
    """Never prepare or unprepare two claims side by side."""
    rescan_seconds: ClassVar[float | None] = None
    """Ask `devices` again this often, for hardware that does not say when it changes."""

    _host: Host | None = None

    @property
    def host(self) -> Host:
        """The SDK's side, from `start` on."""
        if self._host is None:
            raise InternalError(f"driver {self.name!r} is not running: its host exists from start() on")
        return self._host

    def attach(self, host: Host | None) -> None:
        """Give the driver its host, or take it back. The SDK calls this around `start` and `stop`."""
        self._host = host

    async def start(self) -> None:
        """Open what the driver needs; `self.host` is there. Called once, before anything else."""

    async def stop(self) -> None:
        """Close what `start` opened. Prepared claims stay prepared: pods go on without the driver."""

    async def devices(self) -> Devices:
        """Everything the driver offers now.

        Asked at the start, after `host.devices_changed()`, and every `rescan_seconds`.
        """
        raise NotImplementedError

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Make the devices of a claim ready and answer each of them, `device.prepared(edits)`.

        May be called again for the same claim after it failed, after a crash or after a reboot, and must then come to
        the same end; a claim that was prepared is answered from the checkpoint. A device is never in `devices` while
        another claim holds it, unless it is shared or the access is that of an administrator.
        """
        raise NotImplementedError

    async def unprepare(self, claim: PreparedClaim) -> None:
        """Take the devices of a claim back. CDI files and the checkpoint are the SDK's business.

        May be called again after it failed or after a crash. Never called for a claim that `prepare` has not seen.
        """

    async def health(self) -> Sequence[DeviceHealth]:
        """How the devices fare.

        Asked when somebody begins to watch, after `host.health_changed()`, and before leases end. A driver that does
        not override this tells the kubelet that it does not watch health.
        """
        raise NotImplementedError


class DriverFromCallbacks(Driver):
    """A driver of two callbacks, for those who need no class.

    `run(DriverFromCallbacks("gpu.example.com", devices=list_gpus, prepare=prepare_gpus))`
    """

    def __init__(
        self,
        name: str,
        *,
        devices: Callable[[], Awaitable[Devices]],
        prepare: Callable[[Claim, Sequence[AllocatedDevice]], Awaitable[Prepared]],
        unprepare: Callable[[PreparedClaim], Awaitable[None]] | None = None,
    ) -> None:
        self.name = name
        self._devices = devices
        self._prepare = prepare
        self._unprepare = unprepare

    async def devices(self) -> Devices:
        """What the callback says."""
        return await self._devices()

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """What the callback does."""
        return await self._prepare(claim, devices)

    async def unprepare(self, claim: PreparedClaim) -> None:
        """What the callback does, if there is one."""
        if self._unprepare is not None:
            await self._unprepare(claim)

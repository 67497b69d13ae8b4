"""Claims as a driver sees them, and its answer: what it is to prepare, what it prepared, what it has to take back."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

import msgspec
from msgspec import Struct

from dray.api.meta import Condition
from dray.api.resource.allocation import NetworkDeviceData
from dray.api.resource.claim import ResourceClaim
from dray.api.struct import NO_JSON
from dray.driver.cdi import NO_EDITS, ContainerEdits
from dray.driver.config import DriverConfig
from dray.values.quantity import Quantity

__all__ = [
    "AllocatedDevice",
    "Claim",
    "ClaimRef",
    "DeviceHealth",
    "DeviceKey",
    "DeviceReport",
    "Health",
    "Prepared",
    "PreparedClaim",
    "PreparedDevice",
]

C = TypeVar("C", bound=DriverConfig)

POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
"""Annotation of a generated claim: the name by which its pod calls it."""


class ClaimRef(Struct, frozen=True, kw_only=True):
    """Which claim, and which edition of it: a claim made anew under the same name has another uid."""

    namespace: str
    name: str
    uid: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Claim(ClaimRef, frozen=True, kw_only=True):
    """An allocated claim that some pod on this node needs."""

    resource: ResourceClaim
    """The claim as the API server has it."""

    @property
    def pod_claim_name(self) -> str:
        """What the pod calls the claim, if it was generated for one; else empty."""
        return self.resource.metadata.annotations.get(POD_CLAIM_NAME, "")


class DeviceKey(Struct, frozen=True, order=True):
    """Tells the devices of a claim apart: the same device may come twice, for two requests or in two shares."""

    request: str
    """The request, without the alternative chosen."""
    pool: str
    device: str
    share_id: str | None = None


class DeviceReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the claim's status says of a device; `DeviceReport.of` writes it. Absent parts are not reported."""

    conditions: tuple[Condition, ...] = ()
    data: msgspec.Raw = NO_JSON
    """A JSON object of at most 10 KiB."""
    network: NetworkDeviceData | None = None

    @staticmethod
    def of(
        *, data: object = None, network: NetworkDeviceData | None = None, conditions: Sequence[Condition] = ()
    ) -> "DeviceReport":
        """Report a mapping or a Struct as data, addresses of a network interface, conditions."""
        raw = NO_JSON if data is None else msgspec.Raw(msgspec.json.encode(data, enc_hook=str))
        return DeviceReport(conditions=tuple(conditions), data=raw, network=network)


class PreparedDevice(Struct, frozen=True, kw_only=True):
    """One device that is ready, and what containers get for it.

    `memo` is the driver's own: kept in the checkpoint and handed back when the claim is to be unprepared.
    """

    key: DeviceKey
    edits: ContainerEdits = NO_EDITS
    cdi_names: tuple[str, ...] = ()
    """Devices of CDI files that the driver did not get written by the SDK, such as `nvidia.com/gpu=0`."""
    report: DeviceReport | None = None
    memo: Mapping[str, str] = {}

    @property
    def pool(self) -> str:
        """The pool of the device."""
        return self.key.pool

    @property
    def name(self) -> str:
        """The name of the device in its pool."""
        return self.key.device


class AllocatedDevice(Struct, frozen=True, kw_only=True):
    """One device, or a share of one, that the claim was given and this driver is to prepare."""

    key: DeviceKey
    alternative: str = ""
    """Which alternative of the request was chosen, if it lists alternatives."""
    admin_access: bool = False
    """The device may be in use by others, who must not be disturbed."""
    consumed_capacity: Mapping[str, Quantity] = {}
    """How much of a shared device this claim may use."""
    configs: tuple[DriverConfig, ...] = ()
    """Every configuration that is meant for the device, the one that counts most first."""

    @property
    def request(self) -> str:
        """The request that the device is for."""
        return self.key.request

    @property
    def pool(self) -> str:
        """The pool of the device."""
        return self.key.pool

    @property
    def name(self) -> str:
        """The name of the device in its pool."""
        return self.key.device

    @property
    def share_id(self) -> str | None:
        """Which share of the device, if it is shared."""
        return self.key.share_id

    def find_config(self, kind: type[C]) -> C | None:
        """The configuration of this type that counts most: a claim's over a class's, a later over an earlier one."""
        return next((config for config in self.configs if isinstance(config, kind)), None)

    def prepared(
        self,
        edits: ContainerEdits = NO_EDITS,
        *,
        cdi_names: Sequence[str] = (),
        report: DeviceReport | None = None,
        memo: Mapping[str, str] | None = None,
    ) -> PreparedDevice:
        """Answer that this device is ready."""
        return PreparedDevice(key=self.key, edits=edits, cdi_names=tuple(cdi_names), report=report, memo=memo or {})


class Prepared(Struct, frozen=True, kw_only=True):
    """A driver's answer to `prepare`: every allocated device, once.

    `common` goes once to every container that gets any of the devices.
    """

    devices: tuple[PreparedDevice, ...] = ()
    common: ContainerEdits = NO_EDITS

    @staticmethod
    def of(devices: Iterable[PreparedDevice], *, common: ContainerEdits = NO_EDITS) -> "Prepared":
        """Answer with devices that are ready."""
        return Prepared(devices=tuple(devices), common=common)


class PreparedClaim(ClaimRef, frozen=True, kw_only=True):
    """A claim to take back.

    `devices` are those that `prepare` answered. Where it never came to an answer (it failed, or the driver died) they
    are the devices it was asked for, without edits and memo: some of them may be half prepared.
    """

    devices: tuple[PreparedDevice, ...] = ()
    is_complete: bool = True
    """Whether `prepare` came to an answer."""


class Health(StrEnum):
    """How a device fares."""

    HEALTHY = "Healthy"
    UNHEALTHY = "Unhealthy"
    UNKNOWN = "Unknown"


class DeviceHealth(Struct, frozen=True, kw_only=True):
    """A report on one device, which holds for `lease_seconds` unless it is renewed; the SDK renews it."""

    pool: str = ""
    """Empty means the node's name."""
    device: str
    health: Health
    message: str = ""
    """For people, in the pod's status; 1024 bytes of it are kept."""
    lease_seconds: int = 30

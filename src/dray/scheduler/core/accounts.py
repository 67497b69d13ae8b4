"""What is told of a pod or a claim when somebody asks: where it is, what it has, or why it waits. As values.

Codes are stable and listed in docs/explain-codes.md; texts may change any day.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

__all__ = [
    "Account",
    "HeldDevice",
    "Miss",
    "PoolFault",
    "Reason",
    "Refused",
    "RequestFare",
    "Situation",
    "Wait",
    "WaitCode",
    "WayOut",
]


class Situation(StrEnum):
    """How things stand, in one word."""

    PLACED = "Placed"
    ALLOCATED = "Allocated"
    FITS = "Fits"
    NO_NODE_FITS = "NoNodeFits"
    NO_NODES = "NoNodes"
    WAITS = "Waits"
    ATTEMPT_FAILED = "AttemptFailed"
    FINISHED = "Finished"
    DELETING = "Deleting"


class WaitCode(StrEnum):
    """What a pod or claim waits for besides a node with devices, or what should be known about it."""

    SCHEDULING_GATES = "SchedulingGates"
    TEMPLATE_NOT_FOUND = "TemplateNotFound"
    CLAIM_NOT_GENERATED = "ClaimNotGenerated"
    CLAIM_NOT_FOUND = "ClaimNotFound"
    CLAIM_NOT_USABLE = "ClaimNotUsable"
    CLASS_NOT_FOUND = "ClassNotFound"
    PRIORITY_CLASS_NOT_FOUND = "PriorityClassNotFound"
    GROUP_NOT_FOUND = "GroupNotFound"
    GROUP_INCOMPLETE = "GroupIncomplete"
    DEVICES_NOT_READY = "DevicesNotReady"
    CLAIM_NOT_RESERVED = "ClaimNotReserved"
    PREEMPTION = "Preemption"
    OTHER_SCHEDULER = "OtherScheduler"
    NOT_USED = "NotUsed"


class _Told(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Parts of an account, as they are told to machines."""


class Wait(_Told, frozen=True):
    """Something to wait for. What does not block is only worth knowing."""

    code: WaitCode
    text: str
    hint: str = ""
    is_blocking: bool = True


class HeldDevice(_Told, frozen=True):
    """A device, or a share of one, that a claim has or would have."""

    claim: str
    request: str
    driver: str
    pool: str
    device: str
    share_id: str = ""
    consumed: Mapping[str, str] = {}
    """What the share takes of the device's capacity."""
    is_admin: bool = False

    @property
    def path(self) -> str:
        """`driver/pool/device`."""
        return f"{self.driver}/{self.pool}/{self.device}"


class Refused(_Told, frozen=True):
    """Nodes that refuse for one reason: the plugin that does, a code, and the first few by name."""

    plugin: str
    code: str
    count: int
    text: str
    nodes: tuple[str, ...]


class Reason(_Told, frozen=True):
    """Devices that do not come into question: `count` and `text` read as one."""

    code: str
    count: int
    text: str
    example: str = ""
    """One of the devices."""


class RequestFare(_Told, frozen=True):
    """How one request fares by itself on one node."""

    claim: str
    request: str
    device_class: str
    wanted: int
    fit: int
    seen: int
    text: str
    reasons: tuple[Reason, ...] = ()
    is_in_conflict: bool = False


class WayOut(_Told, frozen=True):
    """What would make it fit. Each was tried."""

    code: str
    text: str


class PoolFault(_Told, frozen=True):
    """A pool of which nothing can be taken."""

    code: str
    text: str


class Miss(_Told, frozen=True):
    """The node that comes closest, request by request."""

    node: str
    conflict: str = ""
    """What cannot be had together, if it is not about one request alone."""
    error: str = ""
    requests: tuple[RequestFare, ...] = ()
    pools: tuple[PoolFault, ...] = ()
    ways_out: tuple[WayOut, ...] = ()


class Account(_Told, frozen=True):
    """All that is told of a pod or a claim.

    `node` and `devices` are where it is and what it has, or where it would go and what it would be given. `message` is
    what Kubernetes' scheduler says.
    """

    kind: str
    namespace: str
    name: str
    code: Situation
    summary: str
    waits: tuple[Wait, ...] = ()
    node: str = ""
    devices: tuple[HeldDevice, ...] = ()
    nodes_fitting: int | None = None
    nodes_examined: int | None = None
    message: str = ""
    refusals: tuple[Refused, ...] = ()
    nearest: Miss | None = None
    used_by: tuple[str, ...] = ()
    """Of a claim: the pods that name it."""

    @property
    def is_well(self) -> bool:
        """Whether nothing keeps it from what it wants."""
        return self.code in (Situation.PLACED, Situation.ALLOCATED, Situation.FITS, Situation.FINISHED)

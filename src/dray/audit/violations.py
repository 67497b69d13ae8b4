"""What an audit finds: a stable code, what it is about, and a sentence for whoever has to look into it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Violation", "ViolationCode"]


class ViolationCode(StrEnum):
    """Which rule is broken. Stable."""

    ADMIN_ACCESS_WRONG = "AdminAccessWrong"
    ALLOCATIONS_MISSING = "AllocationsMissing"
    ALTERNATIVES_MIXED = "AlternativesMixed"
    BINDING_CONDITIONS_WRONG = "BindingConditionsWrong"
    CAPACITY_EXCEEDED = "CapacityExceeded"
    CAPACITY_UNFIT = "CapacityUnfit"
    CONFIG_WRONG = "ConfigWrong"
    CONSTRAINT_VIOLATED = "ConstraintViolated"
    CONSUMED_CAPACITY_WRONG = "ConsumedCapacityWrong"
    COUNTERS_EXCEEDED = "CountersExceeded"
    DEVICE_NOT_OFFERED = "DeviceNotOffered"
    DEVICE_REPEATED = "DeviceRepeated"
    DEVICE_TAKEN = "DeviceTaken"
    FINALIZER_MISSING = "FinalizerMissing"
    GROUPS_INCOMPATIBLE = "GroupsIncompatible"
    NODE_OPERATIONS_UNSUPPORTED = "NodeOperationsUnsupported"
    NODE_SELECTOR_WRONG = "NodeSelectorWrong"
    NOT_ALL_DEVICES = "NotAllDevices"
    POOL_NOT_USABLE = "PoolNotUsable"
    RESERVATION_REPEATED = "ReservationRepeated"
    RESERVED_WITHOUT_ALLOCATION = "ReservedWithoutAllocation"
    SELECTOR_FALSE = "SelectorFalse"
    SHARE_ID_WRONG = "ShareIdWrong"
    SKIPPED_OPERATIONS_WRONG = "SkippedOperationsWrong"
    STATUS_OF_UNKNOWN_DEVICE = "StatusOfUnknownDevice"
    TAINT_NOT_TOLERATED = "TaintNotTolerated"
    TIMESTAMP_SET = "TimestampSet"
    TOLERATIONS_WRONG = "TolerationsWrong"
    TOO_MANY_DEVICES = "TooManyDevices"
    TOO_MANY_RESERVATIONS = "TooManyReservations"
    UNKNOWN_CLASS = "UnknownClass"
    UNKNOWN_REQUEST = "UnknownRequest"
    WRONG_DEVICE_COUNT = "WrongDeviceCount"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule. `subject` names a claim, a request, a device or a pool; `text` is prose and not stable."""

    code: ViolationCode
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.code}: {self.subject}: {self.text}"

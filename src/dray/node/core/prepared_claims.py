"""Which claims are prepared on a node, for which pods, and with what result: the agent's memory of drivers' work.

An entry begins before a driver is called for the first time and ends after all drivers have taken everything back, so
that whatever a crash interrupts is found again. `core.checkpoint` writes it down; what it leaves out (`allocated` and
the two marks) is what this process has seen itself.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dray.api.resource.allocation import SkippableNodeOperation
from dray.driver.claims import ClaimRef
from dray.node.core.claims import AllocatedName, ClaimPlan, PreparationFailed, calls_driver

__all__ = ["ClaimRecord", "DriverState", "PreparedClaims", "ReadyDevice", "drivers_to_call"]


class ReadyDevice(Struct, frozen=True):
    """A device that a driver made ready."""

    pool: str
    device: str
    requests: tuple[str, ...] = ()
    """For which requests of the claim; none means for all of them."""
    cdi_ids: tuple[str, ...] = ()
    share_id: str | None = None

    def is_for(self, request: str) -> bool:
        """Whether a container that names this request gets the device; without a name it gets all.

        Drivers report the request alone, so of `request/alternative` only the first half counts.
        """
        return not request or not self.requests or request.partition("/")[0] in self.requests


class DriverState(Struct, frozen=True):
    """What one driver did for a claim."""

    devices: tuple[ReadyDevice, ...] = ()
    skipped: tuple[str, ...] = ()
    """Calls that are left out for the driver, as they were when the claim was first seen."""


class ClaimRecord(Struct, frozen=True):
    """One claim that this node holds, for at least one pod."""

    ref: ClaimRef
    pod_uids: frozenset[str]
    drivers: Mapping[str, DriverState]
    allocated: frozenset[AllocatedName] | None = None
    """The devices that the claim had when it was first seen by this process; None for one that was read from disk."""
    is_prepared: bool = False
    """Whether all drivers have answered to this process."""
    is_unpreparing: bool = False
    """Whether drivers were asked to take it back: no new pod may use it until they have."""

    @property
    def devices(self) -> list[tuple[str, ReadyDevice]]:
        """Driver and device, in order."""
        return [(driver, device) for driver in sorted(self.drivers) for device in self.drivers[driver].devices]


class PreparedClaims:
    """All records of a node. Owned by its `ClaimKeeper`; nothing else changes it."""

    def __init__(self, records: Iterable[ClaimRecord] = ()) -> None:
        self._records: dict[tuple[str, str], ClaimRecord] = {}
        self._by_pod: dict[str, set[tuple[str, str]]] = {}
        for record in records:
            self._put(record)

    def __len__(self) -> int:
        return len(self._records)

    def find(self, namespace: str, name: str) -> ClaimRecord | None:
        """The record of the claim of that name."""
        return self._records.get((namespace, name))

    def select(self) -> list[ClaimRecord]:
        """All records, by namespace and name."""
        return [self._records[key] for key in sorted(self._records)]

    def select_for_pod(self, pod_uid: str) -> list[ClaimRecord]:
        """The claims held for a pod, by namespace and name."""
        return [self._records[key] for key in sorted(self._by_pod.get(pod_uid, ()))]

    @property
    def pod_uids(self) -> frozenset[str]:
        """Every pod for which a claim is held."""
        return frozenset(self._by_pod)

    def reserve(self, plan: ClaimPlan, pod_uid: str) -> ClaimRecord:
        """Hold a claim for one more pod. From here on it must be released for that pod.

        Raises PreparationFailed while an older claim of the same name, or what this one had before, is on its way out.
        """
        ref = plan.ref
        record = self.find(ref.namespace, ref.name)
        if record is None:
            drivers = {driver: DriverState((), skipped) for driver, skipped in plan.skipped_by_driver.items()}
            record = ClaimRecord(ref, frozenset({pod_uid}), drivers, plan.devices)
        elif record.ref.uid != ref.uid:
            raise PreparationFailed(
                f"old ResourceClaim with same name {ref.name} and different UID {record.ref.uid} still exists "
                "(previous pod force-deleted?!)"
            )
        elif record.is_unpreparing:
            raise PreparationFailed(f"ResourceClaim {ref.name} is being unprepared")
        elif record.allocated not in (None, plan.devices) or record.drivers.keys() != plan.skipped_by_driver.keys():
            raise PreparationFailed(f"ResourceClaim {ref.name} has other devices than are prepared for an earlier pod")
        else:
            record = replace(record, pod_uids=record.pod_uids | {pod_uid}, allocated=plan.devices)
        self._put(record)
        return record

    def note_devices(self, ref: ClaimRef, driver: str, devices: Sequence[ReadyDevice]) -> None:
        """Take down what a driver answered, in place of an earlier answer."""
        record = self._get(ref)
        state = replace(record.drivers[driver], devices=tuple(devices))
        self._put(replace(record, drivers={**record.drivers, driver: state}))

    def note_prepared(self, ref: ClaimRef) -> None:
        """Every driver has answered."""
        self._put(replace(self._get(ref), is_prepared=True))

    def release(self, ref: ClaimRef, pod_uid: str) -> ClaimRecord | None:
        """Hold a claim no longer for a pod. Returns the record if it was the last one: then drivers must be called.

        The record stays, marked, until `forget`: what fails now is done again. A claim that is not held is a no-op.
        """
        record = self.find(ref.namespace, ref.name)
        if record is None or record.ref.uid != ref.uid or pod_uid not in record.pod_uids:
            return None
        if len(record.pod_uids) > 1:
            self._put(replace(record, pod_uids=record.pod_uids - {pod_uid}))
            return None
        record = replace(record, is_unpreparing=True)
        self._put(record)
        return record

    def forget(self, ref: ClaimRef) -> None:
        """Every driver has taken the claim back."""
        record = self.find(ref.namespace, ref.name)
        if record is not None and record.ref.uid == ref.uid:
            self._drop(record)

    def _get(self, ref: ClaimRef) -> ClaimRecord:
        return self._records[ref.namespace, ref.name]

    def _put(self, record: ClaimRecord) -> None:
        key = record.ref.namespace, record.ref.name
        old = self._records.get(key)
        if old is not None:
            self._drop(old)
        self._records[key] = record
        for uid in record.pod_uids:
            self._by_pod.setdefault(uid, set()).add(key)

    def _drop(self, record: ClaimRecord) -> None:
        key = record.ref.namespace, record.ref.name
        del self._records[key]
        for uid in record.pod_uids:
            keys = self._by_pod[uid]
            keys.discard(key)
            if not keys:
                del self._by_pod[uid]


def drivers_to_call(record: ClaimRecord, operation: SkippableNodeOperation) -> list[str]:
    """The drivers of a claim for which an operation is not left out."""
    return [name for name in sorted(record.drivers) if calls_driver(record.drivers[name].skipped, operation)]

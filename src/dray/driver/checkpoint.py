"""What a driver remembers across crashes: which claims are prepared, and which were being prepared or taken back.

An entry is written before a driver touches a device and removed after it gave it back, so that after a crash every
device that may be half prepared is known. `CheckpointFile` keeps entries in one file with a version and a checksum;
`CheckpointMemory` keeps them nowhere, for simulated nodes.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dray.driver.claims import ClaimRef, DeviceKey, Prepared, PreparedClaim, PreparedDevice
from dray.driver.files import FileLock, write_atomically
from dray.effects.clock import Clock
from dray.errors import DrayError

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "CheckpointFile",
    "CheckpointMemory",
    "ClaimRecord",
    "ClaimState",
    "decode_records",
    "encode_records",
    "read_records",
]

_VERSION: Final = "v1"
_TURN_SECONDS: Final = 0.02
"""How often a process that waits for its turn looks: a call of the other lasts longer."""


class CheckpointError(DrayError):
    """The checkpoint cannot be read."""


class ClaimState(StrEnum):
    """How far a claim is. Only READY is answered without asking the driver."""

    PREPARING = "Preparing"
    READY = "Ready"
    RELEASING = "Releasing"


class ClaimRecord(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One claim on this node. `keys` are the devices it was given; `prepared` answers them once the state is READY."""

    claim: ClaimRef
    state: ClaimState
    keys: tuple[DeviceKey, ...]
    admin_keys: tuple[DeviceKey, ...] = ()
    """Those of `keys` that are held for administration, beside whoever else holds them."""
    prepared: Prepared = Prepared()
    boot_id: str = ""
    """Of the machine, when the devices were prepared: a reboot undoes what a driver did."""

    def to_release(self) -> PreparedClaim:
        """What a driver is asked to take back."""
        ref = self.claim
        complete = bool(self.prepared.devices) or not self.keys
        devices = self.prepared.devices if complete else tuple(map(_unfinished, self.keys))
        return PreparedClaim(namespace=ref.namespace, name=ref.name, uid=ref.uid, devices=devices, is_complete=complete)


class Checkpoint(Protocol):
    """The records of one driver on one node. What `put` and `remove` return from is safe from a crash."""

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Hold this around a call that reads and writes records.

        While another process shares the checkpoint (a rolling update), one of them has the turn, and sees what the
        other wrote.
        """
        ...

    def find(self, claim_uid: str) -> ClaimRecord | None:
        """The record of a claim."""
        ...

    def records(self) -> list[ClaimRecord]:
        """All records, by uid."""
        ...

    async def put(self, record: ClaimRecord) -> None:
        """Write a record, in place of the claim's last one."""
        ...

    async def remove(self, claim_uid: str) -> None:
        """Forget a claim; unknown ones are no error."""
        ...


class CheckpointMemory:
    """Records that die with the process."""

    def __init__(self) -> None:
        self._records: dict[str, ClaimRecord] = {}

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Nobody shares it, so nobody waits."""
        return nullcontext()

    def find(self, claim_uid: str) -> ClaimRecord | None:
        """The record of a claim."""
        return self._records.get(claim_uid)

    def records(self) -> list[ClaimRecord]:
        """All records, by uid."""
        return [self._records[uid] for uid in sorted(self._records)]

    async def put(self, record: ClaimRecord) -> None:
        """Keep a record."""
        self._records[record.claim.uid] = record

    async def remove(self, claim_uid: str) -> None:
        """Forget a claim."""
        self._records.pop(claim_uid, None)


class CheckpointFile:
    """Records in a file that is replaced as a whole with every change; changes that come together share one write.

    The lock keeps other processes out: for good where there is one instance of the driver, turn by turn where a rolling
    update (`is_shared`) runs two.
    """

    def __init__(self, file: Path, lock: FileLock, clock: Clock, *, is_shared: bool) -> None:
        self._file = file
        self._lock = lock
        self._clock = clock
        self._is_shared = is_shared
        self._records: dict[str, ClaimRecord] = {}
        self._changes = 0
        self._changes_written = 0
        self._writing = asyncio.Lock()  # one write at a time; guards the file
        self._turns = asyncio.Lock()  # one turn of this process at a time, where the file is shared

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None, None]:
        """Read the file, and keep others from it. Raises CheckpointError."""
        if self._is_shared:
            async with self.turn():
                pass
            yield
            return
        if not self._lock.try_take():
            hint = "stop it, or give both a POD_UID so that they take turns"
            raise CheckpointError(f"another process uses {self._file.parent}; {hint}")
        try:
            self._records = read_records(self._file)
            yield
        finally:
            self._lock.release()

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None, None]:
        """Wait for the other process, if there may be one."""
        if not self._is_shared:
            yield
            return
        async with self._turns:
            while not self._lock.try_take():
                await self._clock.sleep(_TURN_SECONDS)
            try:
                self._records = read_records(self._file)
                yield
            finally:
                self._lock.release()

    def find(self, claim_uid: str) -> ClaimRecord | None:
        """The record of a claim."""
        return self._records.get(claim_uid)

    def records(self) -> list[ClaimRecord]:
        """All records, by uid."""
        return [self._records[uid] for uid in sorted(self._records)]

    async def put(self, record: ClaimRecord) -> None:
        """Write a record; returns once it is on disk."""
        self._records[record.claim.uid] = record
        await self._save()

    async def remove(self, claim_uid: str) -> None:
        """Forget a claim; returns once that is on disk."""
        if self._records.pop(claim_uid, None) is not None:
            await self._save()

    async def _save(self) -> None:
        self._changes += 1
        mine = self._changes
        async with self._writing:
            if self._changes_written >= mine:
                return
            state, text = self._changes, encode_records(self.records())
            await asyncio.to_thread(write_atomically, self._file, text, mode=0o600)
            self._changes_written = state


class _Envelope(Struct, frozen=True):
    """The file: what is in it, and whether it is whole."""

    version: str
    checksum: str
    claims: msgspec.Raw


def encode_records(records: Sequence[ClaimRecord]) -> bytes:
    """Write a checkpoint's text."""
    claims = msgspec.json.encode([_without_reports(each) for each in records], enc_hook=str)
    return msgspec.json.encode(_Envelope(_VERSION, _checksum(claims), msgspec.Raw(claims))) + b"\n"


def decode_records(text: bytes) -> list[ClaimRecord]:
    """Read a checkpoint's text. Fields of later editions are passed over. Raises CheckpointError."""
    try:
        envelope = msgspec.json.decode(text, type=_Envelope)
    except msgspec.DecodeError as fault:
        raise CheckpointError(f"not a checkpoint: {fault}") from fault
    if envelope.version != _VERSION:
        raise CheckpointError(f"its version is {envelope.version!r}, and this driver understands {_VERSION!r}")
    if envelope.checksum != _checksum(bytes(envelope.claims)):
        raise CheckpointError("its checksum is wrong")
    try:
        return msgspec.json.decode(envelope.claims, type=list[ClaimRecord])
    except msgspec.DecodeError as fault:
        raise CheckpointError(f"its claims cannot be read: {fault}") from fault


def read_records(file: Path) -> dict[str, ClaimRecord]:
    """Read a checkpoint; none means that nothing is prepared. Raises CheckpointError."""
    try:
        records = decode_records(file.read_bytes())
    except FileNotFoundError:
        return {}
    except CheckpointError as fault:
        hint = "if no pod on this node uses devices of the driver, delete the file"
        raise CheckpointError(f"checkpoint {file}: {fault}; {hint}") from fault
    return {record.claim.uid: record for record in records}


def _checksum(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _unfinished(key: DeviceKey) -> PreparedDevice:
    return PreparedDevice(key=key)


def _without_reports(record: ClaimRecord) -> ClaimRecord:
    """Reports stand in the claim's status, once written."""
    devices = tuple(replace(each, report=None) if each.report else each for each in record.prepared.devices)
    return replace(record, prepared=replace(record.prepared, devices=devices))

"""The checkpoint of prepared claims as text: the file `dra_manager_state` of a kubelet, to the byte.

One JSON object holds another as text, and its checksum, so that a file that was cut short or changed by hand is
noticed.
"""

import zlib
from collections.abc import Mapping

import msgspec
from msgspec import Struct, field

from dray.driver.claims import ClaimRef
from dray.errors import DrayError
from dray.node.core.prepared_claims import ClaimRecord, DriverState, PreparedClaims, ReadyDevice

__all__ = ["CheckpointCorrupt", "Recalled", "decode_checkpoint", "encode_checkpoint"]

_KIND = "DRACheckpoint"
_VERSION = "checkpoint.dra.kubelet.k8s.io/v1"


class CheckpointCorrupt(DrayError):
    """The file cannot be trusted. Drain the node, delete the file, and start again."""


class _Envelope(Struct):
    data: str = field(name="Data")
    checksum: int = field(name="Checksum")


class _Device(Struct, rename="pascal"):
    pool_name: str = ""
    device_name: str = ""
    share_id: str | None = field(default=None, name="ShareID")
    request_names: tuple[str, ...] | None = None
    cdi_device_ids: tuple[str, ...] | None = field(default=None, name="CDIDeviceIDs")


class _Driver(Struct):
    devices: tuple[_Device, ...] | None = field(default=None, name="Devices")
    skipped: tuple[str, ...] | msgspec.UnsetType = field(default=msgspec.UNSET, name="skipNodeOperations")


class _Claim(Struct, rename="pascal"):
    claim_uid: str = field(default="", name="ClaimUID")
    claim_name: str = ""
    namespace: str = ""
    pod_uids: Mapping[str, Mapping[str, str]] | None = field(default=None, name="PodUIDs")
    driver_state: Mapping[str, _Driver] | None = None


class _Checkpoint(Struct):
    kind: str = _KIND
    api_version: str = field(default=_VERSION, name="apiVersion")
    claims: tuple[_Claim, ...] | None = field(default=None, name="ClaimInfoStateList")
    generation: int | msgspec.UnsetType = field(default=msgspec.UNSET, name="Generation")
    """Ours alone: which of two files is the later one."""


class Recalled(Struct, frozen=True):
    """What a checkpoint says."""

    claims: PreparedClaims
    generation: int


def encode_checkpoint(claims: PreparedClaims, generation: int = 0) -> bytes:
    """The whole file. The generation is written unless it is 0."""
    listed = tuple(map(_from_record, claims.select()))
    text = msgspec.json.encode(_Checkpoint(claims=listed or None, generation=generation or msgspec.UNSET))
    return msgspec.json.encode(_Envelope(text.decode(), zlib.crc32(text)))


def decode_checkpoint(text: bytes) -> Recalled:
    """The inverse. Raises CheckpointCorrupt for what was not written in one piece by an agent.

    Fields that are unknown or missing, and other versions of the inner text, are taken: an agent may be older or newer
    than the file.
    """
    try:
        envelope = msgspec.json.decode(text, type=_Envelope)
        if zlib.crc32(envelope.data.encode()) != envelope.checksum:
            raise CheckpointCorrupt("checkpoint is corrupted")
        checkpoint = msgspec.json.decode(envelope.data, type=_Checkpoint)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise CheckpointCorrupt(f"checkpoint is not readable: {fault}") from fault
    generation = 0 if checkpoint.generation is msgspec.UNSET else checkpoint.generation
    return Recalled(PreparedClaims(map(_to_record, checkpoint.claims or ())), generation)


def _from_record(record: ClaimRecord) -> _Claim:
    ref = record.ref
    drivers = {name: _from_driver(record.drivers[name]) for name in sorted(record.drivers)}
    return _Claim(ref.uid, ref.name, ref.namespace, {uid: {} for uid in sorted(record.pod_uids)}, drivers)


def _from_driver(state: DriverState) -> _Driver:
    devices = tuple(
        _Device(each.pool, each.device, each.share_id, each.requests or None, each.cdi_ids or None)
        for each in state.devices
    )
    return _Driver(devices or None, state.skipped or msgspec.UNSET)


def _to_record(claim: _Claim) -> ClaimRecord:
    ref = ClaimRef(namespace=claim.namespace, name=claim.claim_name, uid=claim.claim_uid)
    drivers = {name: _to_driver(each) for name, each in (claim.driver_state or {}).items()}
    return ClaimRecord(ref, frozenset(claim.pod_uids or ()), drivers)


def _to_driver(driver: _Driver) -> DriverState:
    devices = tuple(
        ReadyDevice(
            each.pool_name, each.device_name, each.request_names or (), each.cdi_device_ids or (), each.share_id
        )
        for each in driver.devices or ()
    )
    return DriverState(devices, () if driver.skipped is msgspec.UNSET else driver.skipped)

"""The file of a kubelet, to the byte."""

import json
import zlib

import pytest

from dray.driver.claims import ClaimRef
from dray.node.core.checkpoint import CheckpointCorrupt, decode_checkpoint, encode_checkpoint
from dray.node.core.prepared_claims import ClaimRecord, DriverState, PreparedClaims, ReadyDevice

EMPTY = (
    b'{"Data":"{\\"kind\\":\\"DRACheckpoint\\",\\"apiVersion\\":\\"checkpoint.dra.kubelet.k8s.io/v1\\",'
    b'\\"ClaimInfoStateList\\":null}","Checksum":4010664294}'
)


def make_claims() -> PreparedClaims:
    device = ReadyDevice("n1", "gpu-0", ("gpu",), ("k8s.gpu.example.com/gpu=u1-gpu-0",))
    ref = ClaimRef(namespace="ns1", name="c1", uid="u1")
    record = ClaimRecord(ref, frozenset({"p1"}), {"gpu.example.com": DriverState((device,))}, is_prepared=True)
    return PreparedClaims([record])


def test_an_empty_checkpoint_is_that_of_a_kubelet() -> None:
    assert encode_checkpoint(PreparedClaims()) == EMPTY
    assert decode_checkpoint(EMPTY).claims.select() == []


def test_a_claim_is_written_as_a_kubelet_writes_it() -> None:
    written = json.loads(encode_checkpoint(make_claims()))
    assert written["Checksum"] == 3092294687
    assert written["Data"] == (
        '{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","ClaimInfoStateList":[{"ClaimUID":"u1",'
        '"ClaimName":"c1","Namespace":"ns1","PodUIDs":{"p1":{}},"DriverState":{"gpu.example.com":{"Devices":[{"PoolName":'
        '"n1","DeviceName":"gpu-0","ShareID":null,"RequestNames":["gpu"],"CDIDeviceIDs":'
        '["k8s.gpu.example.com/gpu=u1-gpu-0"]}]}}}]}'
    )


def test_what_was_written_is_read_and_counts_as_not_prepared() -> None:
    """Drivers are asked again: nobody knows what became of their devices since."""
    read = decode_checkpoint(encode_checkpoint(make_claims(), 7))
    assert read.generation == 7
    (record,) = read.claims.select()
    (written,) = make_claims().select()
    assert (record.ref, record.pod_uids, record.drivers) == (written.ref, written.pod_uids, written.drivers)
    assert (record.is_prepared, record.is_unpreparing) == (False, False)


def test_calls_to_leave_out_are_kept() -> None:
    ref = ClaimRef(namespace="ns1", name="c1", uid="u1")
    record = ClaimRecord(ref, frozenset({"p1"}), {"a.example.com": DriverState((), ("*",))})
    text = encode_checkpoint(PreparedClaims([record]))
    assert b'\\"a.example.com\\":{\\"Devices\\":null,\\"skipNodeOperations\\":[\\"*\\"]}' in text
    assert decode_checkpoint(text).claims.select() == [record]


def envelope(data: str) -> bytes:
    return json.dumps({"Data": data, "Checksum": zlib.crc32(data.encode())}).encode()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        EMPTY.replace(b"4010664294", b"4010664295"),
        EMPTY.replace(b"v1", b"v2"),
        envelope("{"),
        envelope('{"ClaimInfoStateList":1}'),
    ],
)
def test_what_no_agent_wrote_in_one_piece_is_refused(text: bytes) -> None:
    with pytest.raises(CheckpointCorrupt):
        decode_checkpoint(text)


@pytest.mark.parametrize(
    "data",
    [
        '{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v2","ClaimInfoStateList":null,"New":[1]}',
        '{"ClaimInfoStateList":[]}',
        "{}",
    ],
)
def test_older_and_newer_editions_are_read(data: str) -> None:
    assert decode_checkpoint(envelope(data)).claims.select() == []

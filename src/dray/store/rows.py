"""Changes and records as rows of the table `states`, each under a checksum."""

import sys
import zlib
from typing import Final

import msgspec

from dray.store.opening import StoreCorrupted
from dray.store.port import Change, IndexValue, Key, Record

__all__ = ["COLUMNS", "Row", "StoredState", "decode_row", "encode_row"]

COLUMNS: Final = ("since", "previous", "resource", "namespace", "name", "stamp_at", "indexed", "body", "checksum")

Row = tuple[int, int, str, str, str, int | None, str | None, bytes | None, int]
"""One row, in the order of `COLUMNS`."""

_Unsealed = tuple[int, int, str, str, str, int | None, str | None, bytes | None]
"""A row but for its checksum."""

_INDEX: Final = msgspec.json.Decoder(tuple[IndexValue, ...])


class StoredState(msgspec.Struct, frozen=True, gc=False):
    """What a row says: after the change `revision`, which replaced `previous` (0 for nothing), the object was this."""

    revision: int
    previous: int
    key: Key
    record: Record | None


def encode_row(change: Change) -> Row:
    """The row of a change."""
    previous = 0 if change.previous is None else change.previous.revision
    record = change.record
    row: _Unsealed
    if record is None:
        row = (change.revision, previous, *change.key, None, None, None)
    else:
        indexed = msgspec.json.encode(record.index).decode() if record.index else None
        row = (change.revision, previous, *change.key, record.stamp_at, indexed, record.body)
    return (*row, _checksum(row))


def decode_row(row: Row) -> StoredState:
    """What `encode_row` wrote; `StoreCorrupted` if any column is not as it was written."""
    revision, previous, resource, namespace, name, stamp_at, indexed, body, checksum = row
    # Thousands of keys share these two texts.
    key = Key(sys.intern(resource), sys.intern(namespace), name)
    if checksum != _checksum(row[:-1]):
        raise StoreCorrupted(f"the stored state of {key} at revision {revision} is damaged; restore a backup")
    if body is None:
        return StoredState(revision, previous, key, None)
    index = () if indexed is None else _INDEX.decode(indexed)
    return StoredState(revision, previous, key, Record(key, revision, body, stamp_at, index))


def _checksum(row: _Unsealed) -> int:
    # NUL is in no name, so that no two rows have the same text.
    body = row[7]
    head = "\0".join(map(str, row[:7]))
    return zlib.crc32(body or b"", zlib.crc32(f"{head}\0{body is None}".encode()))

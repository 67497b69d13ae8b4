import msgspec
import pytest

from dray.api.resource.checks.config import check_raw_json
from dray.errors import FieldReason
from dray.values.fieldpath import SPEC


@pytest.mark.parametrize("text", [b"{}", b' {"a": [1, null]}', b'{"a":' + b'"' + b"x" * 10230 + b'"}'])
def test_object_is_sound(text: bytes) -> None:
    assert check_raw_json(msgspec.Raw(text), SPEC) == []


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (b"", FieldReason.REQUIRED),
        (b"null", FieldReason.REQUIRED),
        (b"{", FieldReason.INVALID),
        (b"foo", FieldReason.INVALID),
        (b'"text"', FieldReason.INVALID),
        (b"[]", FieldReason.INVALID),
        (b" " * 10240 + b"{}", FieldReason.TOO_LONG),
    ],
)
def test_other_json_is_refused(text: bytes, want: FieldReason) -> None:
    assert [fault.reason for fault in check_raw_json(msgspec.Raw(text), SPEC)] == [want]


def test_stored_json_may_be_long_but_not_broken() -> None:
    assert check_raw_json(msgspec.Raw(b" " * 10240 + b"{}"), SPEC, is_stored=True) == []
    faults = check_raw_json(msgspec.Raw(b" " * 10240 + b"["), SPEC, is_stored=True)
    assert [fault.reason for fault in faults] == [FieldReason.INVALID]

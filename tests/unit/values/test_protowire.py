import pytest

from dray.values.protowire import (
    WireError,
    WireField,
    WireType,
    read_fields,
    read_varints,
    to_int32,
    to_int64,
    write_field,
)


def test_fields_of_every_wire_type_are_read_in_order() -> None:
    encoded = bytes.fromhex("089601 1202 6869 19 0100000000000000 25 ffffffff 0a00")
    assert list(read_fields(encoded)) == [
        WireField(1, WireType.VARINT, 150),
        WireField(2, WireType.BYTES, b"hi"),
        WireField(3, WireType.FIXED64, 1),
        WireField(4, WireType.FIXED32, 0xFFFF_FFFF),
        WireField(1, WireType.BYTES, b""),
    ]


def test_groups_are_skipped_with_all_they_hold() -> None:
    encoded = bytes.fromhex("0b 1001 13 1203616263 14 0c 1007")
    assert list(read_fields(encoded)) == [WireField(2, WireType.VARINT, 7)]


@pytest.mark.parametrize(
    ("encoded", "want"),
    [
        ("08", "unexpected EOF"),
        ("0880", "unexpected EOF"),
        ("0a05616263", "unexpected EOF"),
        ("0901", "unexpected EOF"),
        ("0b", "unexpected EOF"),
        ("08ffffffffffffffffffff01", "proto: integer overflow"),
        ("0affffffffffffffffff01", "proto: negative length found during unmarshaling"),
        ("0aff ffff ffff ffff ff7f", "unexpected EOF"),
        ("0c", "proto: unexpected end of group"),
        ("0f", "proto: illegal wireType 7"),
        ("00", "proto: illegal tag 0 (wire type 0)"),
    ],
)
def test_nonsense_is_refused_in_the_words_of_kubernetes(encoded: str, want: str) -> None:
    with pytest.raises(WireError) as refusal:
        list(read_fields(bytes.fromhex(encoded)))
    assert str(refusal.value) == want


def test_a_million_open_groups_cost_no_stack() -> None:
    with pytest.raises(WireError):
        list(read_fields(b"\x0b" * 1_000_000))


def test_numbers_are_signed_in_their_width() -> None:
    minus_one = 2**64 - 1
    assert (to_int64(minus_one), to_int32(minus_one), to_int64(5), to_int32(5)) == (-1, -1, 5, 5)
    assert to_int32(2**31) == -(2**31)


def test_packed_numbers_are_read_one_by_one() -> None:
    assert list(read_varints(bytes.fromhex("01 9601 00"))) == [1, 150, 0]


@pytest.mark.parametrize("size", [0, 1, 127, 128, 20_000])
def test_what_is_written_is_read(size: int) -> None:
    encoded = write_field(1, "a" * size) + write_field(2_000, b"\xff")
    assert list(read_fields(encoded)) == [
        WireField(1, WireType.BYTES, b"a" * size),
        WireField(2_000, WireType.BYTES, b"\xff"),
    ]

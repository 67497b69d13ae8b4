from typing import Any

import pytest

from dray.merge.ownership import (
    APPLY,
    UPDATE,
    Owned,
    Owner,
    Ownership,
    OwnershipFault,
    decode_ownership,
    encode_ownership,
    fold_oldest_updates,
    is_reset,
)

ENTRY: dict[str, Any] = {
    "manager": "m",
    "operation": "Update",
    "apiVersion": "v1",
    "time": "2026-01-01T00:00:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:spec": {}},
    "subresource": "status",
}


def test_entry_is_read_and_written_alike() -> None:
    owners = decode_ownership([ENTRY])
    assert owners == {Owner("m", UPDATE, "v1", "status"): Owned(frozenset({("f:spec",)}), "v1", "2026-01-01T00:00:00Z")}
    assert encode_ownership(owners) == [ENTRY]


def test_applier_is_one_owner_in_all_versions() -> None:
    (owner,) = decode_ownership([ENTRY | {"operation": "Apply"}])
    assert owner == Owner("m", APPLY, "", "status")


@pytest.mark.parametrize(
    ("change", "want"),
    [
        ({"operation": "Zap"}, "operation must be `Apply` or `Update`"),
        ({"apiVersion": ""}, "apiVersion must not be empty"),
        ({"fieldsType": ""}, "missing fieldsType in managed fields entry 1"),
        ({"fieldsType": "V2"}, 'invalid fieldsType "V2" in managed fields entry 1'),
        ({"fieldsV1": {"spec": {}}}, "error decoding set: parsing key as path element: missing colon: spec"),
    ],
)
def test_entry_that_cannot_be_is_refused(change: dict[str, Any], want: str) -> None:
    with pytest.raises(OwnershipFault) as caught:
        decode_ownership([ENTRY, ENTRY | change])
    assert str(caught.value) == want


def test_anything_but_objects_is_refused() -> None:
    with pytest.raises(OwnershipFault):
        decode_ownership(["x"])


@pytest.mark.parametrize(("entries", "want"), [([], True), ([{}], True), (None, False), ([{}, {}], False)])
def test_reset_is_an_empty_list_or_one_empty_entry(entries: Any, want: bool) -> None:
    assert is_reset(entries) is want


def test_appliers_come_first_then_time_then_name() -> None:
    def owned(time: str | None) -> Owned:
        return Owned(frozenset({("f:spec",)}), "v1", time)

    owners: Ownership = {
        Owner("b", UPDATE, "v1"): owned("2026-01-01T00:00:01Z"),
        Owner("a", UPDATE, "v1"): owned("2026-01-01T00:00:02Z"),
        Owner("z", APPLY): owned("2026-01-01T00:00:00Z"),
        Owner("y", APPLY): owned("2026-01-01T00:00:00Z"),
        Owner("c", APPLY): owned("2026-01-01T00:00:03Z"),
        Owner("never", APPLY): owned(None),
        Owner("odd", APPLY): owned("once"),
    }
    assert [entry["manager"] for entry in encode_ownership(owners)] == ["never", "odd", "y", "z", "c", "b", "a"]


def test_owners_print_as_in_conflicts() -> None:
    assert str(Owner("m", APPLY)) == '"m"'
    assert str(Owner("m", APPLY, "", "status")) == '"m" with subresource "status"'
    assert str(Owner("m", UPDATE, "v1", "status")) == '"m" with subresource "status" using v1'


def updaters(count: int, version: str = "v1") -> Ownership:
    return {
        Owner(f"u{number:02}", UPDATE, version): Owned(
            frozenset({(f"f:{number}",)}), version, f"2026-01-01T00:00:{number:02}Z"
        )
        for number in range(count)
    }


def test_ten_updaters_stay() -> None:
    assert fold_oldest_updates(updaters(10)) == updaters(10)


def test_oldest_updaters_become_one() -> None:
    folded = fold_oldest_updates(updaters(12))
    bucket = Owner("ancient-changes", UPDATE, "v1")
    assert folded[bucket] == Owned(frozenset({("f:0",), ("f:1",), ("f:2",)}), "v1", "2026-01-01T00:00:02Z")
    assert len(folded) == 10


def test_versions_are_folded_apart() -> None:
    folded = fold_oldest_updates(updaters(6) | updaters(6, "v2"))
    assert len(folded) == 10
    assert {owner.api_version for owner in folded if owner.manager == "ancient-changes"} == {"v1", "v2"}


def test_what_was_folded_before_takes_more() -> None:
    folded = fold_oldest_updates(updaters(12))
    later = Owner("late", UPDATE, "v1")
    folded[later] = Owned(frozenset({("f:late",)}), "v1", "2026-01-01T00:01:00Z")
    again = fold_oldest_updates(folded)
    assert len(again) == 10
    assert again[Owner("ancient-changes", UPDATE, "v1")].fields == {("f:0",), ("f:1",), ("f:2",), ("f:3",)}


def test_bucket_that_is_not_the_oldest_loses_nothing() -> None:
    owners = updaters(10)
    bucket = Owner("ancient-changes", UPDATE, "v1")
    owners[bucket] = Owned(frozenset({("f:old",)}), "v1", "2026-01-01T00:00:05Z")
    folded = fold_oldest_updates(owners)
    assert len(folded) <= 10
    assert frozenset().union(*(each.fields for each in folded.values())) == frozenset().union(
        *(each.fields for each in owners.values())
    )


def test_appliers_do_not_count() -> None:
    owners = updaters(10) | {Owner("a", APPLY): Owned(frozenset({("f:a",)}), "v1")}
    assert fold_oldest_updates(owners) == owners

"""The quick ways to work out owners come to the same as the plain one."""

from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.meta import ApiObject, ObjectMeta, OwnerReference
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.resource.slice import ResourceSlice
from dray.merge.apply import Writer, track
from dray.server.endpoints import Endpoint, get_form
from dray.server.ownedupdates import find_differences, own_differences
from dray.server.ownership import get_scope, own_creation, read_json
from dray.values.times import Time
from tests.properties.strategies_resource import claims, slices

CLAIMS = Endpoint(RESOURCE_CLAIM, "v1", get_form(RESOURCE_CLAIM))
NAMES = st.sampled_from(["a", "b"])
UIDS = st.sampled_from(["uid-1", "uid-2", "uid-3"])
OWNERS = st.lists(UIDS, max_size=2, unique=True).map(
    lambda uids: tuple(OwnerReference(api_version="v1", kind="Pod", name=uid, uid=uid) for uid in uids)
)
METADATA = st.builds(
    ObjectMeta,
    name=st.just("c"),
    namespace=st.just("default"),
    labels=st.dictionaries(NAMES, NAMES, max_size=2),
    finalizers=st.lists(NAMES, max_size=2, unique=True).map(tuple),
    owner_references=OWNERS,
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["one", "two", ""]), st.sampled_from(["", "status"]), METADATA, claims, st.booleans()),
    max_size=5,
)


def plainly(old: Any, new: Any, subresource: str, writer: Writer) -> Any:
    """The same by way of plain values."""
    scope = get_scope(CLAIMS, subresource)
    tracked = track(scope, read_json(CLAIMS.encode(old)), read_json(CLAIMS.encode(new)), writer)
    return CLAIMS.codec.decode(msgspec.json.encode(tracked))


def owners(thing: ApiObject) -> list[tuple[object, ...]]:
    """Entries with their texts, because a Raw is compared by where it is."""
    return [
        (each.manager, each.operation, each.api_version, each.time, each.subresource, bytes(each.fields_v1))
        for each in thing.metadata.managed_fields
    ]


@given(METADATA, claims, STEPS)
def test_updates_have_the_owners_that_a_comparison_of_everything_finds(
    metadata: ObjectMeta, drawn: ResourceClaim, steps: Sequence[tuple[str, str, ObjectMeta, ResourceClaim, bool]]
) -> None:
    stored: Any = own_creation(CLAIMS, replace(drawn, metadata=metadata), "creator", Time(0))
    for second, (manager, subresource, metadata_then, claim, keeps_spec) in enumerate(steps, 1):
        writer = Writer(manager, str(Time(second // 2)))
        meta = replace(metadata_then, managed_fields=stored.metadata.managed_fields)
        new = replace(claim, metadata=meta, spec=stored.spec if keeps_spec else claim.spec)
        quickly = own_differences(CLAIMS, get_scope(CLAIMS, subresource), stored, new, writer)
        want = plainly(stored, new, subresource, writer)
        if quickly is not None:
            assert owners(quickly) == owners(want)
        stored = want


@given(METADATA, claims)
def test_creations_have_the_owner_that_a_comparison_with_nothing_finds(
    metadata: ObjectMeta, drawn: ResourceClaim
) -> None:
    thing = replace(drawn, metadata=metadata)
    tracked = track(get_scope(CLAIMS), None, read_json(CLAIMS.encode(thing)), Writer("one", str(Time(0))))
    for _ in range(2):  # the second time from memory
        assert owners(own_creation(CLAIMS, thing, "one", Time(0))) == owners(
            CLAIMS.codec.decode(msgspec.json.encode(tracked))
        )


@given(slices, slices)
def test_differences_are_what_differs(one: ResourceSlice, other: ResourceSlice) -> None:
    assert find_differences(one, one) is None
    found = find_differences(one, other)
    assert (found is None) == (one == other)
    if found is not None:
        old, new = found
        assert old != new
        for name in ResourceSlice.__struct_fields__:
            if getattr(one, name) == getattr(other, name):
                assert getattr(old, name) == getattr(new, name)

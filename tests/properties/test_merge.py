"""Laws of field sets, patches and server-side apply, on objects of one made-up type that has every kind of field."""

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from dray.merge.apply import Writer, apply, track
from dray.merge.comparing import compare
from dray.merge.elements import Path, field_step, key_step, value_step
from dray.merge.faults import ApplyConflict
from dray.merge.fieldsets import decode_fields, encode_fields
from dray.merge.jsonpatch import JsonPatch, apply_json_patch
from dray.merge.mergepatch import apply_merge_patch, create_merge_patch
from dray.merge.ownership import MAX_UPDATE_ENTRIES, UPDATE, Ownership, decode_ownership, encode_ownership
from dray.merge.schema import (
    ANYTHING,
    NUMBER,
    TEXT,
    Field,
    ListSchema,
    ListType,
    ObjectSchema,
    PatchStrategy,
    Schema,
)
from dray.merge.scopes import WriteScope
from dray.merge.strategic import apply_strategic_patch
from dray.merge.typed import add_parents, collect_fields, is_same, list_steps, resolve

Json = dict[str, Any]

PORT = ObjectSchema({"port": Field(NUMBER), "protocol": Field(TEXT, default="TCP"), "note": Field(TEXT)})
ITEM = ObjectSchema({"name": Field(TEXT), "size": Field(NUMBER), "tags": Field(ListSchema(TEXT, ListType.SET))})
SPEC = ObjectSchema(
    {
        "replicas": Field(NUMBER),
        "mode": Field(TEXT),
        "items": Field(ListSchema(ITEM, ListType.MAP, ("name",)), patch=PatchStrategy.MERGE, merge_key="name"),
        "ports": Field(ListSchema(PORT, ListType.MAP, ("port", "protocol"))),
        "tags": Field(ListSchema(TEXT, ListType.SET), patch=PatchStrategy.MERGE),
        "args": Field(ListSchema(TEXT)),
        "selector": Field(ObjectSchema(element=TEXT, is_atomic=True)),
        "labels": Field(ObjectSchema(element=TEXT)),
        "free": Field(ObjectSchema(element=ANYTHING, name="RawExtension")),
    }
)
SCHEMA = ObjectSchema(
    {
        "apiVersion": Field(TEXT),
        "kind": Field(TEXT),
        "metadata": Field(ObjectSchema({"name": Field(TEXT), "labels": Field(ObjectSchema(element=TEXT))})),
        "spec": Field(SPEC),
    }
)
TYPE = {"apiVersion": "v1", "kind": "Thing"}
SCOPE = WriteScope(
    kind="Thing",
    api_version="v1",
    schemas={"v1": SCHEMA},
    convert=lambda value, api_version: value,
    empty={**TYPE, "metadata": {}, "spec": {}},
)

WORDS = st.sampled_from(["a", "b", "c", "d"])
NUMBERS = st.integers(0, 3)
SETS = st.lists(WORDS, unique=True, min_size=1, max_size=4)
MAPS = st.dictionaries(WORDS, WORDS, min_size=1, max_size=3)


def objects(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional=members)


def keyed(strategy: st.SearchStrategy[Json], *keys: str) -> st.SearchStrategy[list[Json]]:
    return st.lists(strategy, min_size=1, max_size=4, unique_by=lambda each: tuple(each[key] for key in keys))


ITEMS = keyed(st.fixed_dictionaries({"name": WORDS}, optional={"size": NUMBERS, "tags": SETS}), "name")
PORTS = keyed(
    st.fixed_dictionaries({"port": NUMBERS, "protocol": st.sampled_from(["TCP", "UDP"])}, optional={"note": WORDS}),
    "port",
    "protocol",
)
SPECS = objects(
    replicas=NUMBERS,
    mode=WORDS,
    items=ITEMS,
    ports=PORTS,
    tags=SETS,
    args=st.lists(WORDS, max_size=3),
    selector=MAPS,
    labels=MAPS,
    free=st.dictionaries(WORDS, st.one_of(NUMBERS, WORDS, MAPS, st.lists(NUMBERS, max_size=2)), min_size=1, max_size=3),
)


# Patches refuse to merge within raw JSON, as the API server does.
PLAIN_SPECS = SPECS.map(lambda spec: {name: each for name, each in spec.items() if name != "free"})


def thing(spec: Json) -> Json:
    return {**TYPE, "metadata": {"name": "t"}, "spec": spec}


# Storing drops what is empty, so nothing is; and who applies owns something, else nobody is remembered.
CONFIGS = st.tuples(SPECS, WORDS).map(lambda drawn: thing({**drawn[0], "mode": drawn[1]}))
MANAGERS = st.sampled_from(["m1", "m2", "m3"])
JSON = st.recursive(
    st.one_of(st.booleans(), NUMBERS, WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(WORDS, JSON, max_size=4)
PATCHES = st.dictionaries(
    WORDS,
    st.recursive(
        st.one_of(st.none(), NUMBERS, WORDS), lambda inner: st.dictionaries(WORDS, inner, max_size=3), max_leaves=6
    ),
    max_size=4,
)
STEPS = st.one_of(
    st.text(max_size=5).map(field_step),
    st.dictionaries(WORDS, st.one_of(NUMBERS, st.text(max_size=4), st.booleans()), min_size=1, max_size=2).map(
        key_step
    ),
    st.one_of(NUMBERS, st.text(max_size=4), st.booleans(), st.none()).map(value_step),
    NUMBERS.map("i:{}".format),
)
FIELDS = st.frozensets(st.lists(STEPS, min_size=1, max_size=4).map(tuple), max_size=10)


def do_apply(live: Json | None, config: Json, writer: Writer, *, force: bool = False) -> Json:
    return apply(SCOPE, live, config, writer, force=force)


def owners_of(live: Json) -> Ownership:
    return decode_ownership(live["metadata"].get("managedFields"))


def tidy(schema: Schema, value: Any) -> Any:
    """The value without empty parts, its lists in the order of their items' identities.

    An object whose last field was taken out is null: storing drops it or makes it empty again.
    """
    schema = resolve(schema, value)
    if isinstance(schema, ObjectSchema) and isinstance(value, dict):
        parts = {name: tidy(schema.schema_of(name), each) for name, each in sorted(value.items())}
        return {name: each for name, each in parts.items() if each not in ({}, [], None)}
    if isinstance(schema, ListSchema) and schema.type is not ListType.ATOMIC:
        pairs = sorted(zip(list_steps(schema, value), value, strict=True), key=lambda pair: pair[0])
        return [tidy(schema.item, item) for _, item in pairs]
    return value


def bare(live: Json) -> Json:
    return {**live, "metadata": {"name": "t"}}


def all_paths(live: Json) -> frozenset[Path]:
    return compare(SCHEMA, {}, bare(live)).added


def assert_holds(config: Json, live: Json) -> None:
    """Everything the configuration says is so."""
    difference = compare(SCHEMA, tidy(SCHEMA, config), tidy(SCHEMA, bare(live)))
    assert not difference.modified
    assert not difference.removed


@given(FIELDS)
def test_decoding_undoes_encoding(fields: frozenset[Path]) -> None:
    assert decode_fields(encode_fields(fields)) == fields


@given(CONFIGS, MANAGERS)
def test_entries_survive_the_trip(config: Json, manager: str) -> None:
    entries = do_apply(None, config, Writer(manager, "2026-01-01T00:00:00Z"))["metadata"].get("managedFields", [])
    assert encode_ownership(decode_ownership(entries)) == entries


@given(CONFIGS, CONFIGS)
def test_nothing_differs_from_itself_and_changes_mirror(one: Json, other: Json) -> None:
    assert compare(SCHEMA, one, one).changed == frozenset()
    there, back = compare(SCHEMA, one, other), compare(SCHEMA, other, one)
    assert (there.added, there.modified, there.removed) == (back.removed, back.modified, back.added)


@given(st.lists(st.tuples(MANAGERS, CONFIGS), min_size=1, max_size=4))
def test_what_was_applied_last_holds(writes: list[tuple[str, Json]]) -> None:
    live: Json | None = None
    for second, (manager, config) in enumerate(writes):
        live = do_apply(live, config, Writer(manager, f"2026-01-01T00:00:0{second}Z"), force=True)
        assert_holds(config, live)
        again = do_apply(live, config, Writer(manager, "2026-01-01T00:01:00Z"))
        assert again == live


@given(CONFIGS, CONFIGS)
def test_own_fields_go_when_no_longer_applied(before: Json, after: Json) -> None:
    live = do_apply(None, before, Writer("m1", "2026-01-01T00:00:00Z"))
    live = do_apply(live, after, Writer("m1", "2026-01-01T00:00:01Z"))
    assert tidy(SCHEMA, bare(live)) == tidy(SCHEMA, after)


@given(CONFIGS, CONFIGS, CONFIGS)
def test_no_field_is_lost_that_another_applies(mine: Json, theirs: Json, later: Json) -> None:
    live = do_apply(None, mine, Writer("m1", "2026-01-01T00:00:00Z"))
    live = do_apply(live, theirs, Writer("m2", "2026-01-01T00:00:01Z"), force=True)
    kept = owners_of(live)
    try:
        live = do_apply(live, later, Writer("m1", "2026-01-01T00:00:02Z"))
    except ApplyConflict:
        return
    assert_holds(theirs, live)
    assert {owner: owned for owner, owned in owners_of(live).items() if owner.manager == "m2"} == {
        owner: owned for owner, owned in kept.items() if owner.manager == "m2"
    }


@given(CONFIGS, CONFIGS, CONFIGS)
def test_conflict_names_only_fields_that_differ(mine: Json, theirs: Json, later: Json) -> None:
    live = do_apply(None, mine, Writer("m1", "2026-01-01T00:00:00Z"))
    live = do_apply(live, theirs, Writer("m2", "2026-01-01T00:00:01Z"), force=True)
    differing = compare(SCHEMA, bare(live), later)
    try:
        do_apply(live, later, Writer("m1", "2026-01-01T00:00:02Z"))
    except ApplyConflict:
        assert differing.modified | differing.added
    else:
        theirs_owned = [owned.fields for owner, owned in owners_of(live).items() if owner.manager == "m2"]
        assert not any(fields & differing.modified for fields in theirs_owned)


@given(st.lists(st.tuples(MANAGERS, CONFIGS, st.booleans()), min_size=1, max_size=5))
def test_owned_fields_exist_and_changes_belong_to_their_writer(writes: list[tuple[str, Json, bool]]) -> None:
    live: Json | None = None
    for second, (manager, config, is_applied) in enumerate(writes):
        writer = Writer(manager, f"2026-01-01T00:00:0{second}Z")
        if is_applied:
            live = do_apply(live, config, writer, force=True)
        else:
            change = compare(SCHEMA, bare(live) if live else SCOPE.empty, config)
            was_tracked = live is None or bool(owners_of(live))
            live = track(SCOPE, live, config, writer)
            for owner, owned in owners_of(live).items():
                mine = owner.manager == manager and owner.operation == UPDATE
                assert mine or not owned.fields & (change.changed | change.removed)
                if mine and was_tracked:
                    assert {path for path in change.changed if path[0] == "f:spec"} - {("f:spec",)} <= owned.fields
        for owned in owners_of(live).values():
            assert owned.fields <= all_paths(live)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=25))
def test_updaters_stay_few_and_lose_nothing(values: list[int]) -> None:
    live: Json | None = None
    for second, value in enumerate(values):
        spec = dict(live["spec"]) if live else {}
        spec["labels"] = {**spec.get("labels", {}), f"k{value}": str(second)}
        live = track(SCOPE, live, thing(spec), Writer(f"u{second}", f"2026-01-01T00:00:{second:02}Z"))
    assert live is not None
    owners = owners_of(live)
    assert len(owners) <= MAX_UPDATE_ENTRIES
    labels = {("f:spec", "f:labels", f"f:k{value}") for value in values}
    assert labels <= frozenset().union(*(owned.fields for owned in owners.values()))


@given(CONFIGS)
def test_parents_are_declared_fields_on_the_way(config: Json) -> None:
    fields = collect_fields(SCHEMA, config)
    joined = add_parents(SCHEMA, fields)
    assert fields <= joined
    for path in joined - fields:
        assert any(each[: len(path)] == path for each in fields)
        assert path[-1].startswith("f:")


@given(DOCUMENTS, DOCUMENTS)
def test_merge_patch_made_from_two_documents_leads_from_one_to_the_other(one: Json, other: Json) -> None:
    patch = create_merge_patch(one, other)
    assert is_same(apply_merge_patch(one, patch), other)
    assert (patch == {}) == is_same(one, other)


@given(DOCUMENTS, PATCHES)
def test_merge_patch_applied_twice_changes_nothing_more(document: Json, patch: Json) -> None:
    once = apply_merge_patch(document, patch)
    assert apply_merge_patch(once, patch) == once


@given(DOCUMENTS, JSON, WORDS)
def test_json_patch_takes_back_what_it_added(document: Json, value: Any, name: str) -> None:
    assume(name not in document)
    add: Json = {"op": "add", "path": f"/{name}", "value": value}
    test: Json = {"op": "test", "path": f"/{name}", "value": value}
    assert apply_json_patch(document, JsonPatch((add, test)))[name] == value
    assert apply_json_patch(document, JsonPatch((add, {"op": "remove", "path": f"/{name}"}))) == document


@given(PLAIN_SPECS, PLAIN_SPECS)
def test_strategic_patch_applied_twice_changes_nothing_more(live: Json, patch: Json) -> None:
    once = apply_strategic_patch(SPEC, live, patch)
    assert apply_strategic_patch(SPEC, once, patch) == once
    assert {item["name"] for item in once.get("items", [])} == {
        item["name"] for each in (live, patch) for item in each.get("items", [])
    }


@given(PLAIN_SPECS, ITEMS)
def test_strategic_patch_puts_items_in_the_order_it_asks_for(live: Json, items: list[Json]) -> None:
    order = [{"name": item["name"]} for item in items]
    patched = apply_strategic_patch(SPEC, live, {"$setElementOrder/items": order, "items": items})
    names = [item["name"] for item in items]
    assert [item["name"] for item in patched.get("items", []) if item["name"] in names] == names
    others = [item["name"] for item in live.get("items", []) if item["name"] not in names]
    assert [item["name"] for item in patched.get("items", []) if item["name"] not in names] == others


@given(PLAIN_SPECS, PLAIN_SPECS)
def test_arguments_are_left_as_they_were(live: Json, other: Json) -> None:
    snapshots = repr((live, other))
    apply_strategic_patch(SPEC, live, other)
    apply_merge_patch(live, other)
    created = do_apply(None, thing(live), Writer("m1", "2026-01-01T00:00:00Z"))
    before = repr(created)
    do_apply(created, thing(other), Writer("m1", "2026-01-01T00:00:01Z"))
    assert repr((live, other)) == snapshots
    assert repr(created) == before

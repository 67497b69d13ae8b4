"""Runs the tables beside it: objects of `resource.k8s.io` and the faults that a write of them gets.

A file names a kind, and the version if not the preferred one, and has one sound object, `base`, from which all its
cases start and which a case may change by `given`. `patch` changes what is sent and, for updates (`do: update`,
`do: status`), `old` what is stored. `want` has every fault, in any order: field, reason, and the whole message where
wording counts. `world` answers all else.

A patch is merged into the base. A map merged into a list changes the items of those numbers, one past the last is new;
null removes. Large values are spelled out by `{times: 33, of: ...}` for a list, `{times: 33, key: "k#", of: ...}` for a
map and `{times: 64, text: x}` for a text, in which `#` stands for the number of the item.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.api.codec import decode
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.resource.kinds import KINDS
from tests.cases.api.resource.world import NOW, World

KINDS_BY_NAME: Mapping[str, Kind[Any]] = {kind.name: kind for kind in KINDS}
Tree = Any
"""What YAML and JSON hold."""
Json = dict[str, Tree]


def expand(value: Tree) -> Tree:
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "times" in value and "text" in value:
        return value["text"] * value["times"]
    if "times" in value and "key" in value:
        numbers = range(value["times"])
        return {value["key"].replace("#", str(number)): expand(number_item(value["of"], number)) for number in numbers}
    if "times" in value:
        return [expand(number_item(value["of"], number)) for number in range(value["times"])]
    return {key: expand(item) for key, item in value.items()}


def number_item(item: Tree, number: int) -> Tree:
    return json.loads(json.dumps(item).replace("#", str(number)))


def merge(base: Tree, patch: Tree) -> Tree:
    if not isinstance(patch, dict):
        return patch
    if isinstance(base, list) and all(isinstance(key, int) for key in patch):
        merged = [merge(item, patch[index]) if index in patch else item for index, item in enumerate(base)]
        return [item for item in merged if item is not None] + [patch[key] for key in patch if key >= len(base)]
    base = base if isinstance(base, dict) else {}
    merged_map = {**base, **{key: merge(base.get(key), value) for key, value in patch.items()}}
    return {key: value for key, value in merged_map.items() if value is not None}


def read_cases() -> Iterator[Any]:
    for file in sorted(Path(__file__).parent.glob("*.yaml")):
        table = yaml.safe_load(file.read_text(encoding="utf-8"))
        for case in table["cases"]:
            yield pytest.param(table, case, id=f"{file.stem}: {case['name']}")


def write(table: Json, case: Json) -> list[Json]:
    """What the checks of one write answer."""
    kind = KINDS_BY_NAME[table["kind"]]
    base = expand(merge(table["base"], case.get("given", {})))
    version = table.get("version", kind.declared_version)
    operation = case.get("do", "create")

    def read(patch: Json) -> ApiObject:
        text = json.dumps(merge(base, expand(patch))).encode()
        thing: ApiObject = kind.default(decode(kind, version, text), NOW)
        return thing

    new, old = read(case.get("patch", {})), None
    if operation == "create":
        new, checks = kind.prepare_create(new), kind.create_checks
    elif operation == "update":
        old = read(case.get("old", {}))
        new, checks = kind.prepare_update(new, old, NOW), kind.update_checks
    else:
        old = read(case.get("old", {}))
        new, checks = kind.prepare_status(new, old, NOW), kind.status_checks
    world = World(case.get("world", {}))
    faults = [fault for check in checks for fault in check(new, old, world)]
    return [
        {"field": str(each.path), "reason": each.reason.value.removeprefix("FieldValue"), "message": each.body}
        for each in faults
    ]


@pytest.mark.parametrize(("table", "case"), list(read_cases()))
def test_write_gets_exactly_the_faults_it_should(table: Json, case: Json) -> None:
    got = write(table, case)
    want = case["want"]
    assert sorted((fault["field"], fault["reason"]) for fault in got) == sorted(
        (fault["field"], fault["reason"]) for fault in want
    ), got
    messages = {(fault["field"], fault["message"]) for fault in got}
    assert [fault for fault in want if "message" in fault and (fault["field"], fault["message"]) not in messages] == []

"""Runs the tables beside it: objects of the core and its neighbour groups, and the faults that a write of them gets.

A file names a kind and has one sound object, `base`, from which all its cases start. `patch` changes what is sent and,
for updates (`do: update`, `do: status`), `old` what is stored. `want` has every fault, in any order: field, reason, and
the whole message or the hint where it counts. How patches are written stands in `tests/cases/api/resource`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from dray.api.authentication.kinds import BODIES as TOKEN_BODIES
from dray.api.codec import decode
from dray.api.kind import Kind
from dray.api.policy.kinds import BODIES as POLICY_BODIES
from dray.api.registry import SERVED
from dray.api.writing import PlannedWrite, plan_create, plan_status_update, plan_update
from tests.cases.api.resource.test_checks import expand, merge
from tests.cases.api.resource.world import World

Json = dict[str, Any]
KINDS: dict[tuple[str, str], Kind[Any]] = {
    (kind.group, kind.name): kind for kind in (*SERVED, *TOKEN_BODIES, *POLICY_BODIES)
}


def read_cases() -> Iterator[Any]:
    for file in sorted(Path(__file__).parent.glob("*.yaml")):
        table = yaml.safe_load(file.read_text(encoding="utf-8"))
        for case in table["cases"]:
            yield pytest.param(table, case, id=f"{file.stem}: {case['name']}")


def plan(table: Json, case: Json) -> PlannedWrite[Any]:
    kind = KINDS[table.get("group", ""), table["kind"]]
    base = expand(table["base"])
    world = World({})

    def read(patch: Json) -> Any:  # of any kind
        return decode(kind, kind.declared_version, json.dumps(merge(base, expand(patch))).encode())

    new = read(case.get("patch", {}))
    operation = case.get("do", "create")
    if operation == "create":
        return plan_create(kind, new, world)
    stored = read(case.get("old", {}))
    old = plan_create(kind, stored, world).result
    version = {"resource_version": "1", "uid": "u"}
    old = replace(old, metadata=replace(old.metadata, **version))
    new = replace(new, metadata=replace(new.metadata, **version))
    if operation == "update":
        return plan_update(kind, new, old, world)
    return plan_status_update(kind, new, replace(old, status=stored.status), world)


@pytest.mark.parametrize(("table", "case"), list(read_cases()))
def test_write_gets_exactly_the_faults_it_should(table: Json, case: Json) -> None:
    faults = plan(table, case).faults
    got = [
        {"field": str(each.path), "reason": each.reason.value.removeprefix("FieldValue"), "message": each.body}
        for each in faults
    ]
    want = case["want"]
    assert sorted((fault["field"], fault["reason"]) for fault in got) == sorted(
        (fault["field"], fault["reason"]) for fault in want
    ), got
    messages = {(fault["field"], fault["message"]) for fault in got}
    hints = {(str(each.path), each.hint) for each in faults}
    for fault in want:
        assert "message" not in fault or (fault["field"], fault["message"]) in messages, got
        assert "hint" not in fault or (fault["field"], fault["hint"]) in hints, hints

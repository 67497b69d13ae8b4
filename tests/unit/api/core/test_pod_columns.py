"""The row of a pod in every state that was recorded."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dray.api.codec import decode
from dray.api.core.kinds import POD
from dray.api.core.podcolumns import POD_COLUMNS, pod_row_conditions
from dray.values.times import parse_time

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_pod_cells.json").read_text())
RECORDED_AT = "2026-11-18T19:41:28Z"


def pod_of(case: dict[str, Any]) -> Any:
    given = case["input"]
    spec = {
        key: given[key] for key in ("initContainers", "readinessGates", "schedulingGates", "nodeName") if key in given
    }
    metadata = {"name": case["name"], "creationTimestamp": RECORDED_AT}
    if "deletionTimestamp" in given:
        metadata["deletionTimestamp"] = given["deletionTimestamp"]
    spec["containers"] = [{"name": name} for name in given["containers"]]
    whole = {"metadata": metadata, "spec": spec, "status": given["status"]}
    return decode(POD, "v1", json.dumps(whole).encode())


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
def test_cells_are_the_recorded_ones(case: dict[str, Any]) -> None:
    pod, now = pod_of(case), parse_time(RECORDED_AT)
    assert [column.cell(pod, now) for column in POD_COLUMNS] == case["cells"]


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
def test_rows_of_finished_pods_are_marked(case: dict[str, Any]) -> None:
    assert msgspec.to_builtins(pod_row_conditions(pod_of(case))) == tuple(case["conditions"])


def test_columns_are_the_recorded_ones() -> None:
    got = [[each.name, each.type, each.format, each.priority] for each in POD_COLUMNS]
    assert got == RECORDED["columns"]

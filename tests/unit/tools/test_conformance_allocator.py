from typing import Any

import pytest

from tools.conformance_allocator import AllocationJudge


def claim(name: str, **exactly: Any) -> dict[str, Any]:
    asked = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1, **exactly}
    meta = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": meta, "spec": {"devices": {"requests": [{"name": "r", "exactly": asked}]}}}


def line(*devices: str) -> dict[str, Any]:
    """An administrator and somebody else, both of whom kube-scheduler is said to have refused."""
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "x.io", "pool": pool, "allNodes": True, "devices": [{"name": each} for each in devices]}
    return {
        "node": {"metadata": {"name": "n"}},
        "classes": [{"metadata": {"name": "any"}, "spec": {}}],
        "slices": [{"metadata": {"name": "s"}, "spec": spec}],
        "allocated": [],
        "claims": [claim("admin", adminAccess=True), claim("user")],
        "expect": {"outcome": "unschedulable"},
    }


def test_what_administrators_would_take_explains_a_refusal() -> None:
    verdict = AllocationJudge().judge(line("one"))
    assert verdict.mismatches == []
    assert "admin-takes-devices" in verdict.better


@pytest.mark.parametrize("devices", [("one", "two"), ("one", "two", "three")])
def test_administrators_explain_nothing_where_there_is_enough_for_all(devices: tuple[str, ...]) -> None:
    (mismatch,) = AllocationJudge().judge(line(*devices)).mismatches
    assert mismatch.startswith("outcome: got allocated")

"""What users ask of the profiles, through the allocator: which devices they are given, or that there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.allocator.outcome import Allocated
from tests.cases.drivers.asking import Case, ask, build, describe

FOLDER = Path(__file__).parent


def read(name: str) -> list[Any]:
    cases = yaml.safe_load(FOLDER.joinpath(name).read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", [*read("use_cases.yaml"), *read("demos.yaml")])
def test_claims_are_given_what_they_ask_for(case: Case) -> None:
    nodes = list(case["nodes"])
    cluster = build(case["nodes"], case.get("held", ()))
    for claim in case["claims"]:
        outcome = ask(cluster, nodes, claim["spec"])
        assert describe(outcome, nodes) == claim["want"], claim.get("name")
        if isinstance(outcome, Allocated):
            devices = outcome.allocations[0].devices
            assert [each.source for each in devices.config] == claim.get("configs", [])
            for result in devices.results:
                assert list(result.binding_conditions) == claim.get("binding", [])


@pytest.mark.parametrize("case", read("packing.yaml"))
def test_instances_fit_together_or_not(case: Case) -> None:
    spec = {"devices": {"requests": [_instances(name, number) for name, number in case["profiles"].items()]}}
    outcome = ask(build(case["nodes"], case["held"]), list(case["nodes"]), spec)
    assert isinstance(outcome, Allocated) == case["fits"], outcome


def _instances(profile: str, number: int) -> dict[str, Any]:
    condition = f"device.attributes['gpu.nvidia.com'].profile == '{profile}'"
    exactly = {"deviceClassName": "mig.nvidia.com", "count": number, "selectors": [{"cel": {"expression": condition}}]}
    return {"name": "r-" + profile.translate(str.maketrans(".+", "--")), "exactly": exactly}

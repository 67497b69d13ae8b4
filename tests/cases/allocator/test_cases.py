"""Each case: what is published and held, what is asked for, and who gets which devices or why nobody does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.allocator.allocate import allocate
from dray.allocator.cluster import Cluster
from dray.allocator.feasibility import feasible_nodes
from dray.allocator.ids import claim_uid
from dray.allocator.outcome import Allocated, Failed, Outcome, Unschedulable
from dray.allocator.solve import SearchLimits
from dray.api.core.node import Node
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice
from tests.cases.allocator.terse import NODE, Raw, cluster_of, decode, read_claims

FILES = sorted(Path(__file__).parent.glob("*.yaml"))
CASES = [
    pytest.param(case, id=f"{file.stem}: {case['name']}")
    for file in FILES
    for case in yaml.safe_load(file.read_text(encoding="utf-8"))
]
LIMITS = [
    pytest.param(SearchLimits(), id="plain"),
    pytest.param(SearchLimits(plain_steps=0), id="guided"),
    pytest.param(SearchLimits(plain_steps=0, guided_steps=0), id="probed"),
]


def build(case: Raw) -> tuple[Cluster, list[ResourceClaim], str]:
    """The cluster, the claims, and the node to allocate on. Cases with `given` have whole objects."""
    given = case.get("given")
    if given is None:
        return cluster_of(case), read_claims(case), NODE
    nodes = [decode(each, Node) for each in given.get("nodes", [given.get("node")])]
    cluster = Cluster.of(
        nodes,
        [decode(each, ResourceSlice) for each in given["slices"]],
        [decode(each, DeviceClass) for each in given["classes"]],
        [decode(each, ResourceClaim) for each in given.get("allocated", ())],
    )
    return cluster, [decode(each, ResourceClaim) for each in given["claims"]], nodes[0].metadata.name


def describe(outcome: Outcome, claims: list[ResourceClaim]) -> Any:
    match outcome:
        case Allocated(allocations=allocations):
            return {
                claim.metadata.name: [
                    f"{result.request}: {result.pool}/{result.device}" for result in allocation.devices.results
                ]
                for claim, allocation in zip(claims, allocations, strict=True)
            }
        case Unschedulable(reason=reason):
            return {"refused": reason.name}
        case Failed(code=code):
            return {"failed": code.value}
    return {"gave up": outcome}


def wanted(case: Raw) -> Any:
    """Devices may be written without their pool, which then is `p`, and for a single request without its name."""
    want = {key: value for key, value in case["want"].items() if key != "message"}
    if "refused" in want or "failed" in want:
        return want
    return {claim: list(_full(claim, devices, case)) for claim, devices in want.items()}


def _full(claim: str, devices: list[str], case: Raw) -> Iterator[str]:
    requests = [key for key in case["claims"][claim] if key != "constraints"]
    for text in devices:
        request, _, device = text.rpartition(": ")
        yield f"{request or requests[0]}: {device if '/' in device else f'p/{device}'}"


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("case", CASES)
def test_case(case: Raw, limits: SearchLimits) -> None:
    cluster, claims, node = build(case)
    numbers = count()
    outcome = allocate(claims, cluster, node, share_ids=lambda: f"share-{next(numbers)}", limits=limits)
    if "feasible" in case["want"]:
        assert list(feasible_nodes(claims, cluster)) == case["want"]["feasible"]
        assert isinstance(outcome, Allocated)
        for claim, allocation in zip(claims, outcome.allocations, strict=True):
            cluster.take(claim_uid(claim), allocation)
        assert list(feasible_nodes(claims, cluster)) == case["want"]["feasible_after_taking_on_a"]
        return
    assert describe(outcome, claims) == wanted(case)
    if "message" in case["want"]:
        assert isinstance(outcome, Failed)
        assert outcome.message == case["want"]["message"]

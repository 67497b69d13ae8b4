"""A consistent cluster passes the audit, and each way to break it is found."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dray.api.core.node import Node
from dray.api.mending import decode_custom
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.slice import ResourceSlice
from dray.audit.cluster import FINALIZER, MAX_RESERVATIONS, audit_cluster
from dray.audit.violations import Violation, ViolationCode
from tests.unit.audit.mutations import edited, list_mutations, load_bases

BASES = load_bases("clusters.yaml")


class Case(msgspec.Struct, frozen=True):
    nodes: tuple[Node, ...]
    slices: tuple[ResourceSlice, ...]
    claims: tuple[ResourceClaim, ...]


DECODER = msgspec.json.Decoder(Case, dec_hook=decode_custom)


def audit(case: dict[str, Any]) -> list[Violation]:
    made = DECODER.decode(json.dumps(case))
    return audit_cluster(made.claims, made.slices, made.nodes)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base["name"])
def test_consistent_cluster_passes(base: dict[str, Any]) -> None:
    assert audit(base) == []


@pytest.mark.parametrize(("base", "mutation"), [*list_mutations(BASES)])
def test_every_mutation_is_found(base: dict[str, Any], mutation: dict[str, Any]) -> None:
    assert {violation.code.value for violation in audit(edited(base, mutation))} == set(mutation["want"])


def test_claim_beyond_the_limits_of_the_api_is_found() -> None:
    reserved = [{"resource": "pods", "name": f"p{n}", "uid": f"u{n}"} for n in range(MAX_RESERVATIONS + 1)]
    results = [{"request": "r", "driver": "d", "pool": "p", "device": f"gpu-{n}"} for n in range(33)]
    claim = {
        "metadata": {"name": "c", "finalizers": [FINALIZER]},
        "status": {"reservedFor": reserved, "allocation": {"devices": {"results": results}}},
    }
    codes = [violation.code for violation in audit({"nodes": [], "slices": [], "claims": [claim]})]
    assert codes == [ViolationCode.TOO_MANY_RESERVATIONS, ViolationCode.TOO_MANY_DEVICES]


def test_claim_on_a_node_that_is_gone_is_nobodys_fault() -> None:
    case = json.loads(json.dumps(BASES[0]))
    del case["nodes"][0]
    assert audit(case) == []


def test_pool_being_replaced_is_not_judged() -> None:
    case = json.loads(json.dumps(BASES[0]))
    case["slices"][1]["spec"]["pool"]["generation"] = 2
    case["slices"][1]["spec"]["sharedCounters"][0]["counters"]["memory"]["value"] = "1Gi"
    assert audit(case) == []

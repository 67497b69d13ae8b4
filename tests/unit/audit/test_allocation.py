"""Legal allocations pass the audit, and each way to break one is found."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dray.api.core.node import Node
from dray.api.mending import decode_custom
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice
from dray.audit.allocation import MAX_DEVICES, audit_allocation
from dray.audit.violations import Violation, ViolationCode
from dray.audit.world import World
from tests.properties.expressions import derived_or_nothing, is_true
from tests.unit.audit.mutations import edited, list_mutations, load_bases

BASES = load_bases("allocations.yaml")


class Case(msgspec.Struct, frozen=True):
    node: Node
    classes: tuple[DeviceClass, ...]
    slices: tuple[ResourceSlice, ...]
    allocated: tuple[ResourceClaim, ...]
    claims: tuple[ResourceClaim, ...]
    allocations: tuple[AllocationResult, ...]


DECODER = msgspec.json.Decoder(Case, dec_hook=decode_custom)


def audit(case: dict[str, Any]) -> list[Violation]:
    made = DECODER.decode(json.dumps(case))
    world = World(
        node=made.node,
        classes=made.classes,
        slices=made.slices,
        allocated=made.allocated,
        claims=made.claims,
        is_true=is_true,
        derive=derived_or_nothing,
    )
    return audit_allocation(world, made.allocations)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base["name"])
def test_legal_allocation_passes(base: dict[str, Any]) -> None:
    assert audit(base) == []


@pytest.mark.parametrize(("base", "mutation"), [*list_mutations(BASES)])
def test_every_mutation_is_found(base: dict[str, Any], mutation: dict[str, Any]) -> None:
    assert {violation.code.value for violation in audit(edited(base, mutation))} == set(mutation["want"])


def test_tables_have_a_mutation_for_every_code() -> None:
    bases = BASES + load_bases("clusters.yaml")
    found = {code for base in bases for mutation in base["mutations"] for code in mutation["want"]}
    by_hand = {ViolationCode.TOO_MANY_DEVICES, ViolationCode.TOO_MANY_RESERVATIONS}
    assert found == set(ViolationCode) - by_hand


def test_claim_with_more_devices_than_the_api_allows_is_found() -> None:
    names = [f"gpu-{number}" for number in range(MAX_DEVICES + 1)]
    request = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": len(names)}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    results = [{"request": "r", "driver": "d", "pool": "p", "device": name} for name in names]
    case = {
        "node": {"metadata": {"name": "n1"}},
        "classes": [{"metadata": {"name": "any"}}],
        "slices": [{"spec": {"driver": "d", "allNodes": True, "pool": pool, "devices": [{"name": n} for n in names]}}],
        "allocated": [],
        "claims": [{"spec": {"devices": {"requests": [{"name": "r", "exactly": request}]}}}],
        "allocations": [{"devices": {"results": results}}],
    }
    assert [violation.code for violation in audit(case)] == [ViolationCode.TOO_MANY_DEVICES]


def test_violation_names_rule_subject_and_reason() -> None:
    violation = Violation(ViolationCode.DEVICE_TAKEN, "device d/p/gpu-0", "held by two")
    assert str(violation) == "DeviceTaken: device d/p/gpu-0: held by two"

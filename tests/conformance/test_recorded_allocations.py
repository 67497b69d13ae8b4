"""Witnesses of the allocator against recordings: what Kubernetes allocated is legal, and the plain search finds it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest
from msgspec.structs import replace

from dray.api.resource.allocation import AllocationResult
from dray.audit.allocation import audit_allocation
from dray.audit.holdings import device_key
from dray.audit.violations import ViolationCode
from tests.conformance.recorded import RecordedCase, read_cases, world_of
from tests.properties.oracle import Answer, Ending, answer_plainly

CASES = list(read_cases("allocator.jsonl"))
ALLOCATED = [case for case in CASES if case.expect.outcome == "allocated"]


def with_share_ids(allocations: Sequence[AllocationResult]) -> list[AllocationResult]:
    """The allocations with identifiers in place of the `*` of recordings."""
    numbers = count()
    return [
        replace(
            allocation,
            devices=replace(
                allocation.devices,
                results=tuple(
                    replace(result, share_id=f"share-{next(numbers)}") if result.share_id else result
                    for result in allocation.devices.results
                ),
            ),
        )
        for allocation in allocations
    ]


@pytest.mark.parametrize("case", ALLOCATED, ids=lambda case: case.name)
def test_recorded_allocation_is_legal(case: RecordedCase) -> None:
    assert audit_allocation(world_of(case), with_share_ids(case.expect.results or ())) == []


@pytest.mark.parametrize("case", ALLOCATED, ids=lambda case: case.name)
def test_recorded_allocation_short_of_one_device_is_not_legal(case: RecordedCase) -> None:
    first, *others = with_share_ids(case.expect.results or ())
    short = replace(first, devices=replace(first.devices, results=first.devices.results[1:]))
    codes = {violation.code for violation in audit_allocation(world_of(case), [short, *others])}
    assert codes & {ViolationCode.WRONG_DEVICE_COUNT, ViolationCode.NOT_ALL_DEVICES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_plain_search_finds_what_was_recorded(case: RecordedCase) -> None:
    answer = answer_plainly(world_of(case))
    match case.expect.outcome:
        case "allocated":
            picks = tuple(
                tuple((result.request, device_key(result)) for result in allocation.devices.results)
                for allocation in case.expect.results or ()
            )
            assert answer == Answer(Ending.ALLOCATED, picks)
        case "error":
            assert answer == Answer(Ending.ERROR, message=case.expect.message)
        case _:
            assert answer == Answer(Ending.UNSCHEDULABLE)

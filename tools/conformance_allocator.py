"""Judges recorded allocations: the outcome, the devices chosen, and by the audit whether what we allocate is legal."""

import copy
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from dray.allocator.allocate import allocate
from dray.allocator.cluster import Cluster
from dray.allocator.outcome import Allocated, BudgetExhausted, Failed, Outcome, Unschedulable
from dray.api.codec import encode_value
from dray.api.core.node import Node
from dray.api.mending import decode_custom
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import Device, DeviceAttribute
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice
from dray.audit.allocation import audit_allocation
from dray.audit.world import World
from dray.cel.errors import CompileFault, RuntimeFault
from dray.cel.program import compile_derived_attribute, compile_selector, evaluate_derived, matches
from tools.conformance_lines import Line, Verdict, describe_difference

__all__ = ["AllocationJudge"]

T = TypeVar("T")

DIFFERENCES = Path(__file__).resolve().parent.parent / "docs" / "differences.md"
COMPARED = ("request", "driver", "pool", "device", "adminAccess", "consumedCapacity")
QUIRKS = {
    "constraint-refuses-all": "A constraint that keeps a device from a request for all devices",
    "admin-takes-devices": "Administrators take nothing from anybody",
}
"""Where we find an allocation on purpose that kube-scheduler misses: the heading in docs/differences.md for it."""


class AllocationJudge:
    """Knows lines with slices and claims, of `allocator.jsonl` and `allocator-hard.jsonl`."""

    def recognises(self, line: Line) -> bool:
        """Whether the line asks for devices."""
        return "slices" in line and "claims" in line and "expect" in line

    def judge(self, line: Line) -> Verdict:
        """Allocate the line's claims on its node, and compare."""
        world = _world(line)
        outcome = _allocate(world)
        verdict = Verdict()
        if isinstance(outcome, Allocated):
            verdict.mismatches += [f"audit: {each}" for each in audit_allocation(world, outcome.allocations)]
        got, want = _name(outcome), line["expect"]["outcome"]
        if got == want:
            self._compare(outcome, line, verdict)
        else:
            quirk = _quirk(line) if got == "allocated" else None
            if quirk is None or QUIRKS[quirk] not in DIFFERENCES.read_text(encoding="utf-8"):
                verdict.mismatches.append(
                    f"outcome: got {got} {outcome}, want {want} {line['expect'].get('message', '')}"
                )
            else:
                verdict.better = f"allocated where {want} was recorded: {quirk}"
        return verdict

    def _compare(self, outcome: Outcome, line: Line, verdict: Verdict) -> None:
        """Compare texts of errors, and devices: where those are the same, all the rest has to be the same too."""
        if isinstance(outcome, Failed):
            verdict.texts = 1
            verdict.texts_same = int(outcome.message == line["expect"]["message"])
            verdict.notes += (
                [] if verdict.texts_same else [f"got {outcome.message!r}, want {line['expect']['message']!r}"]
            )
        if not isinstance(outcome, Allocated) or not line["expect"].get("results"):
            return
        got = [_without_share_ids(json.loads(encode_value(each))) for each in outcome.allocations]
        want = [_without_share_ids(each) for each in line["expect"]["results"]]
        verdict.devices = 1
        if list(_devices(got)) == list(_devices(want)):
            verdict.devices_same = 1
            verdict.mismatches += describe_difference(got, want)
        else:
            verdict.notes.append(f"other devices: got {list(_devices(got))}, want {list(_devices(want))}")


def _world(line: Line) -> World:
    return World(
        node=_decode(line["node"], Node),
        classes=[_decode(each, DeviceClass) for each in line["classes"]],
        slices=[_decode(each, ResourceSlice) for each in line["slices"]],
        allocated=[_decode(each, ResourceClaim) for each in line["allocated"]],
        claims=[_decode(each, ResourceClaim) for each in line["claims"]],
        is_true=_is_true,
        derive=_derive,
    )


def _allocate(world: World) -> Outcome:
    cluster = Cluster.of([world.node], world.slices, world.classes, world.allocated)
    share_numbers = itertools.count()
    return allocate(world.claims, cluster, world.node.metadata.name, share_ids=lambda: f"share-{next(share_numbers)}")


def _decode(raw: object, kind: type[T]) -> T:
    return msgspec.json.decode(json.dumps(raw), type=kind, dec_hook=decode_custom)


def _is_true(expression: str, driver: str, device: Device) -> bool:
    program = compile_selector(expression)
    return not isinstance(program, CompileFault) and matches(program, driver, device) is True


def _derive(expression: str, driver: str, device: Device) -> DeviceAttribute | None:
    program = compile_derived_attribute(expression)
    if isinstance(program, CompileFault):
        return None
    attribute = evaluate_derived(program, driver, device)
    return None if isinstance(attribute, RuntimeFault) else attribute


def _name(outcome: Outcome) -> str:
    match outcome:
        case Allocated():
            return "allocated"
        case Unschedulable():
            return "unschedulable"
        case Failed():
            return "error"
        case BudgetExhausted():
            return "budget exhausted"


def _quirk(line: Line) -> str | None:
    """The quirk that explains why an allocation was missed, if one does."""
    if "because a claim constraint would not be satisfied" in line["expect"].get("message", ""):
        return "constraint-refuses-all"
    if not isinstance(_allocate(_world(_without_administrators(line))), Allocated):
        return "admin-takes-devices"
    return None


def _without_administrators(line: Line) -> Line:
    """The line with requests that take what administrators merely look at."""
    changed = copy.deepcopy(line)
    for claim in changed["claims"]:
        for request in claim["spec"]["devices"].get("requests") or ():
            request.get("exactly", {}).pop("adminAccess", None)
    return changed


def _without_share_ids(allocation: dict[str, Any]) -> dict[str, Any]:
    for result in allocation["devices"].get("results", ()):
        if "shareID" in result:
            result["shareID"] = "*"
    return allocation


def _devices(allocations: Sequence[dict[str, Any]]) -> Iterator[list[list[Any]]]:
    for allocation in allocations:
        yield [[result.get(key) for key in COMPARED] for result in allocation["devices"].get("results", ())]

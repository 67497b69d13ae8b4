"""Runs the tables of filters, scores and preemption. `towns.py` says how their cases are written.

Of filters `want` says what each node that is listed says. Of scores it has the points of all nodes that fit, those of
the plugins in `score` without their weights, or else all of them; the best node must be the first with the most. Of
preemption it has node and victims, or the message of the refusal; `devices` lists by node the pods that hold what the
newcomer needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dray.allocator.bits import bits
from dray.api.core.pod import Pod
from dray.scheduler.core.placement import Placement
from dray.scheduler.core.preemption import Preemption, PreemptionRefused, plan_preemption
from dray.scheduler.core.verdicts import Verdict
from tests.cases.scheduler.towns import load_cases, read_pod, settle

HERE = Path(__file__).parent


def table(folder: str) -> pytest.MarkDecorator:
    cases = load_cases(HERE / folder)
    return pytest.mark.parametrize("case", [case for _, case in cases], ids=[name for name, _ in cases])


def told(verdict: Verdict | None) -> object:
    if verdict is None:
        return "fits"
    return {verdict.plugin: sorted(verdict.reasons), "code": verdict.code.value}


@table("filters")
def test_filters(case: dict[str, Any]) -> None:
    town = settle(case)
    examined = town.placement.examine(read_pod("newcomer", case["pod"]), frozenset(case.get("mapped", ())))
    found = {name: told(examined.verdict(number)) for number, name in enumerate(town.snapshot.names)}
    if examined.rejected is not None:
        found = {"rejected": told(examined.rejected)}
    assert {name: found[name] for name in case["want"]} == case["want"]
    assert found.keys() >= case["want"].keys()


@table("scores")
def test_scores(case: dict[str, Any]) -> None:
    town = settle(case)
    placement = town.placement
    if "score" in case:
        placement = Placement(town.snapshot, replace(placement.profile, weights=dict.fromkeys(case["score"], 1)))
    examined = placement.examine(read_pod("newcomer", case["pod"]))
    points = [(amount, town.numbers([name])) for name, amount in case.get("points", {}).items()]
    totals = placement.scores(examined, examined.fitting, points)
    found = {town.snapshot.names[number]: totals[number] for number in sorted(totals)}
    assert found == case["want"]
    best = town.snapshot.names[placement.best(examined, examined.fitting, points)]
    assert best == max(found, key=lambda name: found[name])


@table("preemption")
def test_preemption(case: dict[str, Any]) -> None:
    town = settle(case)
    holders = case.get("devices", {})

    def devices_fit(number: int, gone: Sequence[Pod]) -> tuple[str, ...]:
        left = set(holders.get(town.snapshot.names[number], ())) - {pod.metadata.name for pod in gone}
        return ("cannot allocate all claims",) if left else ()

    examined = town.placement.examine(read_pod("newcomer", case["pod"]))
    allowed = examined.preemptible | town.numbers([*holders])
    found = plan_preemption(town.placement, examined, allowed, devices_fit if holders else None)
    assert summarise(found, case["want"]) == case["want"]
    assert list(bits(town.snapshot.present)) == list(range(len(town.snapshot.names)))


def summarise(found: Preemption | PreemptionRefused, want: dict[str, Any]) -> dict[str, Any]:
    """What is asked of an outcome."""
    if isinstance(found, PreemptionRefused):
        facts: dict[str, Any] = {"refused": found.message, "clears": found.clears_nomination}
    else:
        victims = [pod.metadata.name for pod in found.victims]
        facts = {"node": found.node_name, "victims": victims, "violations": found.violations, "message": found.message}
    return {name: fact for name, fact in facts.items() if name in want}

"""Runs the tables beside it: what is there, what happens, and where pods are then, or why they are nowhere.

`given` is stored through the API in order, as `terse.py` says. `do` is a list of the steps of `steps.py`, each followed
by rest. Of `want`, and of `then` after a step, is compared what is given: `pods` by node (`-` for none), `free` by
nodes that would do, `waits` has Kubernetes' part of the message that tells why, `explained` words of what follows it,
`claims` what they hold and for whom, `extended` which request stands for which resource, `charged` what claims take of
the node, `events` the reasons told of a pod, `reasons` that of its condition, `nominated` the node that is cleared for
it, `leaving` the pods that are asked to go, `groups` the conditions of groups. A step may say how many attempts it
`tried`. Every decision is audited, and so is what is stored in the end.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.events.kinds import EVENT
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.scheduling.kinds import POD_GROUP
from dray.api.scheduling.podgroup import PodGroup
from tests.cases.scheduling.steps import Wire, take_step
from tests.cases.scheduling.terse import store
from tests.unit.scheduler.quietloop import run_quietly
from tests.unit.scheduler.rig import Rig, rigged

Json = dict[str, Any]


def read_cases() -> Iterator[Any]:
    for file in sorted(Path(__file__).parent.glob("*.yaml")):
        table = yaml.safe_load(file.read_text(encoding="utf-8"))
        if "given" in table or isinstance(table, dict):
            for case in table["cases"]:
                yield pytest.param(table.get("given", []), case, id=f"{file.stem}: {case['name']}")


async def show(rig: Rig) -> dict[str, Any]:
    pods = (await rig.client.list(POD)).items
    claims = (await rig.client.list(RESOURCE_CLAIM)).items
    events = (await rig.client.list(EVENT)).items
    groups = (await rig.client.list(POD_GROUP)).items
    conditions = {
        pod.metadata.name: next((each for each in pod.status.conditions if each.type == "PodScheduled"), None)
        for pod in pods
    }
    return {
        "pods": {pod.metadata.name: pod.spec.node_name or "-" for pod in pods},
        "waits": {name: each.message for name, each in conditions.items() if each is not None},
        "reasons": {name: "-" if each is None else each.reason for name, each in conditions.items()},
        "leaving": sorted(pod.metadata.name for pod in pods if pod.metadata.deletion_timestamp is not None),
        "groups": {group.metadata.name: " ".join(_conditions(group)) for group in groups},
        "nominated": {pod.metadata.name: pod.status.nominated_node_name or "-" for pod in pods},
        "claims": {_name(claim): _holding(claim) for claim in claims},
        "events": {
            pod.metadata.name: sorted({each.reason for each in events if each.regarding.name == pod.metadata.name})
            for pod in pods
        },
        "charged": {
            pod.metadata.name: " ".join(_charges(pod))
            for pod in pods
            if pod.status.node_allocatable_resource_claim_statuses
        },
        "extended": {
            pod.metadata.name: sorted(
                f"{each.container_name} {each.resource_name} {each.request_name}"
                for each in pod.status.extended_resource_claim_status.request_mappings
            )
            for pod in pods
            if pod.status.extended_resource_claim_status is not None
        },
    }


def _name(claim: Any) -> str:
    owner = next((each.name for each in claim.metadata.owner_references if each.controller), None)
    return claim.metadata.name if owner is None else f"{owner}/{claim.metadata.name[len(owner) + 1 : -6]}"


def _charges(pod: Pod) -> Iterator[str]:
    """What each claim takes of the node: `=` what its devices stand for, `+` what they cost a pod and a container."""
    names = {each.resource_claim_name: each.name for each in pod.status.resource_claim_statuses}
    for status in pod.status.node_allocatable_resource_claim_statuses:
        yield names.get(status.resource_claim_name, status.resource_claim_name)
        for mapped in status.mapping:
            yield f"{mapped.name}={mapped.quantity}"
        for cost in status.overhead:
            each = [f"+{amount}" for amount in (cost.per_pod, cost.per_container) if amount is not None]
            yield f"{cost.name}{''.join(each)}"


def _conditions(group: PodGroup) -> Iterator[str]:
    return (f"{each.status} {each.reason}" for each in group.status.conditions)


def _holding(claim: Any) -> str:
    allocation = claim.status.allocation
    held = "-" if allocation is None else " ".join(each.device for each in allocation.devices.results)
    users = sorted(each.name for each in claim.status.reserved_for)
    return f"{held} for {', '.join(users)}" if users else held


def check(want: Json, shown: dict[str, Any]) -> None:
    for aspect, wanted in want.items():
        if aspect == "waits":
            for name, text in wanted.items():
                told = shown["waits"].get(name, "")
                assert told == text or told.startswith((f"{text} ", f"{text}; ")), (name, told)
        elif aspect == "explained":
            for name, text in wanted.items():
                assert text in shown["waits"].get(name, ""), shown["waits"]
        elif aspect == "leaving":
            assert shown["leaving"] == wanted
        elif aspect == "free":
            for name, nodes in wanted.items():
                assert shown["pods"][name] in nodes, shown["pods"]
        else:
            assert {name: shown[aspect].get(name, "gone") for name in wanted} == wanted, shown


@pytest.mark.parametrize(("given", "case"), list(read_cases()))
def test_case(given: list[Json], case: Json) -> None:
    async def run() -> None:
        async with rigged() as rig:
            wire = Wire()
            rig.cluster.before_call, rig.cluster.after_call = wire.begin, wire.end
            for terse in [*given, *case.get("given", [])]:
                await store(rig.client, terse)
            await rig.settle()
            for action in case.get("do", []):
                before = rig.attempts.made
                await take_step(rig, wire, action)
                if "then" in action:
                    check(action["then"], await show(rig))
                if "tried" in action:
                    assert rig.attempts.made - before == action["tried"]
            check(case["want"], await show(rig))
            assert rig.errors == []
            assert await rig.audit() == []

    run_quietly(run())

"""Runs the tables beside it: what is there, what happens, and where pods are then, or why they are nowhere.

`given` is stored through the API in order. `do` is a list of steps, each followed by rest: `put` an object, `delete`
one by `sort name`, `finish` a pod, `wait` seconds, `fail` requests of one verb and kind a number of times or let their
answers be lost (`miss`), `restart` the scheduler and the controllers, `patch` an object `with` something. Objects are
written as `terse.py` says.

Of `want`, and of `then` after a step, is compared what is given: `pods` by node (`-` for none), `waits` has Kubernetes'
part of the message that tells why, `explained` words of what follows it, `claims` what they hold and for whom, `events`
the reasons told of a pod, `reasons` that of its condition, `groups` the conditions of groups,
`leaving` are the pods that are asked to go. A step may
say how many attempts it `tried`. Every decision is audited, and so is what is stored in the
end.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.api.core.kinds import POD
from dray.api.events.kinds import EVENT
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.scheduling.kinds import POD_GROUP
from dray.api.scheduling.podgroup import PodGroup
from dray.client.port import ObjectName, Patch, PatchType, Unreachable
from dray.errors import Conflict
from tests.cases.scheduling.terse import KINDS, NAMESPACE_NAME, store
from tests.unit.controllers.cluster import Call
from tests.unit.scheduler.rig import Rig, rigged

Json = dict[str, Any]


def read_cases() -> Iterator[Any]:
    for file in sorted(Path(__file__).parent.glob("*.yaml")):
        table = yaml.safe_load(file.read_text(encoding="utf-8"))
        if "given" in table or isinstance(table, dict):
            for case in table["cases"]:
                yield pytest.param(table.get("given", []), case, id=f"{file.stem}: {case['name']}")


class Wire:
    """Lets some requests fail."""

    def __init__(self) -> None:
        self.failures: dict[str, int] = {}
        self.losses: dict[str, int] = {}

    def begin(self, call: Call) -> None:
        """A request is about to be made."""
        if _comes(self.failures, call):
            raise Conflict("a lost race")

    def end(self, call: Call) -> None:
        """A request is about to be answered."""
        if _comes(self.losses, call):
            raise Unreachable("the connection broke off")


def _comes(counts: dict[str, int], call: Call) -> bool:
    text = f"{call.verb} {call.kind.plural}"
    if counts.get(text, 0) == 0:
        return False
    counts[text] -= 1
    return True


async def take_step(rig: Rig, wire: Wire, action: Json) -> None:
    match action:
        case {"put": list(several)}:
            for terse in several:
                await store(rig.client, terse)
        case {"put": terse}:
            await store(rig.client, terse)
        case {"delete": text}:
            sort, _, name = text.partition(" ")
            kind = KINDS[sort]
            await rig.client.delete(kind, ObjectName(name, NAMESPACE_NAME if kind.is_namespaced else ""))
        case {"finish": name}:
            patch = Patch(PatchType.MERGE, b'{"status": {"phase": "Succeeded"}}')
            await rig.client.patch(POD, ObjectName(name, NAMESPACE_NAME), patch, subresource="status")
        case {"wait": seconds}:
            await rig.pass_time(seconds)
        case {"fail": _} | {"miss": _}:
            wire.failures, wire.losses = dict(action.get("fail", {})), dict(action.get("miss", {}))
        case {"restart": _}:
            await rig.stop()
            rig.start()
        case {"patch": text, "with": body}:
            sort, _, name = text.partition(" ")
            patch = Patch(PatchType.MERGE, yaml_to_json(body))
            subresource = "status" if "status" in body else ""
            kind = KINDS[sort]
            namespace = NAMESPACE_NAME if kind.is_namespaced else ""
            await rig.client.patch(kind, ObjectName(name, namespace), patch, subresource=subresource)
        case _:
            raise AssertionError(f"no such step: {action}")
    await rig.settle()


def yaml_to_json(body: Json) -> bytes:

    return json.dumps(body).encode()


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

    asyncio.run(run())

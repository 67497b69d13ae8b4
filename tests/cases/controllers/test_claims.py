"""Runs the tables about the life of claims: what is there, what happens, and what the controllers make of it.

`given` is there before the controllers start. `do` is a list of steps, each followed by rest: `put` an object, `delete`
one by `sort name`, `wait` seconds, `fail` requests of one verb and kind a number of times. `want` says what is there in
the end; `calls`, if given, which requests the controllers made besides watching.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.api.core.kinds import EVENT, POD
from dray.api.meta import DeleteOptions
from dray.api.registry import AnyKind
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from dray.api.scheduling.kinds import POD_GROUP
from dray.client.port import ObjectName
from dray.errors import Conflict
from tests.cases.controllers.world import put, show_claims, show_names
from tests.unit.controllers.cluster import Call, Cluster
from tests.unit.controllers.crew import Crew, working_crew

Json = dict[str, Any]
KINDS: dict[str, AnyKind] = {
    "pod": POD,
    "claim": RESOURCE_CLAIM,
    "template": RESOURCE_CLAIM_TEMPLATE,
    "group": POD_GROUP,
}
WAITS = 10
"""Steps of waiting, so that what is tried again may fail and be tried once more."""
CONTROLLERS = ("resourceclaim-controller",)


def read_cases() -> Iterator[Any]:
    for case in yaml.safe_load(Path(__file__).with_name("claims.yaml").read_text(encoding="utf-8")):
        yield pytest.param(case, id=case["name"])


class Wire:
    """Sees the requests of the controllers, and lets some fail."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failures: dict[str, int] = {}

    def __call__(self, call: Call) -> None:
        if call.verb in ("watch", "list") or call.kind is EVENT:
            return
        text = f"{call.verb} {call.kind.plural}"
        self.calls.append(text)
        if self.failures.get(text, 0) > 0:
            self.failures[text] -= 1
            raise Conflict("a lost race")


async def step(crew: Crew, wire: Wire, action: Json) -> None:
    match action:
        case {"put": terse}:
            put(crew.cluster, terse)
        case {"delete": text}:
            sort, name = text.split()
            await crew.client.delete(KINDS[sort], ObjectName(name, "ml"), DeleteOptions(grace_period_seconds=0))
        case {"wait": seconds}:
            for _ in range(WAITS):
                await crew.pass_time(seconds / WAITS)
        case {"fail": text, "times": times}:
            wire.failures[text] = times
        case _:
            raise AssertionError(f"no such step: {action}")
    await crew.settle()


def show_events(cluster: Cluster) -> list[str]:
    events = [cluster.find(EVENT, name) for name in cluster.names(EVENT)]
    return sorted({f"{each.type} {each.reason}: {each.message}" for each in events if each is not None})


@pytest.mark.parametrize("case", list(read_cases()))
def test_claims_come_to_what_they_should(case: Json) -> None:
    async def scenario() -> None:
        cluster, wire = Cluster(), Wire()
        cluster.before_call = wire
        for terse in case.get("given", ()):
            put(cluster, terse)
        async with cluster.serving(), working_crew(cluster, CONTROLLERS) as crew:
            for action in case.get("do", ()):
                await step(crew, wire, action)
            want = case["want"]
            assert show_claims(cluster) == want.get("claims", {})
            assert show_names(cluster) == want.get("names", {})
            assert show_events(cluster) == want.get("events", [])
            if "calls" in want:
                assert wire.calls == want["calls"]
            assert crew.errors == []

    asyncio.run(scenario())

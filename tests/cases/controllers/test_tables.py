"""Runs the tables beside it: what is there, what happens, and what the controllers make of it.

A table names its controllers, and what its cases show (`shows`): all of that is compared, nothing where `want` leaves
it out. `given` is there before the controllers start. `do` is a list of steps, each followed by rest: `put` an object,
`delete` one by `sort name`, `wait` seconds, `fail` requests of one verb and kind a number of times, `restart` the
controllers. Each case is played in several orders in which the controllers hear of what is given: none may matter.
`calls`, if given, are the requests that the controllers made besides watching and telling. How objects are
written and shown stands in `world.py`.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.api.core.kinds import EVENT, POD
from dray.api.meta import DeleteOptions
from dray.api.registry import AnyKind
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.port import ObjectName
from dray.errors import Conflict
from tests.cases.controllers.showing import SHOWS
from tests.cases.controllers.world import KINDS, put
from tests.unit.controllers.cluster import Call, Cluster
from tests.unit.controllers.crew import Crew, working_crew

Json = dict[str, Any]
WAITS = 10
"""Steps of waiting, so that what is tried again may fail and be tried once more."""


def read_cases() -> Iterator[Any]:
    for file in sorted(Path(__file__).parent.glob("*.yaml")):
        table = yaml.safe_load(file.read_text(encoding="utf-8"))
        for case in table["cases"]:
            yield pytest.param(table, case, id=f"{file.stem}: {case['name']}")


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
            kind = KINDS[sort]
            object_name = ObjectName(name, "ml" if kind.is_namespaced else "")
            await crew.client.delete(kind, object_name, DeleteOptions(grace_period_seconds=0))
        case {"wait": seconds}:
            for _ in range(WAITS):
                await crew.pass_time(seconds / WAITS)
        case {"fail": text, "times": times}:
            wire.failures[text] = times
        case _:
            raise AssertionError(f"no such step: {action}")
    await crew.settle()


@pytest.mark.parametrize("first", [(), (POD,), (RESOURCE_CLAIM,)], ids=["", "pods first", "claims first"])
@pytest.mark.parametrize(("table", "case"), list(read_cases()))
def test_it_comes_to_what_it_should(table: Json, case: Json, first: Sequence[AnyKind]) -> None:
    async def scenario() -> None:
        cluster, wire = Cluster(), Wire()
        cluster.before_call = wire
        for terse in case.get("given", ()):
            put(cluster, terse)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(cluster.serving())
            crew = await stack.enter_async_context(working_crew(cluster, table["controllers"], first=first))
            for action in case.get("do", ()):
                if action == "restart":
                    await crew.stop()
                    crew = await stack.enter_async_context(working_crew(cluster, table["controllers"], first=first))
                else:
                    await step(crew, wire, action)
            want = case["want"]
            for show in table["shows"]:
                shown = SHOWS[show](cluster)
                assert shown == want.get(show, type(shown)()), show
            if "calls" in want:
                assert wire.calls == want["calls"]
            assert crew.errors == []

    asyncio.run(scenario())

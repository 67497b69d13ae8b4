"""Whatever happens on the way, an informer ends with the truth, and its changes lead there without a gap."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from dray.api.core.configmap import ConfigMap
from dray.client.changes import Change
from dray.client.informer import Informer
from dray.client.port import ObjectName, Unreachable
from dray.effects.clock import FakeClock
from dray.effects.log import MemoryLog
from dray.errors import Gone
from tests.unit.client.modelclient import CONFIG_MAPS, History, ModelClient, make_pace, settle

names = st.sampled_from("abcd")
steps = st.one_of(
    st.tuples(st.just("put"), names),
    st.tuples(st.just("delete"), names),
    st.tuples(st.sampled_from(["break", "end", "gone", "forget", "bookmark", "refuse", "settle", "consume", "wait"])),
)


class Replay:
    """Applies changes to a copy, and checks that each fits on the one before."""

    def __init__(self) -> None:
        self.things: dict[ObjectName, ConfigMap] = {}

    def apply(self, change: Change[ConfigMap]) -> None:
        assert change.old is self.things.get(change.name)
        assert change.old is not change.new
        if change.new is None:
            del self.things[change.name]
        else:
            assert change.latest is change.new
            self.things[change.name] = change.new

    def apply_strictly(self, change: Change[ConfigMap]) -> None:
        if change.old is not None and change.new is not None:
            assert change.old.metadata.uid == change.new.metadata.uid
            assert int(change.old.metadata.resource_version) < int(change.new.metadata.resource_version)
        self.apply(change)


def act(history: History, client: ModelClient, step: tuple[str, ...]) -> None:
    match step:
        case ("put", name):
            history.put(name)
        case ("delete", name):
            history.delete(name)
        case ("break",):
            history.cut(Unreachable("broken"))
        case ("end",):
            history.cut()
        case ("gone",):
            history.cut(Gone("too old"))
        case ("forget",):
            history.forget()
        case ("bookmark",):
            history.bookmark()
        case ("refuse",):
            client.refusal = Unreachable("refused")


@given(st.lists(steps, max_size=40), st.booleans())
def test_informer_ends_with_the_truth(script: list[tuple[str, ...]], knows_initial_events: bool) -> None:
    async def scenario() -> None:
        history, clock = History(), FakeClock()
        client = ModelClient(history, knows_initial_events=knows_initial_events)
        informer = Informer(client, CONFIG_MAPS, make_pace(clock), MemoryLog())
        told, merged = Replay(), Replay()
        informer.add_handler(told.apply_strictly)
        queue = informer.subscribe()
        async with asyncio.TaskGroup() as tasks:
            run = tasks.create_task(informer.run())
            for step in script:
                act(history, client, step)
                if step == ("settle",):
                    await settle()
                elif step == ("wait",):
                    client.refusal = None
                    await settle(clock, 3)
                elif step == ("consume",):
                    for change in queue.take_all():
                        merged.apply(change)
                assert len(queue) <= 4
            client.refusal = None
            await settle(clock, 120)
            run.cancel()
        for change in queue.take_all():
            merged.apply(change)
        want = {ObjectName(name, "default"): thing for name, thing in history.things.items()}
        assert {name: informer.view.find(name) for name in want} == want
        assert len(informer.view) == len(want)
        assert told.things == merged.things == want
        assert informer.revision == str(history.revision)

    asyncio.run(scenario())

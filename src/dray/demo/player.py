"""Plays examples: a cluster for each scene, the commands one after another, and what must come of each."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from msgspec import Struct

from dray.app.clientwire import wire_client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.demo.cluster import Cluster, running_cluster
from dray.demo.commands import Commands, Done
from dray.demo.example import Example, Scene, Step
from dray.demo.stage import KINDS, Stage
from dray.demo.words import Words
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.errors import DrayError

__all__ = ["Audience", "Silence", "Surroundings", "Unmet", "play"]

PATIENCE_SECONDS: Final = 60.0
"""Far more than any step takes; what does not come true by then never will."""
_SHOWN: Final = 5


class Unmet(DrayError):
    """Something did not come out as the example says. The message tells after which command, and what."""


class Surroundings(Struct, frozen=True):
    """What examples are played with. `place` is the folder that holds `examples`."""

    place: Path
    environment: Mapping[str, str]
    clock: Clock
    entropy: Entropy
    log: Log


class Audience(Protocol):
    """Who is told what happens, while it happens."""

    def opens(self, cluster: Cluster) -> None:
        """A scene begins on a cluster."""
        ...

    def says(self, text: str) -> None:
        """What comes next, in a sentence."""
        ...

    def runs(self, line: str) -> None:
        """A command begins."""
        ...

    def prints(self, done: Done) -> None:
        """It has ended."""
        ...

    def waits(self, title: str) -> AbstractContextManager[object]:
        """For the length of a block, nothing is told."""
        ...


class Silence:
    """An audience that nothing is shown to."""

    def opens(self, cluster: Cluster) -> None:
        """See `Audience`."""

    def says(self, text: str) -> None:
        """See `Audience`."""

    def runs(self, line: str) -> None:
        """See `Audience`."""

    def prints(self, done: Done) -> None:
        """See `Audience`."""

    def waits(self, title: str) -> AbstractContextManager[object]:
        """See `Audience`."""
        return nullcontext()


async def play(example: Example, around: Surroundings, audience: Audience) -> int:
    """Play all scenes. Returns how many facts were seen to hold; raises Unmet at the first that does not."""
    return sum([await _play_scene(scene, around, audience) for scene in example.scenes])


async def _play_scene(scene: Scene, around: Surroundings, audience: Audience) -> int:
    with TemporaryDirectory(prefix="dray-demo-") as folder:
        if not scene.nodes:
            commands = Commands(around.place, around.environment, None)
            return sum([await _play_step(step, commands, None, audience) for step in scene.steps])
        async with AsyncExitStack() as stack:
            with audience.waits("starting a cluster"):
                opening = running_cluster(scene.nodes, Path(folder), around.environment, scene.settings)
                cluster = await stack.enter_async_context(opening)
            audience.opens(cluster)
            commands = Commands(around.place, around.environment, cluster.kubeconfig)
            stage = await stack.enter_async_context(_open_stage(cluster, around))
            return sum([await _play_step(step, commands, stage, audience) for step in scene.steps])


@asynccontextmanager
async def _open_stage(cluster: Cluster, around: Surroundings) -> AsyncIterator[Stage]:
    async with wire_client(around.environment, around.clock, kubeconfig=cluster.kubeconfig) as client:
        informers = SharedInformers(client, Pace(around.clock, around.entropy), around.log)
        for kind in KINDS:
            informers.get(kind)
        running = asyncio.create_task(informers.run())
        try:
            await informers.wait_synced()
            yield Stage(client, informers)
        finally:
            running.cancel()
            await asyncio.wait([running])


async def _play_step(step: Step, commands: Commands, stage: Stage | None, audience: Audience) -> int:
    if step.say:
        audience.says(step.say)
    audience.runs(commands.phrase(step.run))
    with audience.waits("running the command"):
        done = await commands.run(step.run)
    audience.prints(done)
    unmet = _judge_output(step, done, commands)
    if not unmet and stage is not None:
        with audience.waits("waiting for what comes of it"):
            unmet = await stage.wait(step.want, PATIENCE_SECONDS)
    if unmet:
        more = f"; and {len(unmet) - _SHOWN} more" if len(unmet) > _SHOWN else ""
        raise Unmet(f"after `{step.run}`: {'; '.join(unmet[:_SHOWN])}{more}")
    return step.facts


def _judge_output(step: Step, done: Done, commands: Commands) -> list[str]:
    """What of the output is not as expected. Other words of another command are no fault."""
    if (done.code != 0) is not step.fails:
        return [f"it ended with {done.code} and said {done.output.strip()!r}"]
    if step.run.startswith("kubectl") and not commands.has_kubectl:
        return []
    words = Words()
    unprinted = [piece for piece in step.prints if not words.find(piece, done.output)]
    unhidden = [piece for piece in step.hides if words.has(piece, done.output)]
    return [f"it did not print {piece!r}, but {done.output!r}" for piece in unprinted] + [
        f"it printed {piece!r}: {done.output!r}" for piece in unhidden
    ]

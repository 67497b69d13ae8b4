"""A cluster as it is seen while an example is played: waits for what is wanted, and reads logs."""

import asyncio
from contextlib import aclosing
from fnmatch import fnmatchcase
from typing import Final

from dray.api.core.kinds import EVENT, NODE, POD
from dray.api.registry import AnyKind
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.client.http import HttpClient
from dray.client.sharing import SharedInformers
from dray.client.untyped import UntypedClient
from dray.demo.example import WantedLog, Wants
from dray.demo.sights import Sights, list_contradictions, list_unmet
from dray.demo.words import Words
from dray.errors import ApiError

__all__ = ["KINDS", "Stage"]

KINDS: Final[tuple[AnyKind, ...]] = (POD, RESOURCE_CLAIM, RESOURCE_SLICE, NODE, EVENT)
"""What has to be watched."""


class Stage:
    """One cluster. Blanks in logs stand for the same words from the first step to the last."""

    def __init__(self, client: HttpClient, informers: SharedInformers) -> None:
        self._client = client
        self._informers = informers
        self._words = Words()
        self._news = asyncio.Event()
        for kind in KINDS:
            informers.get(kind).add_handler(lambda _change: self._news.set())

    async def wait(self, wants: Wants, seconds: float) -> list[str]:
        """Wait until everything is as wanted, at most so long; then whatever still is not, logs included.

        Kinds are watched each by itself, so that what contradicts itself may do so for a moment only.
        """
        unmet: list[str] = []
        try:
            async with asyncio.timeout(seconds):
                while unmet := list_unmet(wants, self.look()) or list_contradictions(self.look()):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return unmet
        return [text for container, want in wants.logs.items() for text in await self._judge_log(container, want)]

    def look(self) -> Sights:
        """How things stand now."""
        pods, claims = (self._informers.get(POD).view, self._informers.get(RESOURCE_CLAIM).view)
        return Sights(
            pods={f"{each.metadata.namespace}/{each.metadata.name}": each for each in pods},
            claims={f"{each.metadata.namespace}/{each.metadata.name}": each for each in claims},
            slices=list(self._informers.get(RESOURCE_SLICE).view),
            nodes={each.metadata.name: each for each in self._informers.get(NODE).view},
            events=list(self._informers.get(EVENT).view),
        )

    async def _judge_log(self, container: str, want: WantedLog) -> list[str]:
        pattern, _, name = container.rpartition("/")
        pods = [each for each in self.look().pods if fnmatchcase(each, pattern)]
        if not pods:
            return [f"log of {container}: there is no such pod"]
        return [text for pod in pods for text in await self._judge_one_log(f"{pod}/{name}", want)]

    async def _judge_one_log(self, container: str, want: WantedLog) -> list[str]:
        try:
            text = await self._read_log(*container.split("/"))
        except ApiError as fault:
            return [f"log of {container}: {fault}"]
        lacking = [each for each in want.has if not self._words.find(each, text)]
        extra = [each for each in want.lacks if self._words.has(each, text)]
        told = f"{text!r}, with blanks {self._words.known}"
        return [f"log of {container} lacks {each!r}: {told}" for each in lacking] + [
            f"log of {container} has {each!r}: {told}" for each in extra
        ]

    async def _read_log(self, namespace: str, pod: str, container: str) -> str:
        pieces = UntypedClient(self._client).open_log(namespace, pod, {"container": container})
        async with aclosing(pieces) as chunks:
            return b"".join([each async for each in chunks]).decode(errors="replace")

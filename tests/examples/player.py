"""Plays an example: a cluster of its own, its manifests applied in steps, and what must come of each.

`expect.yaml` of an example says which nodes the cluster has (`nodes`), and what happens (`steps`): manifests to `apply`
or an object to `delete`, then what to `want` of pods. A pod's `devices` are `node/device` in any order; `log` are
pieces of text.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import Struct

from dray.api.codec import decode
from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.registry import SERVED, AnyKind
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.yamltext import parse_yaml_documents
from dray.app.clientwire import wire_client
from dray.client.port import Client, ObjectName
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.effects.clock import SystemClock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import MemoryLog

TIMEOUT_SECONDS = 60.0
"""Far more than any step takes; what does not come true by then never will."""


class WantedPod(Struct, frozen=True, forbid_unknown_fields=True):
    phase: str
    node: str | None = None
    devices: tuple[str, ...] | None = None
    says: tuple[str, ...] = ()
    """Pieces of the message of the condition PodScheduled."""


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    apply: str = ""
    delete: str = ""
    want: Mapping[str, WantedPod] = {}


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    nodes: tuple[str, ...]
    steps: tuple[Step, ...]


def read_example(folder: Path) -> Example:
    return msgspec.convert(yaml.safe_load(folder.joinpath("expect.yaml").read_text(encoding="utf-8")), Example)


@contextmanager
def running_cluster(nodes: tuple[str, ...], folder: Path) -> Iterator[Path]:
    """A cluster as `dray up` starts it; its kubeconfig."""
    file, log = folder / "kubeconfig", folder / "log"
    groups = [each for node in nodes for each in ("--nodes", node)]
    options = ["--data-dir", str(folder / "data"), "--port", "0", "--kubeconfig-out", str(file), *groups]
    command = [sys.executable, "-m", "dray", "up", *options]
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as cluster,
    ):
        assert cluster.stdout is not None
        ready = any(line.startswith("nodes are ready") for line in cluster.stdout)
        assert ready, f"dray up ended: {log.read_text()}"
        try:
            yield file
        finally:
            cluster.terminate()
            assert cluster.wait(timeout=30) == 0, log.read_text()


class Stage:
    """The objects of the cluster as they are now."""

    def __init__(self, client: Client, informers: SharedInformers) -> None:
        self.client = client
        self.pods = informers.get(POD)
        self.claims = informers.get(RESOURCE_CLAIM)
        self.news = asyncio.Event()
        for informer in (self.pods, self.claims):
            informer.add_handler(lambda _change: self.news.set())

    async def play(self, step: Step, folder: Path) -> None:
        if step.apply:
            await self._apply(await asyncio.to_thread(folder.joinpath(step.apply).read_text, encoding="utf-8"))
        if step.delete:
            await self._delete(*step.delete.split("/"))
        unmet: list[str] = []
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while unmet := [text for name, want in step.want.items() for text in self._unmet(name, want)]:
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            raise AssertionError(f"{step.apply or step.delete}: {'; '.join(unmet)}") from None

    async def _apply(self, text: str) -> None:
        for document in parse_yaml_documents(text):
            kind, version = find_kind(document.json)
            await self.client.create(kind, decode(kind, version, document.json, strict=True))

    async def _delete(self, plural: str, namespace: str, name: str) -> None:
        kind = next(each for each in SERVED if each.plural == plural)
        await self.client.delete(kind, ObjectName(name, namespace))

    def _unmet(self, name: str, want: WantedPod) -> Iterator[str]:
        namespace, _, short = name.partition("/")
        pod = self.pods.view.find(ObjectName(short, namespace))
        if pod is None:
            yield f"{name} is not there"
            return
        if pod.status.phase != want.phase:
            yield f"{name} is {pod.status.phase}, not {want.phase}"
        if want.node is not None and pod.spec.node_name != want.node:
            yield f"{name} is on {pod.spec.node_name!r}, not {want.node}"
        if want.devices is not None and sorted(self._devices(pod)) != sorted(want.devices):
            yield f"{name} has {sorted(self._devices(pod))}, not {sorted(want.devices)}"
        message = next((each.message for each in pod.status.conditions if each.type == "PodScheduled"), "")
        for piece in want.says:
            if piece not in message:
                yield f"{name} is told {message!r}, without {piece!r}"

    def _devices(self, pod: Pod) -> Iterator[str]:
        names = [each.resource_claim_name for each in pod.status.resource_claim_statuses]
        names += [each.resource_claim_name for each in pod.spec.resource_claims]
        if pod.status.extended_resource_claim_status is not None:
            names.append(pod.status.extended_resource_claim_status.resource_claim_name)
        for name in dict.fromkeys(filter(None, names)):
            claim = self.claims.view.find(ObjectName(name, pod.metadata.namespace))
            if claim is not None and claim.status.allocation is not None:
                yield from (f"{each.pool}/{each.device}" for each in claim.status.allocation.devices.results)


def find_kind(document: bytes) -> tuple[AnyKind, str]:
    head: dict[str, Any] = msgspec.json.decode(document)
    group, _, version = head["apiVersion"].rpartition("/")
    return next(each for each in SERVED if (each.group, each.name) == (group, head["kind"])), version


@asynccontextmanager
async def open_stage(kubeconfig: Path) -> AsyncGenerator[Stage, None]:
    clock, log = SystemClock(), MemoryLog()
    async with wire_client(os.environ, clock, kubeconfig=kubeconfig) as client:  # noqa: TID251  # as a command would
        informers = SharedInformers(client, Pace(clock, SystemEntropy()), log)
        stage = Stage(client, informers)
        run = asyncio.create_task(informers.run())
        try:
            await informers.wait_synced()
            yield stage
        finally:
            run.cancel()
            await asyncio.wait([run])


async def play(example: Example, folder: Path, kubeconfig: Path) -> None:
    async with open_stage(kubeconfig) as stage:
        for step in example.steps:
            await stage.play(step, folder)

"""Agent and driver are killed in the middle of preparing and giving back, again and again, and nothing is left over.

Each round kills one of them at one point of its work, begins it anew, and lets two pods come and go that use one claim
together; one of them has a second claim. Then no device was prepared twice or given to two, and nothing is held.
"""

import asyncio
import math
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
import pytest
from msgspec.structs import replace

from dray.api.codec import get_codec
from dray.api.core.binding import Binding
from dray.api.core.kinds import BINDING, EVENT, POD
from dray.api.core.pod import Pod
from dray.api.core.references import ObjectReference
from dray.api.meta import DeleteOptions, ObjectMeta
from dray.api.resource.allocation import ResourceClaimConsumerReference
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.http import Surroundings, open_http_client
from dray.client.kubeconfig import find_places, load_connection
from dray.client.port import Client, ObjectName
from dray.driver.checkpoint import read_records
from dray.effects.clock import SystemClock
from dray.effects.entropy import SystemEntropy
from dray.errors import Conflict, NotFound
from dray.node.core.checkpoint import decode_checkpoint
from dray.testing.allocating import Wanted, allocate, deallocate, ref_to
from tests.e2e.dying import DRIVER, NODE, Hardware
from tests.e2e.servers import running_server

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.05
KILLED: Final = -9


def points(part: str, what: str, counts: int = 1) -> list[tuple[str, str]]:
    return [(part, f"{what}:{moment}:{count + 1}") for count in range(counts) for moment in ("before", "after")]


POINTS: Final = [
    *points("agent", "checkpoint.save_claims", counts=4),
    *points("agent", "runtime.open_sandbox", counts=2),
    *points("agent", "runtime.start", counts=2),
    *points("agent", "runtime.stop", counts=2),
    *points("agent", "runtime.close_sandbox", counts=2),
    *points("agent", "runtime.forget", counts=2),
    *points("driver", "checkpoint.put", counts=5),
    *points("driver", "checkpoint.remove", counts=2),
    *points("driver", "cdi.write", counts=2),
    *points("driver", "cdi.remove", counts=2),
    *points("driver", "hardware.take", counts=2),
    *points("driver", "hardware.give_back", counts=2),
]


STRIDE: Final = 17
"""Has no factor in common with the number of points."""


class Part:
    """The agent or the driver, as a process that is begun again when it has died."""

    def __init__(self, name: str, folder: Path, kubeconfig: Path) -> None:
        self._words = [sys.executable, "-m", "tests.e2e.dying", name, str(folder), str(kubeconfig)]
        self._log = folder / f"{name}.log"
        self._process: subprocess.Popen[str] | None = None
        self.deaths = 0

    def start(self, point: str = "") -> None:
        with self._log.open("a") as errors:
            words = [*self._words, point] if point else self._words
            self._process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        # At some points it dies before it is ready, where something was left to do from before.
        assert line == "ready\n" or self._process.wait() == KILLED, self._log.read_text()

    def revive(self) -> None:
        """Begin again without a point if it has died."""
        assert self._process is not None
        if self._process.poll() is None:
            return
        assert self._process.returncode == KILLED, self._log.read_text()
        self.deaths += 1
        self._close()
        self.start()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._close()

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            assert self._process.wait(timeout=PATIENCE_SECONDS) in (0, KILLED), self._log.read_text()
        finally:
            self.kill()

    def _close(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()


class Site:
    """A node, its driver, and whoever makes pods and claims for them."""

    def __init__(self, folder: Path, kubeconfig: Path, client: Client) -> None:
        self.folder = folder
        self.client = client
        self.hardware = Hardware(folder)
        self.parts = {name: Part(name, folder, kubeconfig) for name in ("agent", "driver")}

    async def until(self, what: str, is_so: Callable[[], Awaitable[bool]]) -> None:
        """Wait for something, while whatever died is begun again."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not await is_so():
                    await asyncio.sleep(LOOK_SECONDS)
                    for part in self.parts.values():
                        await asyncio.to_thread(part.revive)
        except TimeoutError as fault:
            events = sorted((await self.client.list(EVENT)).items, key=lambda each: str(each.last_timestamp))[-12:]
            logs = [(self.folder / f"{name}.log").read_text()[-3000:] for name in self.parts]
            said = [f"{each.last_timestamp} {each.involved_object.name} {each.message}" for each in events]
            raise AssertionError("\n".join([f"{what} within {PATIENCE_SECONDS:g} s", *logs, *said])) from fault

    async def add_claim(self, name: str, device: str) -> ResourceClaim:
        return await allocate(self.client, DRIVER, NODE, name, [Wanted(device=device, request="gpu")])

    async def add_pod(self, name: str, claims: list[str]) -> Pod:
        spec = {
            "terminationGracePeriodSeconds": 5,
            "containers": [
                {
                    "name": "main",
                    "image": "example/app:1",
                    "command": ["sh", "-c", "echo $GPU; exec sleep 600"],
                    "env": [{"name": "MARK", "value": f"{self.folder.name}/{name}"}],
                    "resources": {"claims": [{"name": each} for each in claims]},
                }
            ],
            "resourceClaims": [{"name": each, "resourceClaimName": each} for each in claims],
        }
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}
        pod = await self.client.create(POD, get_codec(POD, "v1").decode(msgspec.json.encode(body)))
        for each in claims:
            await self._reserve(each, pod)
        meta = ObjectMeta(name=name, namespace="default")
        binding = Binding(metadata=meta, target=ObjectReference(kind="Node", name=NODE))
        await self.client.create(BINDING, binding, subresource="binding")
        return pod

    async def _reserve(self, claim: str, pod: Pod) -> None:
        consumer = ResourceClaimConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)
        while True:
            found = await self.client.get(RESOURCE_CLAIM, ObjectName(claim, "default"))
            status = replace(found.status, reserved_for=(*found.status.reserved_for, consumer))
            with suppress(Conflict):
                await self.client.update(RESOURCE_CLAIM, replace(found, status=status), subresource="status")
                return

    async def find_pod(self, name: str) -> Pod | None:
        with suppress(NotFound):
            return await self.client.get(POD, ObjectName(name, "default"))
        return None

    async def is_running(self, name: str) -> bool:
        """Whether the pod runs, in the one process there is of it."""
        pod = await self.find_pod(name)
        running = list(self.processes(name))
        if pod is None or pod.status.phase != "Running" or len(running) != 1:
            return False
        return all(
            each.ready and each.container_id.endswith(f"-{running[0]}") for each in pod.status.container_statuses
        )

    def processes(self, name: str = "") -> Iterator[int]:
        """The processes of containers."""
        mark = f"MARK={self.folder.name}/{name}".encode()
        for each in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if any(
                    word.startswith(mark) if not name else word == mark
                    for word in (each / "environ").read_bytes().split(b"\0")
                ):
                    yield int(each.name)

    async def delete_pod(self, name: str) -> None:
        with suppress(NotFound):
            await self.client.delete(POD, ObjectName(name, "default"), DeleteOptions(grace_period_seconds=5))

    async def is_clean(self) -> bool:
        """Whether nothing is held: devices, files, records, processes."""
        kept = decode_checkpoint((self.folder / "dra_manager_state").read_bytes()).claims
        return not (
            self.hardware.owners()
            or list((self.folder / "cdi").glob("*"))
            or read_records(self.folder / "plugins" / DRIVER / "checkpoint.json")
            or kept.select()
            or list((self.folder / "pods").glob("*"))
            or list(self.processes())
        )

    def check_history(self) -> None:
        """No device was given to two claims, and none was prepared again while its claim counted as prepared."""
        ready: set[str] = set()
        for verb, device, claim in self.hardware.history():
            assert verb != "conflict", f"{device} was given to {claim} while another claim had it"
            assert verb != "take" or claim not in ready, f"{device} was prepared twice for {claim}"
            if verb == "ready":
                ready.add(claim)
            elif verb == "give":
                ready.discard(claim)

    def check_prepared(self, claims: dict[str, str]) -> None:
        """Exactly these devices are held, by claims, and containers can be given them."""
        assert self.hardware.owners() == claims
        assert len(list((self.folder / "cdi").glob("*.json"))) == len(claims)


async def play(site: Site, number: int, point: tuple[str, str]) -> None:
    """One round."""
    part, when = point
    site.parts[part].kill()
    site.parts[part].start(when)
    deaths = site.parts[part].deaths
    shared, own = f"shared-{number}", f"own-{number}"
    claims = {name: await site.add_claim(name, device) for name, device in ((shared, "gpu-0"), (own, "gpu-1"))}
    pods = {f"one-{number}": [shared], f"two-{number}": [shared, own]}
    for name, used in pods.items():
        await site.add_pod(name, used)
    for name in pods:
        await site.until(f"{name} runs", lambda name=name: site.is_running(name))  # type: ignore[misc]  # of the loop
    site.check_prepared({"gpu-0": claims[shared].metadata.uid, "gpu-1": claims[own].metadata.uid})
    for name in pods:
        await site.delete_pod(name)
    for name in pods:

        async def is_gone(name: str = name) -> bool:
            return await site.find_pod(name) is None

        await site.until(f"{name} goes", is_gone)
    for claim in claims.values():
        await deallocate(site.client, ref_to(claim))

    async def has_died() -> bool:
        return site.parts[part].deaths > deaths

    await site.until(f"{part} comes to {when}", has_died)
    await site.until("nothing is held", site.is_clean)
    site.check_history()


@contextmanager
def short_folder() -> Iterator[Path]:
    """Paths of sockets must be short."""
    with tempfile.TemporaryDirectory(prefix="dray-") as folder:
        for each in ("plugins", "plugins_registry", "cdi"):
            (Path(folder) / each).mkdir()
        yield Path(folder)


@asynccontextmanager
async def open_site(kubeconfig: Path, folder: Path) -> AsyncIterator[Site]:
    connection = load_connection(find_places({}, kubeconfig))
    async with open_http_client(connection, Surroundings(SystemClock(), SystemEntropy(), {})) as client:
        site = Site(folder, kubeconfig, client)
        for part in site.parts.values():
            part.start()
        try:
            yield site
        finally:
            for part in site.parts.values():
                part.stop()


@pytest.mark.parametrize("rounds", [3, pytest.param(200, marks=pytest.mark.soak)])
def test_nothing_is_lost_or_left_when_agent_and_driver_are_killed(tmp_path: Path, rounds: int) -> None:
    assert math.gcd(STRIDE, len(POINTS)) == 1
    # Far from one another, and each in its turn.
    chosen = [POINTS[number * STRIDE % len(POINTS)] for number in range(rounds)]

    async def run(kubeconfig: Path, folder: Path) -> None:
        async with open_site(kubeconfig, folder) as site:
            for number, point in enumerate(chosen):
                print(number, *point)
                await play(site, number, point)

    with short_folder() as folder, running_server(tmp_path) as (kubeconfig, _):
        asyncio.run(run(kubeconfig, folder))

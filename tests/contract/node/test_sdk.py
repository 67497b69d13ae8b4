"""Drivers of the SDK behind their sockets: what the protocol says of them, and an agent that calls them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from dray.api.resource.kinds import RESOURCE_SLICE
from dray.client.retrying import Pace
from dray.driver import (
    AllocatedDevice,
    Claim,
    ContainerEdits,
    Device,
    DeviceHealth,
    Devices,
    Driver,
    Health,
    Prepared,
    PreparedClaim,
    env,
)
from dray.driver.metrics import DriverMetrics
from dray.driver.serve import ServedDriver
from dray.driver.serving import NodePlaces, ServingParts, open_served_driver
from dray.effects.entropy import SeededEntropy
from dray.errors import DrayError
from dray.node.agent import NodeParts
from dray.node.checkpoint import FileCheckpoint
from dray.node.registration import NodeFacts
from dray.node.runtime.devices import CdiFolders
from dray.node.runtime.simulated import SimulatedNetwork, SimulatedRuntime
from dray.protocol import (
    dra_v1_pb2,
    dra_v1beta1_pb2,
    health_v1_pb2,
    health_v1alpha1_pb2,
    registration_v1_pb2,
)
from dray.testing.allocating import Wanted, allocate
from tests.contract.node.test_drivers import Site, find_health
from tests.unit.node.world import open_world

NAME = "gpu.example.com"
DRA = {"v1": dra_v1_pb2, "v1beta1": dra_v1beta1_pb2}
HEALTH = {"v1": health_v1_pb2, "v1alpha1": health_v1alpha1_pb2}


@dataclass
class GpuDriver(Driver):
    """Offers one device; keeps count of what it is asked for."""

    name = NAME
    calls: list[str] = field(default_factory=list)
    is_well: bool = True

    async def devices(self) -> Devices:
        return Devices.of(Device(name="gpu-0"))

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        self.calls.append(f"prepare {claim.name}")
        return Prepared.of(each.prepared(ContainerEdits(env=env(GPU=each.name))) for each in devices)

    async def unprepare(self, claim: PreparedClaim) -> None:
        self.calls.append(f"unprepare {claim.name}")


class WatchedDriver(GpuDriver):
    """One that tells health, too."""

    async def health(self) -> Sequence[DeviceHealth]:
        health = Health.HEALTHY if self.is_well else Health.UNHEALTHY
        return [DeviceHealth(device="gpu-0", health=health, message="" if self.is_well else "too hot")]


@dataclass
class Running:
    """A driver that is served."""

    driver: GpuDriver
    served: ServedDriver
    channel: grpc.aio.Channel
    registration: grpc.aio.Channel

    async def ask(self, path: str, request: Any, answer: Any, channel: grpc.aio.Channel | None = None) -> Any:
        """A call, by the path that stands on the wire."""
        call: grpc.aio.UnaryUnaryMultiCallable[Any, Any] = (channel or self.channel).unary_unary(
            path, request_serializer=lambda each: each.SerializeToString(), response_deserializer=answer.FromString
        )
        return await call(request, timeout=20)

    async def call(self, method: str, *claims: Any, version: str = "v1") -> Any:
        """`NodePrepareResources` or its opposite for some claims; the answers by uid."""
        messages = DRA[version]
        listed = [messages.Claim(namespace=each.namespace, name=each.name, uid=each.uid) for each in claims]
        request = getattr(messages, f"{method}Request")(claims=listed)
        path = f"/k8s.io.kubelet.pkg.apis.dra.{version}.DRAPlugin/{method}"
        return (await self.ask(path, request, getattr(messages, f"{method}Response"))).claims


@asynccontextmanager
async def serve(site: Site, driver: GpuDriver, *, pod_uid: str = "") -> AsyncIterator[Running]:
    """Run a driver on the node of a site."""
    root = site.root
    places = NodePlaces(
        node_name="node-a",
        plugins=root / "plugins",
        registry=root / "plugins_registry",
        cdi=root / "cdi",
        pod_uid=pod_uid,
    )
    world = site.world
    pace = Pace(world.clock, SeededEntropy(5), first_seconds=0.05)
    parts = ServingParts(client=world.client, pace=pace, log=world.log, metrics=DriverMetrics(NAME))
    async with AsyncExitStack() as stack:
        _, served = await stack.enter_async_context(open_served_driver(driver, places, parts))
        paths = (served.paths.service, served.paths.registration)
        options = (("grpc.use_local_subchannel_pool", 1),)
        channels = [
            await stack.enter_async_context(grpc.aio.insecure_channel(f"unix:{each}", options)) for each in paths
        ]
        yield Running(driver, served, *channels)


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("k")
    (root / "plugins_registry").mkdir()
    return open_site(root)


@asynccontextmanager
async def open_site(root: Path) -> AsyncIterator[Site]:
    """A node that finds the CDI files of its drivers."""
    async with open_world() as world:
        devices = CdiFolders([root / "cdi"], world.log)
        runtime = SimulatedRuntime(world.clock, world.fleet.around.timers, devices, SimulatedNetwork())
        parts = NodeParts(name="node-a", runtime=runtime, checkpoint=FileCheckpoint(root), plugin_root=root)
        yield Site(world, root, await world.fleet.add_node(NodeFacts("node-a", runtime.version), parts))


async def add_claim(site: Site, name: str, *, share_id: str | None = None, request: str = "gpu") -> Any:
    wanted = [Wanted(device="gpu-0", request=request, share_id=share_id)]
    return (await allocate(site.world.client, NAME, "node-a", name, wanted)).metadata


@pytest.mark.parametrize(
    ("driver", "versions"),
    [
        (GpuDriver(), ["v1.DRAPlugin", "v1beta1.DRAPlugin"]),
        (
            WatchedDriver(),
            ["v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth"],
        ),
    ],
)
async def test_a_driver_says_who_it_is(site: Site, driver: GpuDriver, versions: list[str]) -> None:
    async with serve(site, driver) as running:
        told = await running.ask(
            "/pluginregistration.Registration/GetInfo",
            registration_v1_pb2.InfoRequest(),
            registration_v1_pb2.PluginInfo,
            running.registration,
        )
        assert (told.type, told.name) == ("DRAPlugin", NAME)
        assert told.endpoint == str(site.root / "plugins" / NAME / "dra.sock")
        assert list(told.supported_versions) == versions
        await site.world.until(lambda: running.served.registrations == 1)


@pytest.mark.parametrize("version", DRA)
async def test_claims_are_prepared_and_taken_back_in_every_version(site: Site, version: str) -> None:
    async with serve(site, GpuDriver()) as running:
        share = "5f1a6f0c-8a3e-4b1a-9a55-0d2e7b8f6c11"
        claim = await add_claim(site, "c", share_id=share, request="gpu/large")
        for _ in range(2):
            answers = await running.call("NodePrepareResources", claim, version=version)
            (device,) = answers[claim.uid].devices
            assert list(device.request_names) == ["gpu"]
            assert (device.pool_name, device.device_name) == ("node-a", "gpu-0")
            assert list(device.cdi_device_ids) == [f"k8s.{NAME}/claim={claim.uid}-gpu-0-{share}"]
            assert version == "v1beta1" or device.share_id == share
        assert [each.name for each in (site.root / "cdi").iterdir()] == [f"k8s.{NAME}-claim_{claim.uid}.json"]
        for _ in range(2):
            answers = await running.call("NodeUnprepareResources", claim, version=version)
            assert answers[claim.uid].error == ""
        assert running.driver.calls == ["prepare c", "unprepare c"]
        assert list((site.root / "cdi").iterdir()) == []


async def test_every_claim_has_an_answer_and_fails_alone(site: Site) -> None:
    async with serve(site, GpuDriver()) as running:
        good = await add_claim(site, "good")
        missing = stranger("missing")
        replaced = stranger("good")
        answers = await running.call("NodePrepareResources", good, missing, replaced)
        assert set(answers) == {good.uid, missing.uid, replaced.uid}
        assert answers[good.uid].error == ""
        assert 'resourceclaims.resource.k8s.io "missing" not found' in answers[missing.uid].error
        assert answers[replaced.uid].error == f"claim default/good got replaced: its uid is {good.uid}, not uid-good"
        gone = await running.call("NodeUnprepareResources", missing)
        assert gone[missing.uid].error == ""


def stranger(name: str) -> Any:
    """A claim that the server does not have."""
    return dra_v1_pb2.Claim(namespace="default", name=name, uid=f"uid-{name}")


async def test_an_empty_question_has_an_empty_answer(site: Site) -> None:
    """As probes of drivers ask it."""
    async with serve(site, GpuDriver()) as running:
        assert len(await running.call("NodePrepareResources")) == 0


@pytest.mark.parametrize("version", HEALTH)
async def test_health_is_told_at_once_and_when_it_changes(site: Site, version: str) -> None:
    messages, driver = HEALTH[version], WatchedDriver()
    async with serve(site, driver) as running:
        stream: Any = running.channel.unary_stream(
            f"/{version}.DRAResourceHealth/NodeWatchResources",
            request_serializer=messages.NodeWatchResourcesRequest.SerializeToString,
            response_deserializer=messages.NodeWatchResourcesResponse.FromString,
        )(messages.NodeWatchResourcesRequest())
        (told,) = (await stream.read()).devices
        assert (told.device.pool_name, told.device.device_name, told.health) == ("node-a", "gpu-0", messages.HEALTHY)
        assert told.health_check_timeout_seconds == 30
        driver.is_well = False
        driver.host.health_changed()
        (told,) = (await stream.read()).devices
        assert (told.health, told.message) == (messages.UNHEALTHY, "too hot")
        stream.cancel()


async def test_a_driver_that_tells_no_health_says_that_it_does_not(site: Site) -> None:
    async with serve(site, GpuDriver()) as running:
        unheard: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = running.channel.unary_stream(
            "/v1.DRAResourceHealth/NodeWatchResources"
        )
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await unheard(b"").read()
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_pods_run_with_a_driver_and_show_how_their_device_fares(site: Site) -> None:
    driver = WatchedDriver()
    async with serve(site, driver):
        await add_claim(site, "own")
        await site.world.add_pod("p", claims=["own"])
        await site.world.wait_phase("p", "Running")
        await site.world.wait("p", lambda pod: find_health(pod) == ("Healthy", None))
        driver.is_well = False
        driver.host.health_changed()
        await site.world.wait("p", lambda pod: find_health(pod) == ("Unhealthy", "too hot"))
        await site.world.delete("p")
        await site.world.wait_gone("p")
        assert driver.calls == ["prepare own", "unprepare own"]


async def test_sockets_of_a_driver_that_was_killed_are_replaced(site: Site) -> None:
    folder = site.root / "plugins" / NAME
    folder.mkdir(parents=True)
    for place in (folder / "dra.sock", site.root / "plugins_registry" / f"{NAME}-reg.sock"):
        place.touch()
    async with serve(site, GpuDriver()) as running:
        await site.world.until(lambda: running.served.registrations == 1)
    assert list(folder.glob("*.sock")) == []
    assert list((site.root / "plugins_registry").iterdir()) == []


async def test_a_second_instance_is_refused_unless_they_take_turns(site: Site) -> None:
    async with serve(site, GpuDriver()):
        with pytest.raises(DrayError, match=r"another process uses .*; stop it, or give both a POD_UID"):
            async with serve(site, GpuDriver()):
                pass


async def test_instances_of_an_update_share_what_they_know(site: Site) -> None:
    old, new = GpuDriver(), GpuDriver()
    async with AsyncExitStack() as update:
        before = await update.enter_async_context(serve(site, old, pod_uid="uid-a"))
        claim = await add_claim(site, "c")
        await before.call("NodePrepareResources", claim)
        async with serve(site, new, pod_uid="uid-b") as after:
            await site.world.until(lambda: after.served.registrations == 1)
            again = await after.call("NodePrepareResources", claim)
            assert again[claim.uid].error == ""
            await update.aclose()
            answers = await after.call("NodeUnprepareResources", claim)
            assert answers[claim.uid].error == ""
            await site.world.until(lambda: len(site.agent.drivers.connected) == 1)
            slices = await site.world.client.list(RESOURCE_SLICE)
            assert [each.spec.pool.generation for each in slices.items] == [1]
    assert old.calls == ["prepare c"]
    assert new.calls == ["unprepare c"]


async def test_calls_of_both_instances_never_overlap(site: Site) -> None:
    working: list[str] = []

    class Slow(GpuDriver):
        async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
            working.append(claim.name)
            assert len(working) == 1
            await asyncio.sleep(0.05)
            working.clear()
            return await super().prepare(claim, devices)

    async with serve(site, Slow(), pod_uid="uid-a") as one, serve(site, Slow(), pod_uid="uid-b") as other:
        claims = [await add_claim(site, f"c{number}", share_id=UIDS[number]) for number in range(4)]
        calls = [side.call("NodePrepareResources", claim) for claim, side in zip(claims, [one, other] * 2, strict=True)]
        answers = await asyncio.gather(*calls)
        assert [answer[claim.uid].error for answer, claim in zip(answers, claims, strict=True)] == [""] * 4


UIDS = [f"5f1a6f0c-8a3e-4b1a-9a55-0d2e7b8f6c1{number}" for number in range(4)]

"""Drivers on real sockets that behave badly, and what the agent makes of them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from dray.api.core.pod import Pod
from dray.api.meta import ObjectMeta
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.client.port import ListOptions
from dray.driver.claims import ClaimRef
from dray.node.agent import NodeAgent, NodeParts
from dray.node.checkpoint import FileCheckpoint
from dray.node.core.claims import ClaimPlan, PreparationFailed
from dray.node.core.prepared_claims import PreparedClaims
from dray.node.registration import NodeFacts
from dray.node.runtime.devices import CdiSpecs
from dray.node.runtime.simulated import SimulatedNetwork, SimulatedRuntime
from dray.protocol import health_v1_pb2, podresources_v1_pb2
from tests.unit.node.grpcdriver import NAME, GrpcDriver, open_driver
from tests.unit.node.world import World, open_world


@dataclass
class Site:
    """A node with a registration directory."""

    world: World
    root: Path
    agent: NodeAgent

    def driver(self, **options: Any) -> GrpcDriver:
        return GrpcDriver(self.root, **options)

    async def connected(self) -> None:
        await self.world.until(lambda: NAME in self.agent.drivers.connected)

    async def pod_with_claim(self, name: str = "p", **more: Any) -> Pod:
        await self.world.add_claim(f"c-{name}")
        return await self.world.add_pod(name, claims=[f"c-{name}"], **more)


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> AbstractAsyncContextManager[Site]:
    # Paths of sockets may have 107 bytes at most.
    return open_site(tmp_path_factory.mktemp("k"))


@asynccontextmanager
async def open_site(root: Path) -> AsyncIterator[Site]:
    async with open_world() as world:
        yield Site(world, root, await add_node(world, root))


async def add_node(world: World, root: Path) -> NodeAgent:
    runtime = SimulatedRuntime(world.clock, world.fleet.around.timers, CdiSpecs(list), SimulatedNetwork())
    parts = NodeParts(name="node-a", runtime=runtime, checkpoint=FileCheckpoint(root), plugin_root=root)
    return await world.fleet.add_node(NodeFacts("node-a", runtime.version), parts)


async def test_a_driver_registers_and_serves_a_pod(site: Site) -> None:
    async with open_driver(site.driver()) as driver:
        await site.connected()
        await site.pod_with_claim()
        await site.world.wait_phase("p", "Running")
        await site.world.delete("p")
        await site.world.wait_gone("p")
        assert driver.notified == [(True, "")]
        assert driver.calls == [("prepare", ("c-p",)), ("unprepare", ("c-p",))]


@pytest.mark.parametrize(
    ("versions", "want"),
    [
        (("v1beta1.DRAPlugin",), True),
        (("v2.DRAPlugin", "v1.DRAPlugin"), True),
        (("1.0.0",), False),
        ((), False),
    ],
)
async def test_versions_are_agreed_on_or_refused(site: Site, versions: tuple[str, ...], want: bool) -> None:
    async with open_driver(site.driver(versions=versions)) as driver:
        await site.world.until(lambda: driver.notified)
        assert driver.notified[0][0] is want
        if want:
            await site.pod_with_claim()
            await site.world.wait_phase("p", "Running")
        else:
            assert driver.notified[0][1]


async def test_a_plugin_of_another_type_is_refused(site: Site) -> None:
    async with open_driver(site.driver(type="CSIPlugin")) as driver:
        await site.world.until(lambda: driver.notified)
        told, error = driver.notified[0]
        assert not told
        assert error.startswith("no handler registered for plugin type: CSIPlugin")


async def test_a_driver_that_does_not_take_its_registration_is_asked_again(site: Site) -> None:
    async with open_driver(site.driver(refusals=1)) as driver:
        await site.connected()
        await site.world.until(lambda: len(driver.notified) == 2)
        assert driver.notified == [(True, ""), (True, "")]


async def test_two_sockets_cannot_register_one_endpoint(site: Site) -> None:
    async with open_driver(site.driver()) as first:
        await site.connected()
        second = GrpcDriver(site.root, instance="")
        second_registration = first.registration.with_name("other-reg.sock")
        second.__class__ = type("Elsewhere", (GrpcDriver,), {"registration": second_registration})
        async with serve_registration(second):
            await site.world.until(lambda: second.notified)
            told, error = second.notified[0]
            assert not told
            assert "already registered" in error
        await site.pod_with_claim()
        await site.world.wait_phase("p", "Running")


@asynccontextmanager
async def serve_registration(driver: GrpcDriver) -> AsyncIterator[None]:
    from dray.protocol import registration_v1_pb2_grpc  # noqa: PLC0415
    from tests.unit.node.grpcdriver import _Registration  # noqa: PLC0415

    server = grpc.aio.server()
    registration_v1_pb2_grpc.add_RegistrationServicer_to_server(_Registration(driver), server)
    server.add_insecure_port(f"unix:{driver.registration}")
    await server.start()
    yield
    await server.stop(None)
    driver.registration.unlink(missing_ok=True)


def drop_all(response: Any) -> None:
    response.claims.clear()


def answer_for_another(response: Any) -> None:
    response.claims["0000"].SetInParent()


def fail_all(response: Any) -> None:
    for uid in response.claims:
        response.claims[uid].error = "device is on fire"


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        (grpc.StatusCode.UNAVAILABLE, "NodePrepareResources: rpc error: code = Unavailable desc = told to fail"),
        (drop_all, "NodePrepareResources skipped 1 ResourceClaims"),
        (answer_for_another, "NodePrepareResources returned result for unknown claim UID 0000"),
        (fail_all, "NodePrepareResources failed for ResourceClaim c-p: device is on fire"),
    ],
)
async def test_bad_answers_keep_a_pod_pending_until_the_next_try(
    site: Site, answer: grpc.StatusCode | Callable[[Any], None], want: str
) -> None:
    async with open_driver(site.driver(answers=[answer])) as driver:
        await site.connected()
        await site.pod_with_claim()
        await site.world.until(lambda: site.world.events("FailedPrepareDynamicResources"))
        (text,) = await site.world.events("FailedPrepareDynamicResources")
        assert text == f"Failed to prepare dynamic resources: prepare dynamic resources: {want}"
        assert (await site.world.pod("p")).status.phase == "Pending"
        # A driver that connects anew is what the pod may have waited for.
        site.agent.driver_connected(NAME)
        await site.world.wait_phase("p", "Running")
        assert driver.count("prepare") == 2


async def test_one_claim_of_two_that_fails_leaves_the_other_to_be_prepared_again(site: Site) -> None:
    def fail_first(response: Any) -> None:
        uid = sorted(response.claims)[0]
        response.claims[uid].error = "not this one"

    async with open_driver(site.driver(answers=[fail_first])) as driver:
        await site.connected()
        for name in ("one", "two"):
            await site.world.add_claim(name)
        await site.world.add_pod("p", claims=["one", "two"])
        await site.world.until(lambda: site.world.events("FailedPrepareDynamicResources"))
        site.agent.driver_connected(NAME)
        await site.world.wait_phase("p", "Running")
        assert driver.calls == [("prepare", ("one", "two"))] * 2
        devices = [device.device for record in site.agent.keeper.claims.select() for _, device in record.devices]
        assert devices == ["dev-one", "dev-two"]


async def test_a_slow_driver_holds_up_its_own_pods_alone(site: Site) -> None:
    async with open_driver(site.driver(gate=asyncio.Event())) as driver:
        await site.connected()
        await site.pod_with_claim("slow")
        await site.world.until(lambda: driver.calls)
        await site.world.add_pod("quick")
        await site.world.wait_phase("quick", "Running")
        assert (await site.world.pod("slow")).status.phase == "Pending"
        assert driver.gate is not None
        driver.gate.set()
        await site.world.wait_phase("slow", "Running")


async def test_a_pod_deleted_while_its_driver_hangs_gives_everything_back(site: Site) -> None:
    async with open_driver(site.driver(gate=asyncio.Event())) as driver:
        await site.connected()
        await site.pod_with_claim()
        await site.world.until(lambda: driver.calls)
        await site.world.delete("p")
        assert driver.gate is not None
        driver.gate.set()
        await site.world.wait_gone("p")
        assert driver.calls == [("prepare", ("c-p",)), ("unprepare", ("c-p",))]


async def test_a_driver_that_dies_in_a_call_and_returns_is_called_again(site: Site) -> None:
    async with open_driver(site.driver(gate=asyncio.Event())) as dying:
        await site.connected()
        await site.pod_with_claim()
        await site.world.until(lambda: dying.calls)
    await site.world.until(lambda: site.world.events("FailedPrepareDynamicResources"))
    async with open_driver(site.driver()) as driver:
        await site.world.wait_phase("p", "Running")
        assert driver.calls == [("prepare", ("c-p",))]


async def test_a_driver_that_unregisters_in_a_call_fails_it_and_is_called_again_when_it_returns(site: Site) -> None:
    async with open_driver(site.driver(gate=asyncio.Event())) as leaving:
        await site.connected()
        await site.pod_with_claim()
        await site.world.until(lambda: leaving.calls)
        leaving.registration.unlink()
        await site.world.until(lambda: site.world.events("FailedPrepareDynamicResources"))
    async with open_driver(site.driver()) as driver:
        await site.world.wait_phase("p", "Running")
        assert driver.calls == [("prepare", ("c-p",))]


async def test_what_a_driver_could_not_take_back_is_taken_back_when_it_returns(site: Site) -> None:
    async with open_driver(site.driver()) as leaving:
        await site.connected()
        await site.pod_with_claim()
        await site.world.wait_phase("p", "Running")
        leaving.answers.append(grpc.StatusCode.UNAVAILABLE)
        await site.world.delete("p", grace_seconds=0)
        await site.world.until(lambda: leaving.count("unprepare"))
    async with open_driver(site.driver()) as driver:
        await site.world.until(lambda: driver.calls)
        assert driver.calls == [("unprepare", ("c-p",))]
        await site.world.until(lambda: len(site.agent.keeper.claims) == 0)


async def test_claims_of_pods_that_went_while_no_agent_ran_are_taken_back_when_their_driver_comes(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("k")
    async with open_world() as world:
        claim = await world.add_claim("c")
        left = PreparedClaims()
        ref = ClaimRef(namespace="default", name="c", uid=claim.metadata.uid)
        left.reserve(ClaimPlan(ref, {NAME: ()}), "uid-of-a-pod-that-is-gone")
        before = FileCheckpoint(root)
        before.load_claims()
        await before.save_claims(left)
        before.close()
        site = Site(world, root, await add_node(world, root))
        assert len(site.agent.keeper.claims) == 1
        async with open_driver(site.driver()) as driver:
            await world.until(lambda: len(site.agent.keeper.claims) == 0)
            assert driver.calls == [("unprepare", ("c",))]


async def test_a_rolling_update_calls_the_newest_and_keeps_slices(site: Site) -> None:
    async with open_driver(site.driver(instance="-a")) as old:
        await site.connected()
        await add_slice(site.world)
        async with open_driver(site.driver(instance="-b")) as new:
            await site.world.until(lambda: new.notified)
            await site.world.until(lambda: site.agent.drivers.choose(NAME).endpoint == str(new.endpoint))
            await site.pod_with_claim("second")
            await site.world.wait_phase("second", "Running")
            assert (old.calls, new.calls) == ([], [("prepare", ("c-second",))])
        await site.world.until(lambda: site.agent.drivers.choose(NAME).endpoint == str(old.endpoint))
        await site.pod_with_claim("third")
        await site.world.wait_phase("third", "Running")
        assert old.calls == [("prepare", ("c-third",))]
        assert await list_slices(site.world) == ["gpu-slice"]


async def test_a_driver_that_is_not_there_is_named(site: Site) -> None:
    pod = await site.pod_with_claim()
    with pytest.raises(PreparationFailed, match=f"DRA driver {NAME} is not registered"):
        await site.agent.keeper.prepare(pod)
    assert len(site.agent.keeper.claims) == 0
    async with open_driver(site.driver()):
        await site.world.wait_phase("p", "Running")


async def test_health_reaches_the_status_of_pods(site: Site) -> None:
    versions = ("v1.DRAPlugin", "v1.DRAResourceHealth")
    async with open_driver(site.driver(versions=versions)) as driver:
        await site.connected()
        await site.pod_with_claim()
        await site.world.wait_phase("p", "Running")
        await site.world.wait("p", lambda pod: find_health(pod) == ("Unknown", None))
        device = health_v1_pb2.DeviceIdentifier(pool_name="node-a", device_name="dev-c-p")
        bad = health_v1_pb2.DeviceHealth(device=device, health=health_v1_pb2.UNHEALTHY, message="too hot")
        driver.reports.put_nowait([bad])
        await site.world.wait("p", lambda pod: find_health(pod) == ("Unhealthy", "too hot"))
    await site.world.wait("p", lambda pod: find_health(pod) == ("Unknown", None))


def find_health(pod: Pod) -> tuple[str, str | None] | None:
    for status in pod.status.container_statuses:
        for each in status.allocated_resources_status:
            return each.resources[0].health, each.resources[0].message
    return None


async def test_slices_of_a_driver_that_was_there_before_the_agent_are_wiped(tmp_path: Path) -> None:
    async with open_world() as world:
        await add_slice(world)
        await add_slice(world, name="elsewhere", node="node-b")
        await add_node(world, tmp_path)
        await world.until(lambda: has_only(world, "elsewhere"))


async def has_only(world: World, name: str) -> bool:
    return await list_slices(world) == [name]


async def add_slice(world: World, *, name: str = "gpu-slice", node: str = "node-a") -> None:
    pool = ResourcePool(name=node, generation=1, resource_slice_count=1)
    spec = ResourceSliceSpec(driver=NAME, node_name=node, pool=pool)
    await world.client.create(RESOURCE_SLICE, ResourceSlice(metadata=ObjectMeta(name=name), spec=spec))


async def list_slices(world: World) -> list[str]:
    listed = await world.client.list(RESOURCE_SLICE, ListOptions())
    return [each.metadata.name for each in listed.items]


async def test_pod_resources_are_listed_on_a_socket(site: Site) -> None:
    async with open_driver(site.driver()):
        await site.connected()
        await site.pod_with_claim()
        await site.world.wait_phase("p", "Running")
        socket = site.root / "pod-resources" / "kubelet.sock"
        async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
            ask = channel.unary_unary(
                "/v1.PodResourcesLister/List",
                request_serializer=podresources_v1_pb2.ListPodResourcesRequest.SerializeToString,
                response_deserializer=podresources_v1_pb2.ListPodResourcesResponse.FromString,
            )
            response = await ask(podresources_v1_pb2.ListPodResourcesRequest(), wait_for_ready=True)
        (pod,) = response.pod_resources
        (resource,) = pod.containers[0].dynamic_resources
        assert (pod.name, resource.claim_name) == ("p", "c-p")
        assert resource.claim_resources[0].device_name == "dev-c-p"

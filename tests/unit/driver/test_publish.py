"""Publishing to a server: repairs, refusals, dropped fields, owners."""

import asyncio
import dataclasses
from typing import cast

import pytest
from msgspec.structs import replace

from dray.api.core.kinds import NODE as NODE_KIND
from dray.api.core.node import Node
from dray.api.kind import Kind
from dray.api.meta import ApiObject, ObjectMeta
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice
from dray.client.port import PLAIN, Client, ObjectName, WriteOptions
from dray.driver import (
    Counter,
    CounterSet,
    Device,
    DeviceCounterConsumption,
    Devices,
    DeviceTaint,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pool,
    Quantity,
    Reach,
)
from tests.unit.driver.world import NODE, EchoDriver, World, echo_device, open_world

REPAIR_SECONDS = 5.0


def test_devices_are_published_for_the_node_that_owns_them() -> None:
    async def scenario() -> None:
        async with open_world() as world, world.start(EchoDriver()) as local:
            await local.host.wait_published()
            (published,) = await world.slices()
            node = await world.client.get(NODE_KIND, ObjectName(NODE))
            (owner,) = published.metadata.owner_references
            assert (owner.kind, owner.api_version, owner.name, owner.uid) == ("Node", "v1", NODE, node.metadata.uid)
            assert owner.controller
            assert published.metadata.name.startswith("00000-echo.example.com-node-a-")
            assert published.spec.node_name == NODE
            assert (published.spec.pool.name, published.spec.pool.generation) == (NODE, 1)
            assert await world.device_names() == ["echo-0", "echo-1", "echo-2"]

    asyncio.run(scenario())


def test_same_devices_again_cost_no_write() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            await local.host.wait_published()
            before = await world.slices()
            local.host.devices_changed()
            await world.settle()
            await world.clock.advance(120.0)
            await world.settle()
            assert driver.calls.count("devices") == 2
            assert await world.slices() == before

    asyncio.run(scenario())


def test_driver_that_starts_again_finds_its_slices_and_leaves_them() -> None:
    async def scenario() -> None:
        async with open_world() as world:
            async with world.start(EchoDriver()) as local:
                await local.host.wait_published()
            before = await world.slices()
            async with world.start(EchoDriver()) as local:
                await local.host.wait_published()
            assert before
            assert await world.slices() == before

    asyncio.run(scenario())


def test_slice_that_somebody_deleted_or_changed_is_put_right() -> None:
    async def scenario() -> None:
        async with open_world() as world, world.start(EchoDriver()) as local:
            await local.host.wait_published()
            await world.settle()
            (published,) = await world.slices()
            await world.client.delete(RESOURCE_SLICE, ObjectName(published.metadata.name))
            await world.settle()
            assert await world.device_names() == []
            await world.clock.advance(REPAIR_SECONDS)
            await world.settle()
            assert await world.device_names() == ["echo-0", "echo-1", "echo-2"]
            (again,) = await world.slices()
            meddled = replace(again, spec=replace(again.spec, devices=(echo_device(7),)))
            await world.client.update(RESOURCE_SLICE, meddled)
            await world.settle()
            await world.clock.advance(REPAIR_SECONDS)
            await world.settle()
            assert await world.device_names() == ["echo-0", "echo-1", "echo-2"]

    asyncio.run(scenario())


def test_withdrawn_pool_is_deleted_and_an_empty_one_is_not() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            await local.host.wait_published()
            driver.offers = Devices.of()
            local.host.devices_changed()
            await world.settle()
            assert [each.spec.devices for each in await world.slices()] == [None]
            driver.offers = Devices()
            local.host.devices_changed()
            await world.settle()
            assert await world.slices() == []

    asyncio.run(scenario())


def test_new_taint_gets_a_time_and_keeps_it() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        sick = replace(echo_device(0), taints=(DeviceTaint(key="example.com/sick", effect="NoSchedule"),))
        driver.offers = Devices.of(sick)
        async with open_world() as world, world.start(driver) as local:
            await local.host.wait_published()
            (before,) = await world.slices()
            assert before.spec.devices is not None
            assert before.spec.devices[0].taints[0].time_added is not None
            await world.clock.advance(60.0)
            local.host.devices_changed()
            await world.settle()
            assert await world.slices() == [before]

    asyncio.run(scenario())


def test_node_that_was_made_anew_owns_the_new_slices() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            await local.host.wait_published()
            await world.client.delete(NODE_KIND, ObjectName(NODE))
            new = await world.client.create(NODE_KIND, Node(metadata=ObjectMeta(name=NODE)))
            (published,) = await world.slices()
            await world.client.delete(RESOURCE_SLICE, ObjectName(published.metadata.name))  # as garbage collection does
            await world.settle()
            await world.clock.advance(REPAIR_SECONDS)
            await world.settle()
            (again,) = await world.slices()
            assert [each.uid for each in again.metadata.owner_references] == [new.metadata.uid]

    asyncio.run(scenario())


BROKEN = {
    "two devices of one name": Pool(devices=(echo_device(0), echo_device(0))),
    "an unknown counter set": Pool(
        devices=(Device(name="a", consumes_counters=(DeviceCounterConsumption(counter_set="card"),)),)
    ),
    "an unknown counter": Pool(
        devices=(
            Device(
                name="a",
                consumes_counters=(
                    DeviceCounterConsumption(counter_set="card", counters={"cores": Counter(value=Quantity.of(1))}),
                ),
            ),
        ),
        counter_sets=(CounterSet(name="card", counters={"memory": Counter(value=Quantity.of(1))}),),
    ),
    "two counter sets of one name": Pool(
        counter_sets=(CounterSet(name="card", counters={"memory": Counter(value=Quantity.of(1))}),) * 2
    ),
    "a shared pool without a name": Pool(devices=(echo_device(0),), reachable_from=Reach.EVERY_NODE),
}


@pytest.mark.parametrize("pool", BROKEN.values(), ids=BROKEN.keys())
def test_pool_that_contradicts_itself_is_not_written(pool: Pool) -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        driver.offers = Devices((pool,))
        async with open_world() as world, world.start(driver):
            await world.settle()
            assert await world.slices() == []
            assert "devices cannot be published" in world.errors

    asyncio.run(scenario())


def test_what_the_server_refuses_is_tried_again_and_complained_of_once() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        driver.offers = Devices.of(Device(name="Not A Label"))
        async with open_world() as world, world.start(driver) as local:
            await world.settle()
            assert "spec.devices[0].name" in local.host.publish_error
            for _ in range(5):
                await world.clock.advance(60.0)
                await world.settle()
            assert world.errors.count("devices are not published") == 1
            driver.offers = Devices.of(echo_device(1))
            local.host.devices_changed()
            await world.settle()
            assert local.host.publish_error == ""
            assert await world.device_names() == ["echo-1"]

    asyncio.run(scenario())


def test_driver_that_cannot_tell_its_devices_is_asked_again() -> None:
    async def scenario() -> None:
        driver = EchoDriver()

        def fail(call: str) -> None:
            if call == "devices" and driver.calls.count("devices") < 3:
                raise RuntimeError("the library is not loaded yet")

        driver.fail = fail
        async with open_world() as world, world.start(driver):
            for _ in range(3):
                await world.settle()
                await world.clock.advance(2.0)
            await world.settle()
            assert await world.device_names() == ["echo-0", "echo-1", "echo-2"]

    asyncio.run(scenario())


def test_hardware_that_does_not_say_when_it_changes_is_looked_at_again() -> None:
    class Rescanning(EchoDriver):
        rescan_seconds = 30.0

    async def scenario() -> None:
        driver = Rescanning()
        async with open_world() as world, world.start(driver) as local:
            await local.host.wait_published()
            driver.offers = Devices.of(echo_device(5))
            await world.clock.advance(30.0)
            await world.settle()
            assert await world.device_names() == ["echo-5"]

    asyncio.run(scenario())


SELECTOR = NodeSelector(
    node_selector_terms=(
        NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key="rack", operator="In", values=("a",)),)),
    )
)


@pytest.mark.parametrize("reach", [Reach.EVERY_NODE, Reach.EACH_DEVICE_SAYS, SELECTOR], ids=["all", "each", "selector"])
def test_pool_that_several_nodes_reach_belongs_to_none(reach: Reach | NodeSelector) -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        device = replace(echo_device(0), all_nodes=True if reach is Reach.EACH_DEVICE_SAYS else None)
        driver.offers = Devices((Pool(name="fabric", devices=(device,), reachable_from=reach), Pool()))
        async with open_world() as world, world.start(driver) as local:
            await local.host.wait_published()
            (own,) = [each for each in await world.slices() if each.spec.pool.name == NODE]
            (shared,) = [each for each in await world.slices() if each.spec.pool.name == "fabric"]
            assert own.spec.node_name == NODE
            assert shared.spec.node_name is None
            assert shared.metadata.owner_references == ()
            assert shared.metadata.name.startswith("00000-echo.example.com-")
            assert NODE not in shared.metadata.name
            driver.offers = Devices.of()
            local.host.devices_changed()
            await world.settle()
            assert [each.spec.pool.name for each in await world.slices()] == [NODE]

    asyncio.run(scenario())


def test_driver_without_a_node_cannot_have_the_pool_of_its_node() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        driver.offers = Devices((Pool(),))
        async with open_world() as world:
            world.node = dataclasses.replace(world.node, name="")
            async with world.start(driver):
                await world.settle()
                (refusal,) = [each for each in world.log.entries if each.message == "devices cannot be published"]
                assert "say what its pools are reachable from" in str(refusal.facts["err"])
                assert await world.slices() == []

    asyncio.run(scenario())


def test_pools_of_no_node_that_others_named_are_left_alone() -> None:
    async def scenario() -> None:
        mine, other = EchoDriver(), EchoDriver()
        mine.offers = Devices((Pool(name="mine", reachable_from=Reach.EVERY_NODE),))
        other.offers = Devices((Pool(name="other", reachable_from=Reach.EVERY_NODE),))
        async with open_world() as world:
            async with world.start(other) as local:
                await local.host.wait_published()
            async with world.start(mine) as local:
                await local.host.wait_published()
                await world.clock.advance(60.0)
                await world.settle()
                assert sorted(each.spec.pool.name for each in await world.slices()) == ["mine", "other"]

    asyncio.run(scenario())


class Forgetful:
    """A server that knows nothing of taints."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.writes = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)

    async def create(
        self, kind: Kind[ApiObject], thing: ApiObject, options: WriteOptions = PLAIN, *, subresource: str = ""
    ) -> ApiObject:
        return await self._client.create(kind, self._forget(thing), options, subresource=subresource)

    async def update(
        self, kind: Kind[ApiObject], thing: ApiObject, options: WriteOptions = PLAIN, *, subresource: str = ""
    ) -> ApiObject:
        return await self._client.update(kind, self._forget(thing), options, subresource=subresource)

    def _forget(self, thing: ApiObject) -> ApiObject:
        if not isinstance(thing, ResourceSlice):
            return thing
        self.writes += 1
        devices = tuple(replace(each, taints=()) for each in thing.spec.devices or ())
        return replace(thing, spec=replace(thing.spec, devices=devices))


def test_fields_that_the_server_drops_are_complained_of_once_and_not_fought_for() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        sick = replace(echo_device(0), taints=(DeviceTaint(key="example.com/sick", effect="NoSchedule"),))
        driver.offers = Devices.of(sick)
        async with open_world() as world:
            forgetful = Forgetful(world.client)
            world.node = dataclasses.replace(
                world.node, client=cast("Client", forgetful)
            )  # it hands on whatever it does not change
            async with world.start(driver) as local:
                await local.host.wait_published()
                for _ in range(3):
                    local.host.devices_changed()
                    await world.clock.advance(60.0)
                    await world.settle()
                assert forgetful.writes == 1
                (complaint,) = [each for each in world.log.entries if each.message.startswith("API server dropped")]
                assert complaint.facts["features"] == "DRADeviceTaints"
                driver.offers = Devices.of(sick, echo_device(1))
                local.host.devices_changed()
                await world.settle()
                assert await world.device_names() == ["echo-0", "echo-1"]

    asyncio.run(scenario())


def test_big_pool_is_published_whole_and_in_order() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        names = [f"echo-{number}" for number in range(300)]
        driver.offers = Devices.of(*(echo_device(number) for number in range(300)))
        async with open_world() as world, world.start(driver) as local:
            await local.host.wait_published()
            assert await world.device_names() == names
            await check_one_write(world, local.host.devices_changed, driver)

    async def check_one_write(world: World, changed: object, driver: EchoDriver) -> None:
        before = {each.metadata.name: each.metadata.resource_version for each in await world.slices()}
        devices = [echo_device(number) for number in range(300)]
        devices[150] = echo_device(150, model="other")
        driver.offers = Devices.of(*devices)
        assert callable(changed)
        changed()
        await world.settle()
        after = {each.metadata.name: each.metadata.resource_version for each in await world.slices()}
        assert len([name for name in before if before[name] != after[name]]) == 1

    asyncio.run(scenario())

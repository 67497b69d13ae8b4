"""Pods on a node, from binding to the end, with a fake driver and simulated containers."""

import asyncio

from dray.api.core.pod import Pod
from dray.client.port import LogOptions
from tests.unit.node.world import World, open_world


async def test_a_pod_runs_and_is_deleted(world: World) -> None:
    await world.add_node()
    await world.add_pod("p")
    pod = await world.wait_phase("p", "Running")
    assert pod.status.container_statuses[0].ready
    assert {each.type: each.status for each in pod.status.conditions} == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
        "PodScheduled": "True",
    }
    await world.delete("p")
    await world.wait_gone("p")
    await world.until(lambda: not world.fleet.agents["node-a"].pods)


async def test_a_pod_gets_its_claim_and_gives_it_back(world: World) -> None:
    agent = await world.add_node()
    claim = await world.add_claim("c")
    await world.add_pod("p", claims=["c"])
    await world.wait_phase("p", "Running")
    assert world.driver.calls == [("prepare", ("c",))]
    task = agent.pods[0]
    log = b"".join([piece async for piece in await agent.runtime.open_log(task.pod, "main", LogOptions())])
    assert f"GPU={claim.metadata.uid}\n".encode() in log
    await world.delete("p")
    await world.wait_gone("p")
    assert world.driver.calls == [("prepare", ("c",)), ("unprepare", ("c",))]
    assert len(agent.keeper.claims) == 0


async def test_a_pod_that_ends_by_itself_succeeds_after_its_devices_were_given_back(world: World) -> None:
    await world.add_node()
    await world.add_claim("c")
    world.driver.failures = ["", "not yet"]
    annotations, spec = {"sim.dray.dev/run-seconds": "0"}, {"restartPolicy": "Never"}
    await world.add_pod("p", claims=["c"], annotations=annotations, spec=spec)
    await world.until(lambda: len(world.driver.calls) == 2)
    pod = await world.wait("p", has_ended)
    assert pod.status.phase != "Succeeded"


def has_ended(pod: Pod) -> bool:
    return any(each.state.terminated is not None for each in pod.status.container_statuses)


async def test_driver_that_failed_is_asked_again_until_it_can() -> None:
    async with open_world(retry_seconds=0.01) as world:
        await world.add_node()
        await world.add_claim("c")
        world.driver.failures = ["busy", "still busy"]
        await world.add_pod("p", claims=["c"])
        await world.wait("p", lambda pod: pod.status.phase == "Running")
        assert len(world.driver.calls) == 3


async def test_preparing_that_fails_is_told_and_leaves_the_pod_pending(world: World) -> None:
    await world.add_node()
    await world.add_claim("c")
    world.driver.failures = ["no such device"]
    await world.add_pod("p", claims=["c"])
    await world.until(lambda: world.driver.calls)
    await world.until(lambda: world.events("FailedPrepareDynamicResources"))
    (text,) = await world.events("FailedPrepareDynamicResources")
    assert text == (
        "Failed to prepare dynamic resources: prepare dynamic resources: NodePrepareResources failed for "
        "ResourceClaim c: no such device"
    )
    assert (await world.pod("p")).status.phase == "Pending"
    await world.delete("p")
    await world.wait_gone("p")
    assert world.driver.calls[-1] == ("unprepare", ("c",))


async def test_two_pods_share_a_claim_and_the_last_one_gives_it_back(world: World) -> None:
    await world.add_node()
    await world.add_claim("c")
    world.driver.gate = asyncio.Event()
    await world.add_pod("one", claims=["c"])
    await world.add_pod("two", claims=["c"])
    await world.until(lambda: world.driver.calls)
    world.driver.gate.set()
    await world.wait_phase("one", "Running")
    await world.wait_phase("two", "Running")
    await world.delete("one")
    await world.wait_gone("one")
    assert world.driver.calls == [("prepare", ("c",))]
    await world.delete("two")
    await world.wait_gone("two")
    assert world.driver.calls == [("prepare", ("c",)), ("unprepare", ("c",))]


async def test_a_claim_that_was_allocated_anew_waits_until_its_earlier_devices_are_taken_back(world: World) -> None:
    await world.add_node()
    await world.add_claim("c")
    stops = {"sim.dray.dev/stop-seconds": "0.3"}
    await world.add_pod("old", claims=["c"], annotations=stops)
    await world.wait_phase("old", "Running")
    await world.delete("old", grace_seconds=0)  # gone from the server, while its container takes its time
    await world.move_claim("c", "other")
    await world.add_pod("new", claims=["c"])
    await world.wait_phase("new", "Running")
    assert world.driver.calls == [("prepare", ("c",)), ("unprepare", ("c",)), ("prepare", ("c",))]
    (text,) = await world.events("FailedPrepareDynamicResources")
    assert text.endswith("ResourceClaim c has other devices than are prepared for an earlier pod")


async def test_a_claim_made_anew_under_its_name_waits_until_the_old_one_is_taken_back(world: World) -> None:
    await world.add_node()
    old = await world.add_claim("c")
    stops = {"sim.dray.dev/stop-seconds": "0.3"}
    await world.add_pod("old", claims=["c"], annotations=stops)
    await world.wait_phase("old", "Running")
    await world.delete("old", grace_seconds=0)
    await world.remove_claim("c")
    await world.add_claim("c")
    await world.add_pod("new", claims=["c"])
    await world.wait_phase("new", "Running")
    (text,) = await world.events("FailedPrepareDynamicResources")
    assert f"old ResourceClaim with same name c and different UID {old.metadata.uid} still exists" in text
    assert world.driver.calls == [("prepare", ("c",)), ("unprepare", ("c",)), ("prepare", ("c",))]


async def test_a_pod_whose_driver_refused_it_is_tried_again_when_that_driver_took_something_back(world: World) -> None:
    await world.add_node()
    await world.add_claim("c")
    await world.add_claim("d")
    await world.add_pod("old", claims=["c"], annotations={"sim.dray.dev/stop-seconds": "0.3"})
    await world.wait_phase("old", "Running")
    await world.delete("old", grace_seconds=0)
    world.driver.failures = ["device is in use by claim c"]
    await world.add_pod("new", claims=["d"])
    await world.wait_phase("new", "Running")
    assert world.driver.calls == [("prepare", ("c",)), ("prepare", ("d",)), ("unprepare", ("c",)), ("prepare", ("d",))]


async def test_a_refusal_that_is_known_only_after_something_was_taken_back_does_not_last(world: World) -> None:
    await world.add_node()
    await world.add_claim("c")
    await world.add_claim("d")
    await world.add_pod("old", claims=["c"])
    await world.wait_phase("old", "Running")
    refusing = world.driver.gates["d"] = asyncio.Event()
    world.driver.failures = ["device is in use by claim c"]
    await world.add_pod("new", claims=["d"])
    await world.until(lambda: world.driver.calls[-1] == ("prepare", ("d",)))
    await world.delete("old", grace_seconds=0)
    await world.until(lambda: not world.driver.prepared)
    refusing.set()
    await world.wait_phase("new", "Running")
    assert world.driver.calls == [("prepare", ("c",)), ("prepare", ("d",)), ("unprepare", ("c",)), ("prepare", ("d",))]


async def test_agent_that_remembers_nothing_prepares_claims_of_running_pods_anew(world: World) -> None:
    first = await world.add_node()
    await world.add_claim("c")
    await world.add_pod("p", claims=["c"])
    before = await world.wait_phase("p", "Running")
    calls = list(world.driver.calls)
    await first.aclose()
    await world.add_node()
    await world.until(lambda: world.driver.calls == calls + calls)
    after = await world.pod("p")
    assert after.status.phase == "Running"
    assert [each.container_id for each in after.status.container_statuses] == [
        each.container_id for each in before.status.container_statuses
    ]
    await world.delete("p")
    await world.wait_gone("p")
    assert len(world.driver.calls) == 2 * len(calls) + 1

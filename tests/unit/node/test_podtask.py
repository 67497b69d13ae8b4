"""Pods on a node, from binding to the end, with a fake driver and simulated containers."""

import asyncio

from dray.api.core.pod import Pod
from dray.client.port import LogOptions
from tests.unit.node.world import World


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

"""How many pods may share a claim: as many as the API takes, the others when there is room."""

from dray.api.core.kinds import POD
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.port import ObjectName, Patch, PatchType
from tests.cases.scheduling.terse import NAMESPACE_NAME, store
from tests.unit.scheduler.quietloop import run_quietly
from tests.unit.scheduler.rig import Rig, rigged

LIMIT = 256
MORE = 3
LONGEST_BACKOFF = 10


async def placed(rig: Rig) -> set[str]:
    return {pod.metadata.name for pod in (await rig.client.list(POD)).items if pod.spec.node_name}


def test_pods_beyond_the_limit_run_when_others_are_done() -> None:
    async def run() -> None:
        async with rigged() as rig:
            for thing in (
                {"node": "a", "cpu": 1000, "pods": 1000},
                {"class": "gpu"},
                {"claim": "shared", "ask": "gpu"},
                {"devices": ["gpu-0"], "at": "a"},
            ):
                await store(rig.client, thing)
            names = [f"p{number:03}" for number in range(LIMIT + MORE)]
            for name in names:
                await store(rig.client, {"pod": name, "uses": {"gpu": "claim shared"}})
            await rig.settle()
            first = await placed(rig)
            assert len(first) == LIMIT
            late = sorted(set(names) - first)
            for pod in (await rig.client.list(POD)).items:
                if pod.metadata.name in late:
                    (told,) = [each for each in pod.status.conditions if each.type == "PodScheduled"]
                    assert (told.status, told.reason) == ("False", "SchedulerError")
                    assert "add reservation to claim ml/shared" in told.message
            for name in sorted(first)[:MORE]:
                patch = Patch(PatchType.MERGE, b'{"status": {"phase": "Succeeded"}}')
                await rig.client.patch(POD, ObjectName(name, NAMESPACE_NAME), patch, subresource="status")
            await rig.settle()
            for _ in range(3):
                await rig.pass_time(LONGEST_BACKOFF + 1)
            assert await placed(rig) == set(names)
            (claim,) = (await rig.client.list(RESOURCE_CLAIM)).items
            assert len(claim.status.reserved_for) == LIMIT
            assert await rig.audit() == []

    run_quietly(run())

"""One claim that more pods name than it can be reserved for: who is one too many waits until another goes."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import msgspec

from dray.api.core.kinds import NODE, POD
from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.app.clientwire import wire_client
from dray.audit.cluster import MAX_RESERVATIONS
from dray.client.http import HttpClient
from dray.client.port import ObjectName, Patch, PatchType
from dray.effects.clock import SystemClock
from tests.cases.allocator.terse import Raw, decode
from tests.e2e.servers import running_cluster

SHARED = ObjectName("shared", "default")
CLAIM = {
    "metadata": {"name": "shared", "namespace": "default"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
}
ROOM = {"status": {"capacity": {"pods": "400"}, "allocatable": {"pods": "400"}}}
"""More pods than the claim can have, on the one node with the device."""


def pod(number: int) -> Raw:
    container = {"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}
    claims = [{"name": "gpu", "resourceClaimName": "shared"}]
    spec = {"containers": [container], "resourceClaims": claims, "terminationGracePeriodSeconds": 0}
    return {"metadata": {"name": f"pod-{number:03}", "namespace": "default"}, "spec": spec}


async def wait_for(client: HttpClient, is_enough: Callable[[dict[str, Pod]], bool]) -> dict[str, Pod]:
    """Watch pods until they are as wanted."""
    pods: dict[str, Pod] = {}
    async with aclosing(client.watch(POD)) as events:
        async for event in events:
            pods[event.thing.metadata.name] = event.thing
            if is_enough(pods):
                break
    return pods


def count_running(pods: dict[str, Pod]) -> int:
    return sum(each.status.phase == "Running" for each in pods.values())


def list_refused(pods: dict[str, Pod]) -> list[str]:
    """Pods that were told that their claim has no room for them."""
    return [
        name
        for name, each in pods.items()
        if any("status.reservedFor: Too many" in condition.message for condition in each.status.conditions)
    ]


async def share(kubeconfig: Path) -> None:
    async with wire_client({}, SystemClock(), kubeconfig=kubeconfig) as client:
        room = Patch(PatchType.MERGE, msgspec.json.encode(ROOM))
        await client.patch(NODE, ObjectName("t4-vm-0"), room, subresource="status")
        await client.create(RESOURCE_CLAIM, decode(CLAIM, ResourceClaim))
        for number in range(MAX_RESERVATIONS + 1):
            await client.create(POD, decode(pod(number), Pod))
        pods = await wait_for(
            client, lambda each: count_running(each) == MAX_RESERVATIONS and len(list_refused(each)) == 1
        )
        (left,) = list_refused(pods)
        assert (pods[left].spec.node_name, pods[left].status.phase) == ("", "Pending")
        assert len((await client.get(RESOURCE_CLAIM, SHARED)).status.reserved_for) == MAX_RESERVATIONS
        gone = next(name for name, each in pods.items() if each.status.phase == "Running")
        await client.delete(POD, ObjectName(gone, "default"))
        await wait_for(client, lambda each: left in each and each[left].status.phase == "Running")
        assert len((await client.get(RESOURCE_CLAIM, SHARED)).status.reserved_for) == MAX_RESERVATIONS


def test_the_pod_that_is_one_too_many_waits_for_another_to_go(tmp_path: Path) -> None:
    with running_cluster(tmp_path, "t4-vm") as kubeconfig:
        asyncio.run(share(kubeconfig))

import asyncio

from msgspec.structs import replace

from dray.api.core.kinds import POD, RESOURCE_QUOTA
from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodStatus
from dray.api.core.resourcequota import ResourceQuota, ResourceQuotaSpec
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.resource.request import DeviceRequest, ExactDeviceRequest
from dray.client.port import ObjectName
from dray.values.quantity import Quantity
from tests.unit.controllers.cluster import Call
from tests.unit.controllers.running import Cluster, Running, running

DEVICES = "gpu.deviceclass.resource.k8s.io/devices"
CLAIMS = "count/resourceclaims.resource.k8s.io"


def quota(**hard: int) -> ResourceQuota:
    names = {"devices": DEVICES, "claims": CLAIMS, "unserved": "persistentvolumeclaims", "unknown": "count/jobs.batch"}
    amounts = {names.get(name, name): Quantity.of(amount) for name, amount in hard.items()}
    return ResourceQuota(metadata=ObjectMeta(name="q"), spec=ResourceQuotaSpec(hard=amounts))


def claim(name: str, count: int) -> ResourceClaim:
    exactly = ExactDeviceRequest(device_class_name="gpu", allocation_mode="ExactCount", count=count)
    devices = DeviceClaim(requests=(DeviceRequest(name="r", exactly=exactly),))
    return ResourceClaim(metadata=ObjectMeta(name=name), spec=ResourceClaimSpec(devices=devices))


def used(world: Running) -> dict[str, str]:
    found = world.cluster.find(RESOURCE_QUOTA, "q")
    assert found is not None
    assert found.status.hard == found.spec.hard
    return {name: str(amount) for name, amount in found.status.used.items()}


def test_what_is_in_use_is_counted_and_counted_again_when_something_goes() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.put(RESOURCE_CLAIM, claim("a", 2))
        cluster.put(RESOURCE_CLAIM, claim("b", 1))
        cluster.put(RESOURCE_QUOTA, quota(devices=5, claims=4, configmaps=9, unserved=1, unknown=1))
        async with running(cluster) as world:
            assert used(world) == {DEVICES: "3", CLAIMS: "2", "configmaps": "1", "persistentvolumeclaims": "0"}
            await cluster.client.delete(RESOURCE_CLAIM, ObjectName("a", "ml"))
            await world.settle()
            assert used(world) == {DEVICES: "1", CLAIMS: "1", "configmaps": "1", "persistentvolumeclaims": "0"}

    asyncio.run(scenario())


def test_a_pod_that_has_ended_is_in_no_use() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.put(POD, Pod(metadata=ObjectMeta(name="p")))
        cluster.put(RESOURCE_QUOTA, quota(pods=1))
        async with running(cluster) as world:
            assert used(world) == {"pods": "1"}
            pod = cluster.find(POD, "p")
            assert pod is not None
            await cluster.client.update(POD, replace(pod, status=PodStatus(phase="Succeeded")), subresource="status")
            await world.settle()
            assert used(world) == {"pods": "0"}

    asyncio.run(scenario())


def test_changed_limits_come_into_force() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.put(RESOURCE_QUOTA, quota(pods=1))
        async with running(cluster) as world:
            stored = cluster.find(RESOURCE_QUOTA, "q")
            assert stored is not None
            await cluster.client.update(RESOURCE_QUOTA, replace(stored, spec=quota(secrets=3).spec))
            await world.settle()
            assert used(world) == {"secrets": "0"}

    asyncio.run(scenario())


def test_a_charge_that_comes_while_we_count_is_not_overwritten() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.put(RESOURCE_QUOTA, quota(claims=4))

        def charge_once(call: Call) -> None:
            """As admission does: the claim and the quota's use in one transaction, right before our status arrives."""
            stored = cluster.find(RESOURCE_QUOTA, "q")
            if (
                call.verb == "update"
                and call.kind is RESOURCE_QUOTA
                and stored is not None
                and cluster.find(RESOURCE_CLAIM, "a") is None
            ):
                cluster.put(RESOURCE_CLAIM, claim("a", 1))
                charged = replace(stored.status, used={CLAIMS: Quantity.of(1)})
                cluster.put(RESOURCE_QUOTA, replace(stored, status=charged))

        cluster.before_call = charge_once
        async with running(cluster) as world:
            await world.pass_time(1)
            assert used(world) == {CLAIMS: "1"}

    asyncio.run(scenario())

import asyncio

from msgspec.structs import replace

from dray.api.core.configmap import ConfigMap
from dray.api.core.kinds import CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT
from dray.api.meta import DeleteOptions, LabelSelector, ObjectMeta, OwnerReference
from dray.api.rbac.kinds import CLUSTER_ROLE
from dray.api.rbac.role import AggregationRule, ClusterRole, PolicyRule
from dray.api.registry import SERVED
from dray.client.port import ObjectName, Unreachable
from dray.controllers.queue import KeyedQueue
from dray.controllers.runtime import Controller, Effects
from dray.effects.clock import FakeClock
from dray.effects.entropy import SeededEntropy
from dray.effects.log import Level, MemoryLog
from dray.errors import Conflict
from tests.unit.controllers.cluster import Call
from tests.unit.controllers.running import Cluster, running, working


def test_a_key_waits_once_and_is_worked_on_by_one() -> None:
    async def scenario() -> None:
        queue: KeyedQueue[str] = KeyedQueue()
        queue.add("a")
        queue.add("b")
        queue.add("a")
        assert len(queue) == 2
        assert await queue.take() == "a"
        queue.add("a")
        assert await queue.take() == "b"
        queue.finish("b")
        assert not queue.is_idle
        queue.finish("a")
        assert await queue.take() == "a"
        queue.finish("a")
        assert queue.is_idle

    asyncio.run(scenario())


def test_what_fails_is_tried_again_after_growing_delays() -> None:
    async def scenario() -> None:
        clock, log = FakeClock(), MemoryLog()
        tried: list[float] = []

        async def reconcile(key: str) -> float | None:
            tried.append(clock.monotonic())
            if len(tried) == 1:
                raise Conflict("a lost race")
            if len(tried) < 4:
                raise Unreachable("no answer")
            return 100.0 if len(tried) == 4 else None

        controller = Controller("test", reconcile, Effects(clock, SeededEntropy(1), log))
        controller.wake("key")
        task = asyncio.create_task(controller.run())
        for _ in range(200):
            await clock.advance(1)
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert len(tried) == 5
        assert tried[4] == tried[3] + 100
        delays = [float(str(entry.facts["seconds"])) for entry in log.entries]
        assert 0.05 <= delays[0] < delays[1] < delays[2] <= 0.3
        assert [entry.level for entry in log.entries] == [Level.DEBUG, Level.ERROR, Level.ERROR]

    asyncio.run(scenario())


def test_a_key_that_is_woken_often_is_looked_at_again_once() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        tried: list[float] = []

        async def reconcile(key: str) -> float | None:
            tried.append(clock.monotonic())
            return 10.0 if len(tried) < 30 else None

        controller = Controller("test", reconcile, Effects(clock, SeededEntropy(1), MemoryLog()))
        task = asyncio.create_task(controller.run())
        for _ in range(5):
            controller.wake("key")
            for _ in range(5):
                await asyncio.sleep(0)
        assert tried == [0.0] * 5
        for _ in range(100):
            await clock.advance(1)
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert len(tried) in range(14, 16)

    asyncio.run(scenario())


def test_aggregated_roles_are_put_together() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        rule = PolicyRule(verbs=("get",), api_groups=("",), resources=("pods",))
        selector = LabelSelector(match_labels={"to": "view"})
        aggregation = AggregationRule(cluster_role_selectors=(selector,))
        cluster.put(CLUSTER_ROLE, ClusterRole(metadata=ObjectMeta(name="view"), aggregation_rule=aggregation))
        async with running(cluster) as world:
            part = ClusterRole(metadata=ObjectMeta(name="part", labels={"to": "view"}), rules=(rule,))
            await cluster.client.create(CLUSTER_ROLE, part)
            await world.settle()
            view = cluster.find(CLUSTER_ROLE, "view")
            assert view is not None
            assert view.rules == (rule,)
            await cluster.client.delete(CLUSTER_ROLE, ObjectName("part"))
            await world.settle()
            view = cluster.find(CLUSTER_ROLE, "view")
            assert view is not None
            assert view.rules == ()

    asyncio.run(scenario())


class Killed(Exception):
    """The process ends here."""


def test_killed_at_any_request_they_come_to_the_same_end() -> None:
    async def scenario(requests: int) -> bool:
        """Whether there were so many requests at all."""
        cluster = Cluster()
        for name, owner in (("owner", ""), ("child", "owner"), ("grandchild", "child")):
            reference = OwnerReference(api_version="v1", kind="ConfigMap", name=owner, uid=owner)
            reference = replace(reference, block_owner_deletion=True)
            meta = ObjectMeta(name=name, owner_references=(reference,) if owner else ())
            cluster.put(CONFIG_MAP, ConfigMap(metadata=meta), uid=name)
        async with cluster.serving():
            foreground = DeleteOptions(propagation_policy="Foreground")
            await cluster.client.delete(CONFIG_MAP, ObjectName("owner", "ml"), foreground)
            was_killed = await work_until_killed(cluster, requests)
            async with working(cluster) as world:
                await world.pass_time(5)
                assert cluster.names(CONFIG_MAP) == ["kube-root-ca.crt"]
                assert cluster.names(SERVICE_ACCOUNT) == ["default"]
                await cluster.client.delete(NAMESPACE, ObjectName("ml"))
                await world.settle()
                assert cluster.find(NAMESPACE, "ml") is None
        return was_killed

    counts = range(len(tuple(SERVED)), 400)
    assert any(not asyncio.run(scenario(requests)) for requests in counts), "more requests than expected"


async def work_until_killed(cluster: Cluster, requests: int) -> bool:
    left = requests

    def count_down(call: Call) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise Killed

    cluster.before_call = count_down
    async with working(cluster) as world:
        await world.pass_time(5)
    cluster.before_call = lambda call: None
    return left <= 0

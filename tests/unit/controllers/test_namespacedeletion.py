import asyncio

from msgspec.structs import replace

from dray.api.core.configmap import ConfigMap
from dray.api.core.event import Event
from dray.api.core.kinds import CONFIG_MAP, EVENT, NAMESPACE, POD
from dray.api.core.namespace import Namespace, NamespaceCondition
from dray.api.core.pod import Pod
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.port import ObjectName
from dray.controllers.namespacedeletion import Remains, plan_conditions
from dray.values.times import Time
from tests.unit.controllers.cluster import Call
from tests.unit.controllers.running import Cluster, running

NOW = Time(1_767_225_600)


def test_everything_in_a_namespace_goes_then_the_namespace() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.put(CONFIG_MAP, ConfigMap(metadata=ObjectMeta(name="a")))
        cluster.put(POD, Pod(metadata=ObjectMeta(name="p")))
        cluster.put(EVENT, Event(metadata=ObjectMeta(name="e")))
        cluster.put(RESOURCE_CLAIM, ResourceClaim(metadata=ObjectMeta(name="c")))
        cluster.put(CONFIG_MAP, ConfigMap(metadata=ObjectMeta(name="a", namespace="other")))
        async with running(cluster) as world:
            await cluster.client.delete(NAMESPACE, ObjectName("ml"))
            await world.settle()
            assert cluster.find(NAMESPACE, "ml") is None
            assert cluster.names(CONFIG_MAP, "other") == ["a"]
            assert [*cluster.names(POD), *cluster.names(EVENT), *cluster.names(RESOURCE_CLAIM)] == []

    asyncio.run(scenario())


def test_a_namespace_says_what_holds_it_up_and_goes_when_that_is_gone() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.put(CONFIG_MAP, ConfigMap(metadata=ObjectMeta(name="stuck", finalizers=("example.com/x",))))
        async with running(cluster) as world:
            await cluster.client.delete(NAMESPACE, ObjectName("ml"))
            await world.settle()
            namespace = cluster.find(NAMESPACE, "ml")
            assert namespace is not None
            assert [(each.type, each.status, each.reason, each.message) for each in namespace.status.conditions] == [
                (
                    "NamespaceDeletionDiscoveryFailure",
                    "False",
                    "ResourcesDiscovered",
                    "All resources successfully discovered",
                ),
                (
                    "NamespaceDeletionGroupVersionParsingFailure",
                    "False",
                    "ParsedGroupVersions",
                    "All legacy kube types successfully parsed",
                ),
                (
                    "NamespaceDeletionContentFailure",
                    "False",
                    "ContentDeleted",
                    "All content successfully deleted, may be waiting on finalization",
                ),
                (
                    "NamespaceContentRemaining",
                    "True",
                    "SomeResourcesRemain",
                    "Some resources are remaining: configmaps. has 1 resource instances",
                ),
                (
                    "NamespaceFinalizersRemaining",
                    "True",
                    "SomeFinalizersRemain",
                    "Some content in the namespace has finalizers remaining: example.com/x in 1 resource instances",
                ),
            ]
            version = namespace.metadata.resource_version
            await world.pass_time(60)
            namespace = cluster.find(NAMESPACE, "ml")
            assert namespace is not None
            assert namespace.metadata.resource_version == version
            stuck = cluster.find(CONFIG_MAP, "stuck")
            assert stuck is not None
            await cluster.client.update(CONFIG_MAP, replace(stuck, metadata=replace(stuck.metadata, finalizers=())))
            await world.settle()
            assert cluster.find(NAMESPACE, "ml") is None
            assert not world.errors

    asyncio.run(scenario())


def test_what_was_admitted_before_the_deletion_and_comes_late_goes_too() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        late: list[str] = []

        def arrive(call: Call) -> None:
            """The store takes it in after the content was listed, and before the first write that follows."""
            if call.verb == "update" and call.kind is NAMESPACE and not late:
                late.append("late")
                cluster.put(CONFIG_MAP, ConfigMap(metadata=ObjectMeta(name="late")))

        async with running(cluster) as world:
            cluster.before_call = arrive
            await cluster.client.delete(NAMESPACE, ObjectName("ml"))
            await world.settle()
            assert late
            assert cluster.names(CONFIG_MAP) == []
            assert cluster.find(NAMESPACE, "ml") is None

    asyncio.run(scenario())


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    earlier = Time(5)
    namespace = Namespace()
    stuck = Remains(counts=Remains().counts.__class__({"pods.": 1}))
    before = plan_conditions(namespace, stuck, earlier)
    foreign = NamespaceCondition(type="example.com/other", status="True", last_transition_time=earlier)
    namespace = replace(namespace, status=replace(namespace.status, conditions=(foreign, *before)))
    failed = replace_faults(stuck)
    after = {each.type: each for each in plan_conditions(namespace, failed, NOW)}
    assert after["NamespaceContentRemaining"].last_transition_time == earlier
    failure = after["NamespaceDeletionContentFailure"]
    assert (failure.last_transition_time, failure.status) == (NOW, "True")
    assert failure.message == "Failed to delete all resource types, 1 remaining: no way"
    assert after["NamespaceFinalizersRemaining"].reason == "ContentHasNoFinalizers"
    assert after["example.com/other"] == foreign


def replace_faults(remains: Remains) -> Remains:
    return Remains(counts=remains.counts, faults=["no way"])

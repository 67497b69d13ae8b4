"""Claims from templates where others were there first."""

import asyncio

from dray.api.core.kinds import POD
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from dray.api.resource.podclaims import POD_CLAIM_ANNOTATION
from dray.client.port import ObjectName, Unreachable
from dray.controllers.claimants import describe_pod
from dray.controllers.generatedclaims import make_claim
from tests.cases.controllers.world import put
from tests.unit.controllers.cluster import Call, Cluster
from tests.unit.controllers.crew import working_crew

CONTROLLERS = ("resourceclaim-controller",)


def prepare(cluster: Cluster) -> list[ResourceClaim]:
    """A pod that wants a claim, and that claim under the names that are tried one after the other."""
    put(cluster, {"template": "gpus"})
    put(cluster, {"pod": "p", "uses": {"gpu": "template gpus"}})
    pod, template = cluster.find(POD, "p"), cluster.find(RESOURCE_CLAIM_TEMPLATE, "gpus")
    assert pod is not None
    assert template is not None
    return [make_claim(describe_pod(pod).owner, "gpu", template, attempt) for attempt in range(8)]


def recorded_name(cluster: Cluster) -> str | None:
    pod = cluster.find(POD, "p")
    assert pod is not None
    return next((each.resource_claim_name for each in pod.status.resource_claim_statuses), None)


def test_a_name_that_is_somebody_elses_is_left_to_them() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        first, second, *_ = prepare(cluster)
        name = first.metadata.name
        # Not even one of the same pod is taken for the claim of another entry.
        strangers = first.metadata.owner_references
        meta = ObjectMeta(name=name, annotations={POD_CLAIM_ANNOTATION: "other"}, owner_references=strangers)
        cluster.put(RESOURCE_CLAIM, ResourceClaim(metadata=meta, spec=first.spec))
        async with cluster.serving(), working_crew(cluster, CONTROLLERS):
            assert recorded_name(cluster) == second.metadata.name
            assert cluster.names(RESOURCE_CLAIM) == sorted([name, second.metadata.name])

    asyncio.run(scenario())


def test_nothing_is_made_where_all_names_are_taken() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        names = [claim.metadata.name for claim in prepare(cluster)]
        for name in names:
            put(cluster, {"claim": name})
        async with cluster.serving(), working_crew(cluster, CONTROLLERS) as crew:
            assert recorded_name(cluster) is None
            assert cluster.names(RESOURCE_CLAIM) == sorted(names)
            await crew.client.delete(RESOURCE_CLAIM, ObjectName(names[5], "ml"))
            await crew.pass_time(60.0)
            assert recorded_name(cluster) == names[5]

    asyncio.run(scenario())


def test_a_claim_whose_making_was_never_answered_is_the_only_one() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        name = prepare(cluster)[0].metadata.name
        lost = [1, 1]

        def lose(call: Call) -> None:
            if call.verb == "create" and call.kind is RESOURCE_CLAIM and lost:
                lost.pop()
                raise Unreachable("the connection broke off before the answer")

        cluster.after_call = lose
        async with cluster.serving(), working_crew(cluster, CONTROLLERS) as crew:
            await crew.pass_time(5.0)
            assert cluster.names(RESOURCE_CLAIM) == [recorded_name(cluster)] == [name]

    asyncio.run(scenario())

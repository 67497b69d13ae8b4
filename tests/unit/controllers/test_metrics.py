"""What controllers count, as a scrape shows it."""

import asyncio
from collections.abc import Callable

from prometheus_client import CollectorRegistry

from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.errors import Conflict
from tests.cases.controllers.world import put
from tests.unit.controllers.cluster import Call, Cluster
from tests.unit.controllers.crew import Crew, working_crew

CREATES = "dynamic_resource_allocation_resourceclaim_creates_total"
CREATES_BEFORE = "resourceclaim_controller_creates_total"
CLAIMS_BEFORE = "resourceclaim_controller_resource_claims"
CLAIMS = "dynamic_resource_allocation_resource_claims"
DELETIONS = "device_taint_eviction_controller_pod_deletions_total"


def read(registry: CollectorRegistry, name: str) -> dict[tuple[str, ...], float]:
    """Samples of a name by the values of their labels, in the order of the labels' names."""
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == name
    }


def play(controllers: list[str], given: list[dict[str, object]], check: Callable[[Crew], None]) -> None:
    async def scenario() -> None:
        cluster = Cluster()
        for terse in given:
            put(cluster, terse)
        async with cluster.serving(), working_crew(cluster, controllers) as crew:
            check(crew)

    asyncio.run(scenario())


def test_claims_that_were_made_are_counted_by_owner_and_access() -> None:
    def check(crew: Crew) -> None:
        # access, group and kind of the owner, outcome
        assert read(crew.registry, CREATES) == {
            ("false", "", "Pod", "success"): 1.0,
            # The namespace does not let administrators in.
            ("true", "", "Pod", "failure"): 1.0,
            ("false", "scheduling.k8s.io", "PodGroup", "success"): 1.0,
        }
        assert read(crew.registry, CREATES_BEFORE) == {("false", "success"): 2.0, ("true", "failure"): 1.0}

    given: list[dict[str, object]] = [
        {"template": "gpus"},
        {"template": "all", "admin": True},
        {"pod": "p", "uses": {"gpu": "template gpus"}},
        {"pod": "q", "uses": {"gpu": "template all"}},
        {"group": "g", "uses": {"gpu": "template gpus"}},
    ]
    play(["resourceclaim-controller"], given, check)


def test_a_claim_that_could_not_be_made_is_counted_as_such() -> None:
    failures = [1]

    def refuse(call: Call) -> None:
        if call.verb == "create" and call.kind.plural == "resourceclaims" and failures:
            failures.pop()
            raise Conflict("not now")

    async def scenario() -> None:
        cluster = Cluster()
        cluster.before_call = refuse
        put(cluster, {"template": "gpus"})
        put(cluster, {"pod": "p", "uses": {"gpu": "template gpus"}})
        async with cluster.serving(), working_crew(cluster, ["resourceclaim-controller"]) as crew:
            await crew.pass_time(1.0)
            assert read(crew.registry, CREATES) == {
                ("false", "", "Pod", "failure"): 1.0,
                ("false", "", "Pod", "success"): 1.0,
            }

    asyncio.run(scenario())


def test_claims_there_are_are_told_apart_by_where_they_come_from() -> None:
    def check(crew: Crew) -> None:
        # access, whether allocated, where from
        assert read(crew.registry, CLAIMS) == {
            ("false", "true", ""): 1.0,
            ("false", "false", ""): 1.0,
            ("false", "true", "resource_claim_template"): 1.0,
            ("false", "true", "extended_resource"): 1.0,
        }
        assert read(crew.registry, CLAIMS_BEFORE) == read(crew.registry, CLAIMS)

    given: list[dict[str, object]] = [
        {"pod": "p", "uses": {"gpu": "claim mine"}, "node": "n"},
        {"claim": "mine", "devices": ["gpu-0"], "reserved": ["pod p"]},
        {"claim": "idle"},
        {"pod": "q", "uses": {"gpu": "template gpus"}, "made": {"gpu": "made"}, "node": "n"},
        {"claim": "made", "of": "pod q", "entry": "gpu", "devices": ["gpu-1"], "reserved": ["pod q"]},
        {"pod": "r", "extended": "extra", "node": "n"},
        {"claim": "extra", "of": "pod r", "extended": True, "devices": ["gpu-2"], "reserved": ["pod r"]},
    ]
    play(["resourceclaim-controller"], given, check)


def test_evictions_are_counted_once_with_how_late_they_came() -> None:
    def check(crew: Crew) -> None:
        assert read(crew.registry, DELETIONS) == {(): 1.0}
        late = "device_taint_eviction_controller_pod_deletion_duration_seconds"
        assert read(crew.registry, f"{late}_count") == {(): 1.0}
        assert read(crew.registry, f"{late}_sum") == {(): 60.0}

    given: list[dict[str, object]] = [
        {"slice": "s", "devices": {"gpu-0": ["NoExecute broken -60"]}},
        {"claim": "c", "devices": ["gpu-0"], "reserved": ["pod p"]},
        {"pod": "p", "uses": {"gpu": "claim c"}, "node": "n"},
    ]
    play(["device-taint-eviction-controller"], given, check)


def test_queues_tell_what_came_and_what_failed() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        put(cluster, {"template": "gpus"})
        put(cluster, {"pod": "p", "uses": {"gpu": "template gpus"}})
        failures = [1]

        def refuse(call: Call) -> None:
            if call.verb == "create" and call.kind is RESOURCE_CLAIM and failures:
                failures.pop()
                raise Conflict("not now")

        cluster.before_call = refuse
        async with cluster.serving(), working_crew(cluster, ["resourceclaim-controller"]) as crew:
            name = ("claims_from_templates",)
            assert read(crew.registry, "workqueue_retries_total")[name] == 1
            assert read(crew.registry, "workqueue_adds_total")[name] == 1
            await crew.pass_time(1.0)
            assert read(crew.registry, "workqueue_depth")[name] == 0
            assert read(crew.registry, "workqueue_retries_total")[name] == 1
            looks = read(crew.registry, "workqueue_work_duration_seconds_count")[name]
            assert looks == read(crew.registry, "workqueue_adds_total")[name] >= 2

    asyncio.run(scenario())

import asyncio

import pytest
from msgspec.structs import replace

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodCondition, PodStatus
from dray.api.meta import LabelSelector, ObjectMeta
from dray.api.policy.budget import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from dray.api.policy.kinds import POD_DISRUPTION_BUDGET
from dray.controllers.disruptionbudgets import plan_status
from dray.values.times import Time
from tests.unit.controllers.running import Cluster, running

NOW = Time(1_767_225_600)


def pod(name: str, *, is_ready: bool = True, phase: str = "Running", labels: dict[str, str] | None = None) -> Pod:
    conditions = (PodCondition(type="Ready", status="True" if is_ready else "False"),)
    meta = ObjectMeta(name=name, labels=labels or {"app": "a"})
    return Pod(metadata=meta, status=PodStatus(phase=phase, conditions=conditions))


def budget(least: int | str | None = None, most: int | str | None = None) -> PodDisruptionBudget:
    selector = LabelSelector(match_labels={"app": "a"})
    spec = PodDisruptionBudgetSpec(selector=selector, min_available=least, max_unavailable=most)
    return PodDisruptionBudget(metadata=ObjectMeta(name="b", generation=3), spec=spec)


PODS = [
    pod("p1"),
    pod("p2"),
    pod("p3"),
    pod("sick", is_ready=False),
    pod("done", phase="Succeeded"),
    pod("other", labels={"app": "z"}),
]


@pytest.mark.parametrize(
    ("stored", "want"),
    [
        (budget(least=1), (2, 3, 1, 4)),
        (budget(least=3), (0, 3, 3, 4)),
        (budget(least="50%"), (1, 3, 2, 4)),
        (budget(least="51%"), (0, 3, 3, 4)),
        (budget(most=1), (0, 3, 3, 4)),
        (budget(most=2), (1, 3, 2, 4)),
        (budget(most="100%"), (3, 3, 0, 4)),
    ],
)
def test_a_budget_leaves_what_is_healthy_beyond_what_is_wanted(
    stored: PodDisruptionBudget, want: tuple[int, int, int, int]
) -> None:
    status = plan_status(stored, PODS, NOW)
    got = (status.disruptions_allowed, status.current_healthy, status.desired_healthy, status.expected_pods)
    assert got == want
    assert status.observed_generation == 3
    condition = status.conditions[0]
    allowed = status.disruptions_allowed > 0
    assert (condition.type, condition.status) == ("DisruptionAllowed", "True" if allowed else "False")
    assert condition.reason == ("SufficientPods" if allowed else "InsufficientPods")


def test_an_allowed_eviction_counts_until_it_is_seen_or_forgotten() -> None:
    disrupted = {"p1": NOW, "p2": NOW.plus_seconds(-121), "gone": NOW}
    stored = replace(budget(least=1), status=PodDisruptionBudgetStatus(disrupted_pods=disrupted))
    status = plan_status(stored, PODS, NOW)
    assert status.disrupted_pods == {"p1": NOW}
    assert (status.current_healthy, status.disruptions_allowed) == (2, 1)


def test_no_pods_leave_nothing() -> None:
    assert plan_status(budget(most=1), [], NOW).disruptions_allowed == 0


def test_the_status_follows_the_pods() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.put(POD_DISRUPTION_BUDGET, budget(least=1))
        cluster.put(POD, pod("p1"))
        async with running(cluster) as world:
            stored = cluster.find(POD_DISRUPTION_BUDGET, "b")
            assert stored is not None
            assert stored.status.disruptions_allowed == 0
            cluster.put(POD, pod("p2"))
            await world.settle()
            stored = cluster.find(POD_DISRUPTION_BUDGET, "b")
            assert stored is not None
            assert stored.status.disruptions_allowed == 1
            evicted = replace(stored.status, disruptions_allowed=0, disrupted_pods={"p1": NOW})
            await cluster.client.update(POD_DISRUPTION_BUDGET, replace(stored, status=evicted), subresource="status")
            await world.settle()
            await world.pass_time(200)
            stored = cluster.find(POD_DISRUPTION_BUDGET, "b")
            assert stored is not None
            assert (stored.status.disrupted_pods, stored.status.disruptions_allowed) == ({}, 1)

    asyncio.run(scenario())

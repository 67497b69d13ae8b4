import pytest
from msgspec.structs import replace

from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodCondition, PodStatus
from dray.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta, StatusCause
from dray.api.policy.budget import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from dray.errors import ApiError, Forbidden
from dray.server.admission.eviction import plan_eviction
from dray.server.admission.refusals import TooManyRequests
from dray.values.times import Time

NOW = Time(1_767_225_600)
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
READY = PodCondition(type="Ready", status="True")
POD = Pod(metadata=ObjectMeta(name="p1", labels={"app": "a"}), status=PodStatus(phase="Running", conditions=(READY,)))
SELECTOR = LabelSelector(
    match_labels={"app": "a"}, match_expressions=(LabelSelectorRequirement(key="app", operator="Exists"),)
)


def budget(name: str = "b", *, policy: str | None = None, generation: int = 1, **counts: int) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, generation=generation, resource_version="5"),
        spec=PodDisruptionBudgetSpec(selector=SELECTOR, unhealthy_pod_eviction_policy=policy),
        status=replace(PodDisruptionBudgetStatus(observed_generation=1), **counts),
    )


def test_an_eviction_uses_up_the_budget() -> None:
    plan = plan_eviction(POD, [budget(disruptions_allowed=2)], NOW)
    assert plan.budget is not None
    assert plan.budget.metadata.resource_version == "5"
    assert plan.budget.status.disruptions_allowed == 1
    assert plan.budget.status.disrupted_pods == {"p1": NOW}
    assert (plan.condition.type, plan.condition.reason) == ("DisruptionTarget", "EvictionByEvictionAPI")


def test_an_eviction_without_budget_is_free() -> None:
    other = replace(budget(), spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": "z"})))
    selects_none = replace(budget(), spec=PodDisruptionBudgetSpec())
    assert plan_eviction(POD, [other, selects_none], NOW).budget is None


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_a_pod_that_serves_nobody_is_free(phase: str) -> None:
    assert plan_eviction(replace(POD, status=PodStatus(phase=phase)), [budget()], NOW).budget is None


def test_a_pod_that_is_going_is_free() -> None:
    going = replace(POD, metadata=replace(POD.metadata, deletion_timestamp=NOW))
    assert plan_eviction(going, [budget()], NOW).budget is None


def test_a_budget_that_is_used_up_refuses() -> None:
    with pytest.raises(TooManyRequests) as refusal:
        plan_eviction(POD, [budget(desired_healthy=1)], NOW)
    assert (refusal.value.code, refusal.value.message, refusal.value.retry_after_seconds) == (429, VIOLATES, 0)
    text = "The disruption budget b needs 1 healthy pods and has 0 currently"
    assert refusal.value.causes == (StatusCause(reason="DisruptionBudget", message=text),)


def test_a_budget_nobody_has_looked_at_yet_refuses_for_a_while() -> None:
    with pytest.raises(TooManyRequests) as refusal:
        plan_eviction(POD, [budget(generation=2, disruptions_allowed=1)], NOW)
    assert refusal.value.retry_after_seconds == 10
    assert refusal.value.causes[0].message == "The disruption budget b is still being processed by the server."


def test_a_budget_below_zero_refuses() -> None:
    with pytest.raises(Forbidden) as refusal:
        plan_eviction(POD, [budget(disruptions_allowed=-1)], NOW)
    want = 'poddisruptionbudget.policy "b" is forbidden: pdb disruptions allowed is negative'
    assert refusal.value.message == want


def test_two_budgets_are_one_too_many() -> None:
    with pytest.raises(ApiError) as refusal:
        plan_eviction(POD, [budget("a", disruptions_allowed=1), budget("b", disruptions_allowed=1)], NOW)
    assert refusal.value.code == 500
    assert refusal.value.message.startswith("This pod has more than one PodDisruptionBudget")


@pytest.mark.parametrize(
    ("held", "is_free"),
    [
        (budget(policy="AlwaysAllow"), True),
        (budget(desired_healthy=1, current_healthy=1), True),
        (budget(desired_healthy=2, current_healthy=1), False),
        (budget(desired_healthy=0, current_healthy=0), False),
    ],
    ids=["in any case", "enough others are healthy", "a healthy one is missing", "none need be healthy"],
)
def test_a_pod_that_is_not_healthy(held: PodDisruptionBudget, *, is_free: bool) -> None:
    unhealthy = replace(POD, status=PodStatus(phase="Running"))
    if is_free:
        assert plan_eviction(unhealthy, [held], NOW).budget is None
    else:
        with pytest.raises(TooManyRequests):
            plan_eviction(unhealthy, [held], NOW)

"""Preemption plans what the definition says: on each node as few as possible, and the best of the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace as copy_of
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.allocator.bits import bits
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim
from dray.api.meta import LabelSelector, ObjectMeta
from dray.api.policy.budget import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from dray.scheduler.core.placement import Placement
from dray.scheduler.core.preemption import Preemption, PreemptionRefused, plan_preemption
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.snapshot import Snapshot
from dray.values.times import Time
from tests.properties import plain_placement as plain
from tests.properties.placing import Feature, Theme, nodes, pods

EXAMPLES = settings().max_examples
NAMES = ("n0", "n1", "n2")
THEMES: tuple[Theme, ...] = (
    frozenset([Feature.ROOM]),
    frozenset([Feature.ROOM, Feature.NEIGHBOURS]),
    frozenset([Feature.NEIGHBOURS]),
    frozenset([Feature.SPREAD]),
)

SOME = LabelSelector(match_labels={"tier": "1"})
budgets = st.builds(
    lambda number, selector, allowed: PodDisruptionBudget(
        metadata=ObjectMeta(namespace="left", name=f"budget-{number}"),
        spec=PodDisruptionBudgetSpec(selector=selector),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    ),
    number=st.integers(0, 2),
    selector=st.sampled_from((LabelSelector(), LabelSelector(match_labels={"app": "x"}), SOME, None)),
    allowed=st.sampled_from((0, 0, 1, 2)),
)


class Case(NamedTuple):
    world: plain.World
    snapshot: Snapshot
    budgets: Sequence[PodDisruptionBudget]
    hogs: frozenset[str]
    """Pods that hold the devices of their node, which the newcomer needs."""


def case(data: st.DataObject, theme: Theme) -> Case:
    world, snapshot = plain.World(), Snapshot()
    for number, name in enumerate(NAMES):
        node = data.draw(nodes(name, theme))
        world.nodes[number] = node
        snapshot.put_node(node)
    hogs = set()
    for number in range(data.draw(st.integers(1, 10))):
        pod = data.draw(pods(number, theme))
        started = data.draw(st.sampled_from((None, Time(10), Time(20))))
        spec = replace(pod.spec, node_name=data.draw(st.sampled_from(NAMES)))
        if data.draw(st.integers(0, 5)) == 0:
            hogs.add(pod.metadata.uid)
            spec = replace(spec, resource_claims=(PodResourceClaim(name="gpu", resource_claim_name="gpu"),))
        placed = replace(pod, spec=spec, status=replace(pod.status, start_time=started))
        world.pods[pod.metadata.uid] = placed
        snapshot.put_pod(placed)
    found = {each.metadata.name: each for each in data.draw(st.lists(budgets, max_size=2))}
    for budget in found.values():
        snapshot.put_disruption_budget(budget)
    return Case(world, snapshot, tuple(found[name] for name in sorted(found)), frozenset(hogs))


class Plan(NamedTuple):
    number: int
    victims: list[Pod]
    violations: int


def importance(pod: Pod) -> tuple[int, int, str]:
    started = pod.status.start_time
    return (-(pod.spec.priority or 0), 2**40 if started is None else started.unix_seconds, pod.metadata.uid)


def plain_plan(case: Case, newcomer: Pod, number: int) -> Plan | frozenset[str]:
    """What has to go from one node, or why nothing helps."""
    name = case.world.nodes[number].metadata.name
    lesser = [
        pod
        for pod in case.world.pods.values()
        if pod.spec.node_name == name and (pod.spec.priority or 0) < (newcomer.spec.priority or 0)
    ]
    if not lesser:
        return frozenset(["No preemption victims found for incoming pod"])
    lesser.sort(key=importance)
    gone = {pod.metadata.uid for pod in lesser}
    why = plain_reasons(case, newcomer, number, gone)
    if why:
        return why
    breakers = plain_breakers(case, lesser)
    victims = []
    for pod in sorted(lesser, key=lambda pod: pod.metadata.uid not in breakers):
        gone.discard(pod.metadata.uid)
        if plain_reasons(case, newcomer, number, gone):
            gone.add(pod.metadata.uid)
            victims.append(pod)
    if not victims:
        return frozenset(["No preemption victims found for incoming pod"])
    return Plan(number, sorted(victims, key=importance), sum(p.metadata.uid in breakers for p in victims))


def plain_reasons(case: Case, newcomer: Pod, number: int, gone: set[str]) -> frozenset[str]:
    left = {uid: pod for uid, pod in case.world.pods.items() if uid not in gone}
    verdict = plain.examine(copy_of(case.world, pods=left), newcomer, Profile())[number]
    if verdict is not None:
        return verdict[1]
    name = case.world.nodes[number].metadata.name
    is_held = any(uid in case.hogs and pod.spec.node_name == name for uid, pod in left.items())
    return frozenset(["cannot allocate all claims"]) if is_held else frozenset()


def plain_breakers(case: Case, lesser: Sequence[Pod]) -> set[str]:
    left = {budget.metadata.name: budget.status.disruptions_allowed for budget in case.budgets}
    found = set()
    for pod in lesser:
        for budget in case.budgets:
            selector = budget.spec.selector
            labels = pod.metadata.labels
            wanted = selector.match_labels if selector is not None else {}
            if pod.metadata.namespace == "left" and wanted and all(labels.get(k) == v for k, v in wanted.items()):
                left[budget.metadata.name] -= 1
                if left[budget.metadata.name] < 0:
                    found.add(pod.metadata.uid)
    return found


def cost(plan: Plan) -> tuple[int, int, int, int, int, int]:
    priorities = [pod.spec.priority or 0 for pod in plan.victims]
    first = min(importance(pod)[1] for pod in plan.victims if (pod.spec.priority or 0) == max(priorities))
    total = sum(priority + 2**31 for priority in priorities)
    return (plan.violations, max(priorities), total, len(priorities), -first, plan.number)


@settings(max_examples=4 * EXAMPLES)
@given(data=st.data(), theme=st.sampled_from(THEMES))
def test_plans_are_those_of_the_definition(data: st.DataObject, theme: Theme) -> None:
    drawn = case(data, theme)
    newcomer = replace_priority(data.draw(pods(99, theme)), data.draw(st.sampled_from((1, 2, 3, 3))))
    placement = Placement(drawn.snapshot, Profile())
    examined = placement.examine(newcomer)
    held = sum(
        1 << number
        for number in bits(examined.fitting)
        if any(p.metadata.uid in drawn.hogs for p in drawn.world.on(drawn.world.nodes[number]))
    )
    allowed = examined.preemptible | held
    names = drawn.snapshot.names

    def devices_fit(number: int, gone: Sequence[Pod]) -> tuple[str, ...]:
        gone_uids = {pod.metadata.uid for pod in gone}
        here = drawn.world.on(drawn.world.nodes[number])
        is_held = any(pod.metadata.uid in drawn.hogs - gone_uids for pod in here)
        return ("cannot allocate all claims",) if is_held else ()

    want = {number: plain_plan(drawn, newcomer, number) for number in bits(allowed)}
    version = [drawn.snapshot.node(number).requested.copy() for number in range(len(names))]
    got = plan_preemption(placement, examined, allowed, devices_fit)
    assert [drawn.snapshot.node(number).requested for number in range(len(names))] == version
    plans = [plan for plan in want.values() if isinstance(plan, Plan)]
    if not plans:
        assert isinstance(got, PreemptionRefused)
        assert got.message == plain_message(want, len(names))
        return
    best = min(plans, key=cost)
    assert isinstance(got, Preemption)
    assert (got.node, list(got.victims), got.violations) == (best.number, best.victims, best.violations)


def replace_priority(pod: Pod, priority: int) -> Pod:
    return replace(pod, spec=replace(pod.spec, priority=priority))


def plain_message(want: dict[int, Plan | frozenset[str]], nodes: int) -> str:
    counts = Counter(reason for reasons in want.values() if isinstance(reasons, frozenset) for reason in reasons)
    counts["Preemption is not helpful for scheduling"] += nodes - len(want)
    parts = sorted(f"{count} {reason}" for reason, count in counts.items() if count)
    return f"preemption: 0/{nodes} nodes are available: {', '.join(parts)}."

"""What the scheduler counts, as a scrape shows it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from prometheus_client import CollectorRegistry

from dray.api.core.kinds import BINDING
from dray.api.core.pod import Pod
from dray.api.meta import ObjectMeta
from dray.errors import Conflict
from dray.scheduler.core.queue import Entry, Queue
from dray.scheduler.metrics import SchedulerMetrics
from tests.cases.scheduling.terse import store
from tests.properties.histories import report
from tests.unit.controllers.cluster import Call
from tests.unit.scheduler.quietloop import run_quietly
from tests.unit.scheduler.rig import Rig, rigged

Json = dict[str, Any]
Read = Callable[..., float | None]

GIVEN: Sequence[Json] = (
    {"node": "a"},
    {"class": "gpu", "extended": "x.io/gpu"},
    {"template": "gpus", "ask": "gpu"},
    {"importance": "high", "value": 1000},
)


def play(act: Callable[[Rig, Read], Awaitable[None]], *things: Json) -> None:
    """Let a scheduler that is watched do its work, and ask what was counted."""

    async def scenario() -> None:
        registry = CollectorRegistry()

        def read(name: str, **labels: str) -> float | None:
            return registry.get_sample_value(name, labels)

        async with rigged() as rig:
            await rig.stop()
            rig.observer = SchedulerMetrics(registry)
            rig.start()
            for thing in (*GIVEN, *things):
                await store(rig.client, thing)
                await rig.settle()
            await act(rig, read)

    run_quietly(scenario())


def test_attempts_end_with_a_binding_or_without() -> None:
    async def act(rig: Rig, read: Read) -> None:
        profile = "default-scheduler"
        for result, count in (("scheduled", 1), ("unschedulable", 1), ("error", None)):
            assert read("scheduler_schedule_attempts_total", result=result, profile=profile) == count
            seconds = "scheduler_scheduling_attempt_duration_seconds_count"
            assert read(seconds, result=result, profile=profile) == count
        assert read("scheduler_scheduling_algorithm_duration_seconds_count") == 2
        assert read("scheduler_pod_scheduling_attempts_sum") == 1
        assert read("scheduler_binding_duration_seconds_count") == 1
        assert read("scheduler_cache_size", type="pods") == 1
        assert read("scheduler_cache_size", type="nodes") == 1
        assert read("scheduler_pending_pods", queue="unschedulable") == 1

    pods: list[Json] = [{"pod": name, "uses": {"gpu": "template gpus"}} for name in ("p", "q")]
    play(act, {"devices": ["gpu-0"], "at": "a"}, *pods)


def test_an_attempt_whose_binding_fails_is_an_error_and_no_placement() -> None:
    async def act(rig: Rig, read: Read) -> None:
        failures = [1]

        def refuse(call: Call) -> None:
            if call.kind is BINDING and failures:
                failures.pop()
                raise Conflict("not now")

        rig.cluster.before_call = refuse
        await store(rig.client, {"pod": "p"})
        await rig.settle()
        attempts, profile = "scheduler_schedule_attempts_total", "default-scheduler"
        seconds = "scheduler_scheduling_attempt_duration_seconds_count"
        assert read(attempts, result="error", profile=profile) == read(seconds, result="error", profile=profile) == 1
        assert read(attempts, result="scheduled", profile=profile) is None
        assert read("scheduler_pod_scheduling_attempts_count") == 0
        await rig.pass_time(5)
        assert read(attempts, result="scheduled", profile=profile) == 1
        assert read("scheduler_pod_scheduling_attempts_sum") == 2

    play(act)


def test_evictions_are_counted_with_their_victims() -> None:
    async def act(rig: Rig, read: Read) -> None:
        assert read("scheduler_preemption_attempts_total") == 0
        await store(rig.client, {"pod": "high", "priority_class": "high", "uses": {"gpu": "template gpus"}})
        await rig.settle()
        assert read("scheduler_preemption_attempts_total") == 1
        assert read("scheduler_preemption_victims_count") == 1
        assert read("scheduler_preemption_victims_sum") == 1
        assert read("scheduler_preemption_pdb_violations_total") == 1
        # Nobody is less important.
        await store(rig.client, {"pod": "low", "uses": {"gpu": "template gpus"}})
        await rig.settle()
        assert read("scheduler_preemption_attempts_total") == 2
        assert read("scheduler_preemption_victims_count") == 1

    guarded: Json = {"pod": "p", "labels": {"app": "x"}, "uses": {"gpu": "template gpus"}}
    budget: Json = {"budget": "all", "labels": {"app": "x"}, "allows": 0}
    play(act, {"devices": ["gpu-0"], "at": "a"}, guarded, budget)


def test_claims_for_extended_resources_are_counted_by_both_names() -> None:
    async def act(rig: Rig, read: Read) -> None:
        owner = {"owner_api_group": "", "owner_api_kind": "Pod", "admin_access": "false"}
        name = "dynamic_resource_allocation_resourceclaim_creates_total"
        assert read(name, status="success", **owner) == 1
        assert read("scheduler_resourceclaim_creates_total", status="success") == 1

    play(act, {"devices": ["gpu-0"], "at": "a"}, {"pod": "p", "resources": {"x.io/gpu": 1}})


def test_waiting_for_devices_is_timed_from_the_allocation_until_they_are_ready() -> None:
    async def act(rig: Rig, read: Read) -> None:
        labels = {"profile": "default-scheduler", "driver": "gpu.x.io", "status": "success"}
        assert read("scheduler_dra_bindingconditions_allocations_total", **labels) is None
        await rig.pass_time(7)
        await report(rig, "x.io/ready")
        await rig.settle()
        assert read("scheduler_dra_bindingconditions_allocations_total", **labels) == 1
        assert read("scheduler_dra_bindingconditions_wait_duration_seconds_sum", **labels) == 7
        attempts = "scheduler_scheduling_attempt_duration_seconds_sum"
        assert read(attempts, result="scheduled", profile=labels["profile"]) == 7

    device: Json = {"gpu-0": {"bindingConditions": ["x.io/ready"], "bindingFailureConditions": ["x.io/failed"]}}
    play(act, {"devices": device, "at": "a"}, {"pod": "p", "uses": {"gpu": "template gpus"}})


def test_devices_that_do_not_get_ready_are_failures() -> None:
    async def act(rig: Rig, read: Read) -> None:
        await report(rig, "x.io/failed")
        await rig.settle()
        labels = {"profile": "default-scheduler", "driver": "gpu.x.io", "status": "failure"}
        assert read("scheduler_dra_bindingconditions_allocations_total", **labels) == 1
        assert read("scheduler_schedule_attempts_total", result="error", profile=labels["profile"]) == 1
        attempts = "scheduler_scheduling_attempt_duration_seconds_count"
        assert read(attempts, result="error", profile=labels["profile"]) == 1

    device: Json = {"gpu-0": {"bindingConditions": ["x.io/ready"], "bindingFailureConditions": ["x.io/failed"]}}
    play(act, {"devices": device, "at": "a"}, {"pod": "p", "uses": {"gpu": "template gpus"}})


def test_groups_are_tried_as_a_whole() -> None:
    async def act(rig: Rig, read: Read) -> None:
        profile = "default-scheduler"
        durations = "scheduler_podgroup_scheduling_attempt_duration_seconds_count"
        for result in ("unschedulable", "scheduled"):
            assert read("scheduler_podgroup_schedule_attempts_total", result=result, profile=profile) == 1
            assert read(durations, result=result, profile=profile) == 1
            assert read("scheduler_schedule_attempts_total", result=result, profile=profile) == 2

    members: list[Json] = [{"pod": name, "group": "g", "uses": {"gpu": "template gpus"}} for name in ("p", "q")]
    play(act, {"group": "g", "gang": 2}, *members, {"devices": ["gpu-0", "gpu-1"], "at": "a"})


def test_pods_that_something_helped_were_not_flushed() -> None:
    async def act(rig: Rig, read: Read) -> None:
        for _ in range(11):
            await rig.pass_time(30)
        assert read("scheduler_queue_incoming_pods_total", queue="backoff", event="UnschedulableTimeout") == 1
        await store(rig.client, {"devices": ["gpu-0"], "at": "a"})
        await rig.pass_time(20)
        assert read("scheduler_schedule_attempts_total", result="scheduled", profile="default-scheduler") == 1
        assert read("scheduler_pod_scheduled_after_flush_total") == 0

    play(act, {"pod": "p", "uses": {"gpu": "template gpus"}})


def test_an_entry_is_flushed_until_something_else_wakes_it() -> None:
    queue, pod = Queue(), Pod(metadata=ObjectMeta(name="p", uid="p"))
    entry = Entry(key="p", pods={"p": pod}, priority=0, since=0.0)
    queue.add(entry, 0.0)
    for now, was_flushed in ((0.0, False), (300.0, True), (600.0, True)):
        queue.sweep(now)
        taken = queue.pop(now)
        assert taken is entry
        assert entry.was_flushed is was_flushed
        queue.refuse(entry, frozenset({"NodeAffinity"}), now)
    queue.wake(entry, 650.0, "NodeUpdate")
    assert queue.pop(650.0) is entry
    assert not entry.was_flushed

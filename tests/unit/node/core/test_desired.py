"""What happens next for a pod, from its beginning to its end."""

from typing import Any

import pytest

from dray.api.core.containerstatus import ContainerStateWaiting
from dray.node.core.podstate import Exited, Probed, ProbeKind, SandboxReady, StartFailed
from tests.unit.node.core.course import Course, make_pod

CLAIMS = [{"name": "gpu", "resourceClaimName": "gpu"}]
PROBE: dict[str, Any] = {"exec": {"command": ["true"]}}


def sidecar(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "restartPolicy": "Always"} | more


def test_devices_come_first_then_the_sandbox_then_containers() -> None:
    pod = Course(make_pod("a", "b", resourceClaims=CLAIMS))
    assert pod.step() == ["prepare"]
    assert pod.prepared() == ["open_sandbox"]
    assert pod.sandbox() == ["start a", "start b"]
    assert pod.phase == "Pending"
    pod.started("a")
    assert pod.phase == "Pending"
    pod.started("b")
    assert pod.phase == "Running"


def test_a_pod_without_claims_asks_no_driver() -> None:
    pod = Course(make_pod("a"))
    assert pod.step() == ["open_sandbox"]


def test_preparing_is_tried_again_when_it_is_time() -> None:
    pod = Course(make_pod("a", resourceClaims=CLAIMS))
    pod.step()
    assert pod.not_prepared(retry_seconds=60) == []
    assert pod.wakes_in == 60
    assert pod.later(59) == []
    assert pod.later(1) == ["prepare"]


def test_init_containers_run_one_after_the_other_before_the_others() -> None:
    pod = Course(make_pod("main", init=["one", "two"]))
    pod.step()
    assert pod.sandbox() == ["start one"]
    pod.started("one")
    assert pod.shown("main") == "PodInitializing"
    assert not pod.conditions()["Initialized"]
    assert pod.exited("one") == ["start two"]
    pod.started("two")
    assert pod.exited("two") == ["start main"]
    assert pod.conditions()["Initialized"]
    assert pod.phase == "Pending"
    pod.started("main")
    assert pod.phase == "Running"


def test_an_init_container_that_fails_ends_a_pod_that_never_restarts() -> None:
    pod = Course(make_pod("main", init=["one"], restartPolicy="Never"))
    pod.up("one")
    assert pod.exited("one", 3) == ["release"]
    assert pod.phase != "Failed"
    pod.released()
    assert (pod.phase, pod.shown("main"), pod.state.is_done) == ("Failed", "PodInitializing", True)


def test_an_init_container_that_fails_is_tried_again() -> None:
    pod = Course(make_pod("main", init=["one"]))
    pod.up("one")
    assert pod.exited("one", 3) == ["start one"]
    pod.started("one")
    assert pod.exited("one", 3) == []
    assert (pod.wakes_in, pod.shown("one"), pod.phase) == (10, "CrashLoopBackOff", "Pending")
    assert pod.later(10) == ["start one"]
    pod.started("one")
    assert pod.exited("one") == ["start main"]
    assert pod.run("one").restarts == 2


def test_restarts_wait_twice_as_long_each_time_up_to_five_minutes() -> None:
    pod = Course(make_pod("a"))
    pod.up("a")
    waits = []
    for _ in range(8):
        if not pod.exited("a", 1):
            assert pod.shown("a") == "CrashLoopBackOff"
            waits.append(pod.wakes_in)
            assert pod.later(pod.wakes_in or 0) == ["start a"]
        pod.started("a")
    assert waits == [10, 20, 40, 80, 160, 300, 300]


def test_a_container_that_ran_for_long_is_restarted_at_once() -> None:
    pod = Course(make_pod("a"))
    pod.up("a")
    for _ in range(3):
        pod.exited("a", 1)
        pod.later(60)
        pod.started("a")
    pod.later(601)
    assert pod.exited("a", 1) == ["start a"]
    pod.started("a")
    pod.exited("a", 1)
    assert pod.wakes_in == 10


@pytest.mark.parametrize(
    ("policy", "code", "want"),
    [
        ("Always", 0, "Running"),
        ("Always", 1, "Running"),
        ("OnFailure", 0, "Succeeded"),
        ("OnFailure", 1, "Running"),
        ("Never", 0, "Succeeded"),
        ("Never", 1, "Failed"),
    ],
)
def test_the_restart_policy_decides_what_an_end_means(policy: str, code: int, want: str) -> None:
    pod = Course(make_pod("a", restartPolicy=policy))
    pod.up("a")
    decided = pod.exited("a", code)
    if want == "Running":
        assert decided == ["start a"]
    else:
        assert decided == ["release"]
        assert pod.phase == "Running"
        pod.released()
    assert pod.phase == want


def test_one_container_that_has_ended_does_not_end_the_pod() -> None:
    pod = Course(make_pod("a", "b", restartPolicy="Never"))
    pod.up("a", "b")
    assert pod.exited("a", 1) == []
    assert (pod.phase, pod.shown("a"), pod.shown("b")) == ("Running", "Error", "Running")
    assert pod.exited("b") == ["release"]
    pod.released()
    assert pod.phase == "Failed"


def test_rules_of_a_container_come_before_its_policy() -> None:
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
    pod = Course(make_pod({"name": "a", "restartPolicy": "Never", "restartPolicyRules": rules}, restartPolicy="Never"))
    pod.up("a")
    assert pod.exited("a", 42) == ["start a"]
    pod.started("a")
    assert pod.exited("a", 1) == ["release"]


def test_sidecars_run_from_before_the_others_until_after_them() -> None:
    init = [sidecar("log"), "setup", sidecar("net", startupProbe=PROBE)]
    pod = Course(make_pod("main", init=init, restartPolicy="Never"))
    pod.step()
    assert pod.sandbox() == ["start log"]
    assert pod.started("log") == ["start setup"]
    pod.started("setup")
    assert pod.exited("setup") == ["start net"]
    assert pod.started("net") == []
    assert pod.probed("net", ProbeKind.STARTUP, is_good=True) == ["start main"]
    pod.started("main")
    assert pod.exited("main") == ["stop net in 30"]
    assert pod.exited("net", 143) == ["stop log in 30"]
    assert pod.exited("log", 143) == ["release"]
    pod.released()
    assert pod.phase == "Succeeded"


def test_a_sidecar_is_restarted_whatever_the_pod_says() -> None:
    pod = Course(make_pod("main", init=[sidecar("log")], restartPolicy="Never"))
    pod.up("log", "main")
    assert pod.exited("log") == ["start log"]
    pod.started("log")
    assert pod.exited("log", 1) == []
    assert pod.later(10) == ["start log"]
    assert pod.phase == "Running"


def test_deletion_stops_containers_then_sidecars_then_gives_devices_back() -> None:
    pod = Course(make_pod("a", "b", init=[sidecar("log")], resourceClaims=CLAIMS))
    pod.step()
    pod.prepared()
    pod.sandbox()
    for name in ("log", "a", "b"):
        pod.started(name)
    assert pod.deleted(30) == ["stop a in 30", "stop b in 30"]
    assert pod.exited("a", 143) == []
    pod.now = pod.now.plus_seconds(20)
    assert pod.exited("b", 143) == ["stop log in 10"]
    assert pod.exited("log", 143) == ["release"]
    assert pod.released() == []
    assert pod.state.is_done


def test_a_second_deletion_with_less_time_is_told_again() -> None:
    pod = Course(make_pod("a"))
    pod.up("a")
    assert pod.deleted(30) == ["stop a in 30"]
    assert pod.deleted(60) == []
    assert pod.deleted(0) == ["stop a in 0"]


def test_what_is_just_starting_is_stopped_once_it_has_started() -> None:
    pod = Course(make_pod("a"))
    pod.step()
    assert pod.sandbox() == ["start a"]
    assert pod.deleted(30) == []
    assert pod.started("a") == ["stop a in 30"]


def test_a_pod_deleted_while_drivers_work_waits_for_them_and_gives_everything_back() -> None:
    pod = Course(make_pod("a", resourceClaims=CLAIMS))
    pod.step()
    assert pod.deleted() == []
    assert pod.prepared() == ["release"]
    pod.released()
    assert pod.state.is_done


def test_a_pod_deleted_between_attempts_gives_back_what_they_left_behind_at_once() -> None:
    pod = Course(make_pod("a", resourceClaims=CLAIMS))
    pod.step()
    pod.not_prepared(60)
    assert pod.deleted() == ["release"]


def test_giving_back_is_tried_until_it_succeeds() -> None:
    pod = Course(make_pod("a", resourceClaims=CLAIMS))
    pod.step()
    pod.prepared()
    pod.sandbox()
    pod.started("a")
    pod.deleted()
    assert pod.exited("a", 143) == ["release"]
    assert pod.not_released(10) == []
    assert not pod.state.is_done
    assert pod.wakes_in == 10
    assert pod.later(10) == ["release"]
    pod.released()
    assert pod.state.is_done


def test_a_container_does_not_start_again_in_a_pod_that_goes() -> None:
    pod = Course(make_pod("a"))
    pod.up("a")
    pod.exited("a", 1)
    pod.started("a")
    pod.exited("a", 1)
    assert pod.shown("a") == "CrashLoopBackOff"
    assert pod.deleted() == ["release"]
    assert pod.shown("a") == "Error"


def test_a_pod_may_be_active_for_so_long() -> None:
    pod = Course(make_pod("a", activeDeadlineSeconds=60, terminationGracePeriodSeconds=5))
    pod.up("a")
    assert pod.wakes_in == 60
    assert pod.later(60) == ["stop a in 5"]
    assert pod.exited("a", 143) == ["release"]
    pod.released()
    assert (pod.phase, pod.status.reason) == ("Failed", "DeadlineExceeded")


def test_a_liveness_probe_that_fails_restarts_the_container() -> None:
    probe = {**PROBE, "terminationGracePeriodSeconds": 2}
    pod = Course(make_pod({"name": "a", "livenessProbe": probe}))
    pod.up("a")
    assert pod.probed("a", ProbeKind.LIVENESS, is_good=False) == ["stop a in 2"]
    assert pod.exited("a", 137) == ["start a"]
    assert pod.run("a").restarts == 1


def test_a_late_answer_of_a_probe_says_nothing_about_the_next_run() -> None:
    pod = Course(make_pod({"name": "a", "livenessProbe": PROBE}))
    pod.up("a")
    old = pod.run("a").container_id
    pod.exited("a", 1)
    pod.started("a")
    assert pod.step(Probed("a", ProbeKind.LIVENESS, is_good=False, container_id=old)) == []


def test_readiness_follows_its_probe_and_waits_for_the_start() -> None:
    pod = Course(make_pod({"name": "a", "startupProbe": PROBE, "readinessProbe": PROBE}))
    pod.up("a")
    assert (pod.phase, pod.conditions()["Ready"]) == ("Running", False)
    pod.probed("a", ProbeKind.READINESS, is_good=True)
    assert not pod.conditions()["Ready"]
    pod.probed("a", ProbeKind.STARTUP, is_good=True)
    assert not pod.conditions()["Ready"]
    pod.probed("a", ProbeKind.READINESS, is_good=True)
    assert pod.conditions()["Ready"]
    pod.probed("a", ProbeKind.READINESS, is_good=False)
    assert (pod.phase, pod.conditions()["Ready"]) == ("Running", False)


def test_a_sandbox_that_cannot_be_made_is_tried_again() -> None:
    pod = Course(make_pod("a"))
    pod.step()
    assert pod.step(SandboxReady(retry_at=pod.now.plus_seconds(10))) == []
    assert pod.later(10) == ["open_sandbox"]


def test_a_container_that_cannot_be_made_waits_and_says_why() -> None:
    pod = Course(make_pod("a"))
    pod.step()
    pod.sandbox()
    assert pod.step(StartFailed("a", "CreateContainerError", "no such device", pod.now)) == []
    (status,) = pod.status.container_statuses
    assert status.state.waiting == ContainerStateWaiting(reason="CreateContainerError", message="no such device")
    assert pod.phase == "Pending"
    assert pod.later(10) == ["start a"]
    assert pod.run("a").restarts == 0


def test_ends_that_are_told_late_or_twice_change_nothing() -> None:
    pod = Course(make_pod("a"))
    pod.up("a")
    late = pod._exit("a", 1)
    pod.exited("a", 1)
    pod.started("a")
    assert pod.step(Exited("a", late)) == []
    assert pod.shown("a") == "Running"

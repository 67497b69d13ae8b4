"""Each part of dray by itself, against dray's API server and against servers as older clusters have them."""

import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.older import RELEASES
from tests.e2e.upping import await_objects, dray, read_object, running, short_folder, started

ROOT = Path(__file__).parents[2]
PODS = "/api/v1/namespaces/default/pods"

TEMPLATE = """
apiVersion: resource.k8s.io/VERSION
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [REQUEST]}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  schedulerName: SCHEDULER
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: app
    command: [sh, -c, "echo $SIM_DEVICE_GPU_0; exec sleep 600"]
    resources: {claims: [{name: gpu}]}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
"""
EXACT = "{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
PLAIN = "apiVersion: v1\nkind: Pod\nmetadata: {name: plain}\nspec: {containers: [{name: a, image: b}]}\n"
FLAT = "{name: gpu, deviceClassName: gpu.nvidia.com}"
"""As v1beta1 has it."""


class Cluster:
    """A server that runs, and what is asked of it."""

    def __init__(self, folder: Path, version: str = "v1") -> None:
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.version = version

    def dray(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return dray(*words, stdin=stdin, KUBECONFIG=str(self.kubeconfig))

    def part(self, name: str, *words: str) -> list[str]:
        return ["--only", name, "--kubeconfig", str(self.kubeconfig), *words]

    def tell_story(self, scheduler: str = "default-scheduler") -> None:
        """Two pods that want the one GPU there is."""
        request = FLAT if self.version == "v1beta1" else EXACT
        template = TEMPLATE.replace("VERSION", self.version).replace("REQUEST", request)
        pods = [POD.replace("NAME", name).replace("SCHEDULER", scheduler) for name in ("first", "second")]
        done = self.dray("apply", "-f", "-", stdin="---".join([template, *pods]))
        assert done.returncode == 0, done.stderr

    def await_phases(self, *phases: str) -> dict[str, str]:
        """Wait until the pods there are have these phases; then, each by name."""
        found = await_objects(self.kubeconfig, PODS, lambda pods: sorted(map(_phase, pods.values())) == sorted(phases))
        return {name: _phase(pod) for name, pod in found.items()}

    def log(self, pod: str) -> str:
        return self.dray("logs", pod).stdout


def _phase(pod: Mapping[str, Any]) -> str:
    phase: str = pod["status"].get("phase", "")
    return phase


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@contextmanager
def current(folder: Path) -> Iterator[Cluster]:
    with running("--only", "apiserver", "--data-dir", str(folder), "--port", "0"):
        yield Cluster(folder)


@contextmanager
def like(release: str, folder: Path) -> Iterator[Cluster]:
    """A server as of a release of Kubernetes."""
    words = [sys.executable, "-m", "tests.e2e.older", str(folder), release]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            if process.stdout.readline() != "ready\n":
                raise AssertionError(process.stderr.read())
            versions = RELEASES[release].served.get("resourceclaims", ("v1",))
            yield Cluster(folder, versions[0])
        finally:
            process.send_signal(signal.SIGTERM)


@contextmanager
def every_part(cluster: Cluster) -> Iterator[None]:
    """Scheduler, controllers, and a node with one GPU whose containers are processes."""
    with ExitStack() as parts:
        for name in ("controllers", "scheduler"):
            parts.enter_context(running(*cluster.part(name)))
        node = ["--nodes", "t4-vm", "--runtime", "process", "--data-dir", str(cluster.folder)]
        parts.enter_context(running(*cluster.part("node", *node)))
        yield


def share_one_gpu(cluster: Cluster) -> None:
    """One pod runs and sees its GPU, the other waits, and follows when the first has gone."""
    phases = cluster.await_phases("Pending", "Running")
    (holder,) = (name for name, phase in phases.items() if phase == "Running")
    (other,) = set(phases) - {holder}
    assert re.fullmatch(r"GPU-[0-9a-f-]{36}\n", cluster.log(holder))
    assert cluster.dray("delete", "pod", holder).returncode == 0
    assert cluster.await_phases("Running") == {other: "Running"}
    assert re.fullmatch(r"GPU-[0-9a-f-]{36}\n", cluster.log(other))


def test_parts_that_run_apart_make_a_cluster(folder: Path) -> None:
    with current(folder) as cluster, every_part(cluster):
        cluster.tell_story()
        share_one_gpu(cluster)
        node = read_object(cluster.kubeconfig, "/api/v1/nodes/t4-vm-0")
        assert node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] > 0


@pytest.mark.parametrize("release", ["1.32", "1.33", pytest.param("1.35", marks=pytest.mark.soak)])
def test_parts_work_on_servers_that_serve_less_and_older_versions(folder: Path, release: str) -> None:
    with like(release, folder) as cluster, every_part(cluster):
        cluster.tell_story()
        share_one_gpu(cluster)


def test_pods_without_claims_run_where_there_is_no_dynamic_resource_allocation(folder: Path) -> None:
    spec = "{tolerations: [{operator: Exists}], containers: [{name: a, image: b}]}"
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: plain}}\nspec: {spec}\n"
    with like("1.31", folder) as cluster, ExitStack() as parts:
        for name in ("controllers", "scheduler"):
            parts.enter_context(running(*cluster.part(name)))
        parts.enter_context(running(*cluster.part("node", "--nodes", "control-plane", "--data-dir", str(folder))))
        assert cluster.dray("apply", "-f", "-", stdin=pod).returncode == 0
        cluster.await_phases("Running")


def test_a_scheduler_of_another_name_leaves_the_pods_of_others_alone(folder: Path) -> None:
    configuration = folder / "scheduler.yaml"
    profile = {"schedulerName": "dray"}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    configuration.write_text(yaml.safe_dump(kind))
    with running("--data-dir", str(folder), "--port", "0", "--nodes", "t4-vm:2"):
        cluster = Cluster(folder)
        with running(*cluster.part("scheduler", "--scheduler-config", str(configuration))):
            cluster.tell_story("dray")
            cluster.await_phases("Running", "Running")
            assert cluster.dray("apply", "-f", "-", stdin=PLAIN).returncode == 0
            cluster.await_phases("Running", "Running", "Running")
            (lease,) = read_object(cluster.kubeconfig, LEASES)["items"]
            assert lease["metadata"]["name"] == "dray"
            events = await_objects(cluster.kubeconfig, EVENTS, lambda events: len(_placed(events)) == 3)
            assert _placed(events) == {"first": "dray", "second": "dray", "plain": "default-scheduler"}


def _placed(events: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Who placed each pod."""
    return {
        each["regarding"]["name"]: each["reportingController"]
        for each in events.values()
        if each["reason"] == "Scheduled"
    }


def test_of_two_schedulers_one_works_and_the_other_follows_it(folder: Path) -> None:
    with current(folder) as cluster, running(*cluster.part("controllers")), ExitStack() as parts:

        def await_leader(*others: str) -> str:
            leases = await_objects(
                cluster.kubeconfig, LEASES, lambda leases: _holder(leases, "kube-scheduler") not in ("", *others)
            )
            return _holder(leases, "kube-scheduler")

        parts.enter_context(running(*cluster.part("node", "--nodes", "t4-vm", "--data-dir", str(folder))))
        first = parts.enter_context(started(*cluster.part("scheduler")))
        leader = await_leader()
        parts.enter_context(running(*cluster.part("scheduler")))
        first.terminate()
        assert first.wait() == 0
        cluster.tell_story()
        cluster.await_phases("Pending", "Running")
        assert await_leader(leader)


def _holder(leases: Mapping[str, Mapping[str, Any]], name: str) -> str:
    holder: str = leases[name]["spec"].get("holderIdentity", "") if name in leases else ""
    return holder


def test_a_part_shows_its_metrics(folder: Path) -> None:
    with current(folder) as cluster, short_folder() as own:
        begun = dray("up", *cluster.part("scheduler", "--metrics-port", "0", "--data-dir", str(own), "-d"))
        assert begun.returncode == 0, begun.stderr
        (port,) = re.findall(r"metrics are shown port=(\d+)", (own / "scheduler.log").read_text())
        await_objects(cluster.kubeconfig, LEASES, lambda leases: bool(_holder(leases, "kube-scheduler")))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            text = answer.read().decode()
        assert "scheduler_schedule_attempts_total" in text
        assert 'scheduler_pending_pods{queue="active"}' in text
        assert "scheduler: process" in dray("down", "--data-dir", str(own)).stdout


def test_whoever_may_not_do_what_a_part_does_is_told_at_once(folder: Path) -> None:
    with current(folder) as cluster:
        account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: weak}\n"
        assert cluster.dray("apply", "-f", "-", stdin=account).returncode == 0
        config = yaml.safe_load(cluster.kubeconfig.read_text())
        config["users"][0]["user"] |= {"as": "system:serviceaccount:default:weak"}
        weak = folder / "weak"
        weak.write_text(yaml.safe_dump(config))
        for part in ("scheduler", "controllers", "node"):
            done = dray("up", "--only", part, "--kubeconfig", str(weak), "--data-dir", str(folder))
            assert done.returncode == 2
            assert done.stderr.startswith(f"error: the {part} cannot work: ")
            assert 'User "system:serviceaccount:default:weak" cannot' in done.stderr

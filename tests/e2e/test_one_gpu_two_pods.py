"""One GPU and two pods that want it, with kubectl: one runs, the other waits and says why, and follows the first."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.kubectl import Kubectl, find_binaries
from tests.e2e.upping import await_objects, running, short_folder

BINARIES = find_binaries()
STORY = """
apiVersion: v1
kind: Namespace
metadata: {name: gpu-test1}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: single-gpu, namespace: gpu-test1}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
POD = """
---
apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: gpu-test1}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: ctr
    image: ubuntu:22.04
    command: [sh, -c, "echo I have $SIM_DEVICE_GPU_0; exec sleep 600"]
    resources: {claims: [{name: gpu}]}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: single-gpu}]
"""
EVENTS = "/apis/events.k8s.io/v1/namespaces/gpu-test1/events"
WAITING = (
    "0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) had untolerated taint(s). "
    "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
)


def _is_refusal(event: Mapping[str, Any]) -> bool:
    return bool(event["reason"] == "FailedScheduling")


@pytest.fixture(params=["simulated", "process"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Kubectl]]:
    """A control plane and a node with one T4; how containers run, and kubectl."""
    if not BINARIES:
        is_ci = os.environ.get("CI") == "true"  # noqa: TID251  # the convention of every CI
        (pytest.fail if is_ci else pytest.skip)("there is no kubectl in the path")
    nodes = ["--nodes", "control-plane", "--nodes", "t4-vm", "--runtime", request.param]
    with short_folder() as folder, running(*nodes, "--data-dir", str(folder), "--port", "0"):
        yield request.param, Kubectl(BINARIES["default"], tmp_path, folder / "kubeconfig")


def test_the_second_pod_gets_the_gpu_of_the_first(cluster: tuple[str, Kubectl]) -> None:
    runtime, kubectl = cluster

    def done(command: str, stdin: str = "") -> str:
        code, out, err = kubectl.run(command, stdin)
        assert code == 0, err
        return out

    done("apply -f -", STORY)
    done("apply -f -", POD.replace("NAME", "pod1"))
    done("wait -n gpu-test1 pod/pod1 --for=condition=Ready --timeout=60s")
    done("apply -f -", POD.replace("NAME", "pod2"))
    done("wait -n gpu-test1 pod/pod2 --for=condition=PodScheduled=false --timeout=60s")
    # The condition's message is whole; an event's is Kubernetes' text, and ours in what room remains.
    message = done("get pod -n gpu-test1 pod2 -o jsonpath='{.status.conditions[?(@.type==\"PodScheduled\")].message}'")
    assert message.startswith(WAITING)
    assert "1 has no free device of class gpu.nvidia.com" in message
    await_objects(kubectl.kubeconfig, EVENTS, lambda events: any(map(_is_refusal, events.values())))
    described = done("describe pod -n gpu-test1 pod2")
    assert re.search(rf"Warning +FailedScheduling +\S+( \(.*\))? +default-scheduler +{re.escape(WAITING)}", described)
    assert described.count("FailedScheduling") == 1
    saw = done("logs -n gpu-test1 pod1")
    done("delete pod -n gpu-test1 pod1 --wait=false")
    done("wait -n gpu-test1 pod/pod2 --for=condition=Ready --timeout=60s")
    assert "pod1" not in done("get pods -n gpu-test1 -o name")
    if runtime == "process":
        assert re.fullmatch(r"I have GPU-[0-9a-f-]{36}\n", saw)
        assert done("logs -n gpu-test1 pod2") == saw
    assert done("get resourceclaims -n gpu-test1 -o jsonpath='{.items[*].status.reservedFor[*].name}'") == "pod2"

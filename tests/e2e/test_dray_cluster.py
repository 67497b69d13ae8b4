"""The fixture `dray_cluster`, as people use it: with clients of all sorts, and each test by itself."""

import asyncio
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kr8s.asyncio
import kubernetes
import lightkube
import pytest
from kr8s.asyncio.objects import Pod
from lightkube import KubeConfig
from lightkube.resources import core_v1

from dray.driver import Claim, ContainerEdits, Device, Devices, Driver, Prepared, env
from dray.testing import ApiError, Cluster, ClusterError, Clusters, running_cluster
from dray.testing.objects import UnknownKind, find_kind
from tests.e2e.kubectl import find_binaries

pytest_plugins = ["pytester"]

kube: Any = SimpleNamespace(client=kubernetes.client, config=kubernetes.config)  # not everything of it is typed

CLASSES = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: large-gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.nvidia.com"}}]}
"""
TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""


def pod(name: str, template: str = "one-gpu") -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers: [{{name: train, image: example.com/train:1, resources: {{claims: [{{name: gpu}}]}}}}]
  resourceClaims: [{{name: gpu, resourceClaimTemplateName: {template}}}]
"""


def test_a_pod_runs_with_a_device_and_logs_it(dray_cluster: Cluster) -> None:
    applied = dray_cluster.apply(f"{TEMPLATE}---{pod('first')}")
    assert [each["kind"] for each in applied] == ["ResourceClaimTemplate", "Pod"]
    assert dray_cluster.wait_pod("first")["spec"]["nodeName"] == "dgx-h100-0"
    (device,) = dray_cluster.devices("first")
    assert device.startswith("dgx-h100-0/gpu-")
    assert "NVIDIA_VISIBLE_DEVICES" in dray_cluster.logs("first")


@pytest.mark.dray(nodes=["t4-vm"])
def test_a_pod_that_finds_no_device_says_why_and_runs_later(dray_cluster: Cluster) -> None:
    dray_cluster.apply(f"{TEMPLATE}---{pod('first')}")
    dray_cluster.wait_pod("first")
    dray_cluster.apply(pod("second"))
    assert "1 cannot allocate all claims" in dray_cluster.wait_unschedulable("second")
    dray_cluster.delete("pod", "first")
    dray_cluster.wait_pod("second")
    assert dray_cluster.devices("second") == ("t4-vm-0/gpu-0",)


@pytest.mark.dray(nodes=["t4-vm:2"], scope="session")
def test_a_device_fails_and_its_pod_is_evicted(dray_cluster: Cluster) -> None:
    dray_cluster.apply(f"{TEMPLATE}---{pod('first')}")
    dray_cluster.wait_pod("first")
    (device,) = dray_cluster.devices("first")
    dray_cluster.fail_device(device, reason="lost")

    dray_cluster.wait_gone("pod", "first")
    dray_cluster.heal_device(device)


@pytest.mark.dray(nodes=["t4-vm"])
def test_what_is_not_wanted_in_time_is_told_with_events(dray_cluster: Cluster) -> None:
    dray_cluster.apply(f"{TEMPLATE}---{pod('first')}---{pod('second')}")
    dray_cluster.wait_pod("first")
    dray_cluster.wait_unschedulable("second")
    with pytest.raises(AssertionError, match=r"FailedScheduling: 0/1 nodes are available"):
        dray_cluster.wait("pod", "second", lambda shown: shown["status"]["phase"] == "Running", seconds=0.2)
    with pytest.raises(AssertionError, match=r"second is not gone within"):
        dray_cluster.wait_gone("pod", "second", seconds=0.01)
    with pytest.raises(AssertionError, match="not found"):
        dray_cluster.wait("pod", "third", lambda _: True, seconds=0.01)


def test_refusals_are_those_of_the_server(dray_cluster: Cluster) -> None:
    with pytest.raises(ApiError, match=r'strict decoding error: unknown field "spec.devicess"'):
        dray_cluster.apply(
            "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c}, spec: {devicess: {}}}"
        )
    with pytest.raises(ApiError, match='pods "none" not found'):
        dray_cluster.get("pod", "none")
    with pytest.raises(UnknownKind, match="did you mean pod"):
        dray_cluster.list("podz")


def test_older_versions_are_applied_as_such(dray_cluster: Cluster) -> None:
    old = TEMPLATE.replace("/v1\n", "/v1beta1\n").replace("exactly: {deviceClassName: gpu.nvidia.com}", "CLASS")
    dray_cluster.apply(old.replace("CLASS", "deviceClassName: gpu.nvidia.com"))
    (request,) = dray_cluster.get("resourceclaimtemplate", "one-gpu")["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"]["deviceClassName"] == "gpu.nvidia.com"


def test_clusters_of_their_own_share_nothing(dray_clusters: Clusters) -> None:
    with dray_clusters.lend(["t4-vm"]) as one, dray_clusters.lend(["t4-vm"]) as other:
        one.apply(f"{CLASSES}---{TEMPLATE}---{pod('first')}")
        one.wait_pod("first")
        assert other.list("pods") == []
        assert "large-gpu" not in [each["metadata"]["name"] for each in other.list("deviceclass")]
        other.apply(f"{TEMPLATE}---{pod('first')}")
        other.wait_pod("first")
        assert one.url != other.url


def test_a_shared_cluster_is_as_it_was_for_the_next_test(dray_clusters: Clusters) -> None:
    with dray_clusters.lend(["t4-vm"], "session", title="test_one[a/b]") as one:
        before = {each["metadata"]["name"] for each in one.list("deviceclass")}
        one.apply(f"{CLASSES}---{TEMPLATE}---{pod('first')}")
        one.wait_pod("first")
        one.fail_device("t4-vm-0/gpu-0", effect="None")
        assert one.namespace.startswith("test-one-a-b-")
    with dray_clusters.lend(["t4-vm"], "session") as two:
        assert (one.url, one.namespace) != (two.url, two.namespace)
        assert one.url == two.url
        assert {each["metadata"]["name"] for each in two.list("deviceclass")} == before
        two.apply(f"{TEMPLATE}---{pod('first')}")
        two.wait_pod("first")
        assert two.devices("first") == ("t4-vm-0/gpu-0",)
        assert "dray.dev/" not in str(two.get("node", "t4-vm-0")["metadata"].get("annotations", {}))


class Sensors(Driver):
    name = "sensor.example.com"

    async def devices(self) -> Devices:
        return Devices.of(Device(name="sensor-0"))

    async def prepare(self, claim: Claim, devices: Any) -> Prepared:
        return Prepared.of(each.prepared(ContainerEdits(env=env(SENSOR=each.name))) for each in devices)


def test_nodes_with_drivers_of_ones_own_join(dray_cluster: Cluster) -> None:
    dray_cluster.add_node("bench-0", Sensors())
    sensors = CLASSES.replace("large-gpu", "sensor").replace("gpu.nvidia.com", Sensors.name)
    dray_cluster.apply(f"{sensors}---{TEMPLATE.replace('gpu.nvidia.com', 'sensor')}---{pod('first')}")
    dray_cluster.wait_pod("first")
    assert dray_cluster.devices("first") == ("bench-0/sensor-0",)
    assert "SENSOR=sensor-0" in dray_cluster.logs("first")
    assert dray_cluster.nodes == ("dgx-h100-0", "bench-0")


@pytest.mark.dray(scope="session")
def test_nobody_adds_nodes_to_a_shared_cluster(dray_cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="shared"):
        dray_cluster.add_node("bench-0", Sensors())


def test_a_cluster_that_has_ended_says_so() -> None:
    with running_cluster([]) as cluster:
        assert cluster.nodes == ()
    with pytest.raises(ClusterError, match="has ended"):
        cluster.list("pods")


@pytest.mark.parametrize(
    ("name", "want"), [("po", "Pod"), ("Pods", "Pod"), ("deviceclasses.resource.k8s.io", "DeviceClass")]
)
def test_kinds_are_found_by_any_name(name: str, want: str) -> None:
    assert find_kind(name).name == want


@pytest.mark.dray(scope="session")
def test_the_official_client_gets_in(dray_cluster: Cluster) -> None:
    with kube.config.new_client_from_config(config_file=str(dray_cluster.kubeconfig)) as api:
        nodes = kube.client.CoreV1Api(api).list_node().items
        api.rest_client.pool_manager.clear()
    assert [each.metadata.name for each in nodes] == ["dgx-h100-0"]


@pytest.mark.filterwarnings("ignore:Kubernetes version v1.37:UserWarning")
@pytest.mark.dray(scope="session")
def test_kr8s_gets_in_and_finds_the_namespace(dray_cluster: Cluster) -> None:
    dray_cluster.apply(f"{TEMPLATE}---{pod('first')}")
    dray_cluster.wait_pod("first")

    async def look() -> str:
        api: Any = await kr8s.asyncio.api(kubeconfig=str(dray_cluster.kubeconfig))
        try:
            found: Any = await Pod.get("first", api=api)
            return str(found.status.phase)
        finally:
            await api._session.aclose()  # kr8s itself never closes it

    assert asyncio.run(look()) == "Running"


@pytest.mark.dray(scope="session")
def test_kubectl_gets_in_and_finds_the_namespace(dray_cluster: Cluster, tmp_path: Path) -> None:
    binaries = find_binaries()
    if not binaries:
        pytest.skip("there is no kubectl in the path")
    dray_cluster.apply(f"{TEMPLATE}---{pod('first')}")
    dray_cluster.wait_pod("first")
    command = [binaries["default"], "--kubeconfig", str(dray_cluster.kubeconfig), "get", "pods", "-o", "name"]
    done = subprocess.run(command, env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=True)
    assert done.stdout == "pod/first\n"


REFUSED_MARKERS = {
    'nodes=["no-such-machine"]': "no-such-machine",
    'scope="module"': "try one of: function, session",
    'node="t4-vm"': "takes nodes=[...] and scope=",
}


def test_markers_that_cannot_be_are_refused(pytester: pytest.Pytester) -> None:
    tests = [f"@pytest.mark.dray({each})\ndef test_{i}(dray_cluster): pass\n" for i, each in enumerate(REFUSED_MARKERS)]
    pytester.makepyfile("import pytest\n" + "".join(tests))
    result = pytester.runpytest_subprocess("--strict-markers", "-p", "no:cacheprovider")
    result.assert_outcomes(errors=len(REFUSED_MARKERS))
    printed = result.stdout.str()
    assert [each for each in REFUSED_MARKERS.values() if each not in printed] == []


@pytest.mark.dray(scope="session")
def test_lightkube_gets_in_and_finds_the_namespace(dray_cluster: Cluster) -> None:
    dray_cluster.apply(f"{TEMPLATE}---{pod('first')}")
    dray_cluster.wait_pod("first")
    with lightkube.Client(config=KubeConfig.from_file(str(dray_cluster.kubeconfig)), trust_env=False) as client:
        assert [each.metadata.name for each in client.list(core_v1.Pod) if each.metadata] == ["first"]

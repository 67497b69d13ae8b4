"""One GPU, two pods, with kubectl: a transcript line by line, beside what kubectl was seen to print on Kubernetes.

`recorded` has what every version of kubectl printed on an API server and a scheduler of Kubernetes, on a node without
an agent, so that no pod ran there.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import Golden
from tests.e2e.conftest import BINARIES
from tests.e2e.kubectl import Kubectl, mask
from tests.e2e.servers import running_cluster

ROOT = Path(__file__).parents[2]
PODS = ROOT / "examples" / "walkthrough" / "pods.yaml"
RECORDED = Path(__file__).parent / "recorded"
PLAIN = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: single-gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers:
  - {name: ctr, image: ubuntu, command: [sleep, "9999"], resources: {claims: [{name: gpu}]}}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: single-gpu}]
"""
_REST = re.compile(r"(?<=Preemption is not helpful for scheduling\.) .*$", re.MULTILINE)
"""What dray has to say beyond Kubernetes' words."""

pytestmark = pytest.mark.skipif(not BINARIES, reason="there is no kubectl in the path")


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """On a control plane that is tainted and a machine with one T4."""
    with running_cluster(tmp_path_factory.mktemp("cluster"), "control-plane", "t4-vm") as kubeconfig:
        yield Kubectl(BINARIES["default"], tmp_path_factory.mktemp("home"), kubeconfig)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """On a machine with one T4 alone, with two pods that want a GPU each."""
    with running_cluster(tmp_path_factory.mktemp("cluster"), "t4-vm") as kubeconfig:
        kubectl = Kubectl(BINARIES["default"], tmp_path_factory.mktemp("home"), kubeconfig)
        assert kubectl.run("apply -f -", PLAIN + POD % "pod1").code == 0
        assert kubectl.run("wait --for=condition=Ready pod/pod1").code == 0
        assert kubectl.run("apply -f -", POD % "pod2").code == 0
        assert kubectl.run("wait --for=condition=PodScheduled=False pod/pod2").code == 0
        wait_for_attempts(kubectl, "default")
        yield kubectl


def wait_for_attempts(kubectl: Kubectl, namespace: str, count: str = "<none>") -> None:
    """Wait until the event of the pod that waits has been counted so often."""
    columns = "custom-columns=POD:.involvedObject.name,COUNT:.series.count --no-headers"
    command = f"get events -n {namespace} --field-selector reason=FailedScheduling --watch -o {columns}"
    with kubectl.start(command, {}) as watching:
        assert watching.stdout is not None
        assert any(line.split() == ["pod2", count] for line in watching.stdout)
        watching.terminate()


def mask_more(text: str, namespace: str) -> str:
    """What else differs from run to run, identities of generated objects and times that events span; and what kubectl
    words otherwise from 1.33 on.
    """
    text = re.sub(r"\(x(\d+) over \w+\)", r"(x\1 over AGE)", mask(text, namespace))
    text = re.sub(r"ConfigMapOptional: +<nil>", "Optional:  false", text)
    return re.sub(r"-gpu-[a-z0-9]{5}\b", "-gpu-XXXXX", text)


def test_transcript_is_that_of_the_walkthrough(kubectl: Kubectl, golden: Golden) -> None:
    lines: list[str] = []

    def show(command: str) -> str:
        done = kubectl.run(command)
        assert (done.code, done.err) == (0, "")
        text = mask_more(done.out, "no-such-namespace")
        lines.append(f"$ kubectl {command.replace(str(ROOT), '.')}\n{text}\n")
        return text

    applied = show(f"apply -f {PODS}")
    assert {"namespace/gpu-test1 created", "pod/pod1 created", "pod/pod2 created"} < set(applied.splitlines())
    assert kubectl.run("wait -n gpu-test1 --for=condition=Ready pod/pod1").code == 0
    wait_for_attempts(kubectl, "gpu-test1")
    assert [line.split()[:4] for line in show("get pod -A").splitlines()] == [
        ["NAMESPACE", "NAME", "READY", "STATUS"],
        ["gpu-test1", "pod1", "1/1", "Running"],
        ["gpu-test1", "pod2", "0/1", "Pending"],
    ]
    show("label pod pod2 -n gpu-test1 tried=again")  # a pod that changes is tried at once
    wait_for_attempts(kubectl, "gpu-test1", "2")
    described = show("describe pod pod2 -n gpu-test1")
    assert re.search(r"^ +PodScheduled +False$", described, re.MULTILINE)
    (failed,) = [line for line in described.splitlines() if "FailedScheduling" in line]
    want = r"AGE \(x2 over AGE\) +default-scheduler +0/2 nodes are available: 1 cannot allocate all claims"
    assert re.search(rf" Warning +FailedScheduling +{want}", failed)
    show("get resourceclaims -n gpu-test1")
    show("delete pod pod1 -n gpu-test1")
    assert kubectl.run("wait -n gpu-test1 --for=condition=Ready pod/pod2").code == 0
    show("get pod -A")
    golden.check("walkthrough/transcript.txt", "\n".join(lines))


def normalise(text: str) -> str:
    """What our kubectl printed, with the names that were recorded for the node and what belongs to it."""
    text = re.sub(r"00000-gpu\.nvidia\.com-t4-vm-0-[a-z0-9]{5}", "gpu-node-0-gpus", text)
    return _REST.sub("", mask_more(text.replace("t4-vm-0", "gpu-node-0"), "no-such-namespace"))


def read_recorded(name: str) -> str:
    return mask_more(RECORDED.joinpath(name).read_text(encoding="utf-8"), "no-such-namespace")


@pytest.mark.parametrize("version", BINARIES)
def test_pod_is_described_as_on_kubernetes(plain: Kubectl, version: str) -> None:
    described = plain._replace(binary=BINARIES[version]).run("describe pod pod2").out
    assert normalise(described).splitlines() == read_recorded("describe-pod2.txt").splitlines()


def test_claims_are_listed_as_on_kubernetes(plain: Kubectl) -> None:
    assert normalise(plain.run("get resourceclaims").out).splitlines() == read_recorded("get-claims.txt").splitlines()


def test_the_pod_that_waits_is_listed_as_on_kubernetes(plain: Kubectl) -> None:
    header, _, waiting = read_recorded("get-pods.txt").splitlines()
    listed = normalise(plain.run("get pods -o wide").out).splitlines()
    assert [line.split() for line in (listed[0], listed[2])] == [header.split(), waiting.split()]


def test_other_objects_are_listed_as_on_kubernetes(plain: Kubectl) -> None:
    printed = plain.run("get resourceslices,deviceclasses,resourceclaimtemplates").out
    listed = [line.split() for line in normalise(printed).splitlines()]
    assert [line for line in read_recorded("get-others.txt").splitlines() if line.split() not in listed] == []


def test_events_are_told_as_on_kubernetes(plain: Kubectl) -> None:
    recorded = set(read_recorded("events.txt").splitlines())
    listed = set(normalise(plain.run("get events").out).splitlines())
    assert recorded <= listed
    assert {line.split()[2] for line in listed - recorded} == {"Started"}


def dray(*words: str, kubeconfig: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dray", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={"KUBECONFIG": str(kubeconfig), "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
    )


TABLES = [
    "get nodes",
    "get pods -A",
    "get pods -o wide",
    "get pod pod1",
    "get resourceclaims",
    "get resourceslices",
    "get deviceclasses,resourceclaimtemplates",
    "get events --field-selector involvedObject.kind=Pod",
    "get pods -l no-such=label",
    "get pods --no-headers",
    "get pods,nodes -o name",
    "get configmaps -n kube-public",
]


@pytest.mark.parametrize("command", TABLES)
def test_tables_are_those_of_kubectl(plain: Kubectl, command: str) -> None:
    want, got = plain.run(command), dray(*command.split(), kubeconfig=plain.kubeconfig)
    assert (got.returncode, got.stderr) == (want.code, want.err)
    assert mask_more(got.stdout, "x-y-z") == mask_more(want.out, "x-y-z")


@pytest.mark.parametrize(
    "command", ["get pod pod1", "get pods,resourceclaims", "get nodes", "get deviceclass gpu.nvidia.com"]
)
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_objects_are_those_of_kubectl(plain: Kubectl, command: str, form: str) -> None:
    want = yaml.safe_load(plain.run(f"{command} -o {form}").out)
    got = yaml.safe_load(dray(*command.split(), "-o", form, kubeconfig=plain.kubeconfig).stdout)
    want.pop("metadata" if want["kind"] == "List" else "nothing", None)
    assert got == want


def test_logs_are_those_of_kubectl(plain: Kubectl) -> None:
    want = plain.run("logs pod1").out
    assert want
    assert dray("logs", "pod1", kubeconfig=plain.kubeconfig).stdout == want
    assert dray("logs", "pod1", "--tail", "1", kubeconfig=plain.kubeconfig).stdout == want.splitlines(keepends=True)[-1]

"""`dray apply`, `get`, `delete` and `logs` as people run them who have no kubectl, on a cluster of their own."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import Golden
from tests.e2e.kubectl import mask
from tests.e2e.servers import running_cluster

ROOT = Path(__file__).parents[2]
PODS = """\
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu, namespace: demo}
spec:
  spec:
    devices:
      requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: demo, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: app
    image: pause:3.10
    resources: {claims: [{name: gpu}]}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
"""


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_cluster(tmp_path_factory.mktemp("cluster"), "t4-vm") as file:
        yield file


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "pods.yaml"
    file.write_text(PODS, encoding="utf-8")
    return file


def dray(*words: str | Path, kubeconfig: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dray", *map(str, words)],
        input=stdin,
        capture_output=True,
        text=True,
        env={"KUBECONFIG": str(kubeconfig), "PYTHONUTF8": "1"},
        cwd=ROOT,
        check=False,
    )


def test_a_pod_from_manifest_to_log_to_its_end(kubeconfig: Path, manifest: Path) -> None:
    applied = dray("apply", "-f", manifest, kubeconfig=kubeconfig)
    assert (applied.returncode, applied.stderr) == (0, "")
    assert applied.stdout.splitlines() == [
        "namespace/demo created",
        "resourceclaimtemplate.resource.k8s.io/one-gpu created",
        "pod/web created",
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "dray", "get", "pods", "-n", "demo", "--watch"],
        stdout=subprocess.PIPE,
        text=True,
        env={"KUBECONFIG": str(kubeconfig)},
    ) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline().split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
        assert any("1/1" in line for line in watching.stdout), "the pod did not run"
        watching.terminate()
    log = dray("logs", "pod/web", "-n", "demo", "--tail", "2", kubeconfig=kubeconfig)
    assert (log.returncode, len(log.stdout.splitlines())) == (0, 2)
    again = dray("apply", "-f", "-", "-o", "name", kubeconfig=kubeconfig, stdin=PODS)
    assert "pod/web\n" in again.stdout
    deleted = dray("delete", "-f", manifest, kubeconfig=kubeconfig)
    assert (deleted.returncode, deleted.stderr) == (0, "")
    assert deleted.stdout.splitlines()[-1] == "pod/web deleted"
    gone = dray("get", "pods,resourceclaims", "-n", "demo", kubeconfig=kubeconfig)
    assert (gone.returncode, gone.stdout, gone.stderr) == (0, "", "No resources found in demo namespace.\n")


def test_what_went_with_its_namespace_is_deleted(kubeconfig: Path) -> None:
    space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: brief}\n"
    inside = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone, namespace: brief}\n"
    assert dray("apply", "-f", "-", kubeconfig=kubeconfig, stdin=space).returncode == 0
    deleted = dray("delete", "-f", "-", kubeconfig=kubeconfig, stdin=f"{space}---\n{inside}")
    assert (deleted.returncode, deleted.stderr) == (0, "")
    assert deleted.stdout.splitlines() == ["namespace/brief deleted", "configmap/gone deleted"]
    alone = dray("delete", "-f", "-", kubeconfig=kubeconfig, stdin=inside)
    assert (alone.returncode, alone.stdout) == (2, "")


def wait_until(line: str, *words: str, kubeconfig: Path) -> None:
    """Wait until a watch prints a line that begins so, blanks apart."""
    command = [sys.executable, "-m", "dray", "get", *words, "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"KUBECONFIG": str(kubeconfig)}) as watching:
        assert watching.stdout is not None
        assert any(" ".join(each.split()).startswith(line) for each in watching.stdout)
        watching.terminate()


def test_the_walkthrough_needs_no_kubectl(kubeconfig: Path, golden: Golden) -> None:
    lines: list[str] = []

    def show(command: str, *, code: int = 0) -> None:
        done = dray(*command.split(" "), kubeconfig=kubeconfig)
        assert (done.returncode, done.stderr) == (code, "")
        text = re.sub(r"-gpu-[a-z0-9]{5}\b", "-gpu-XXXXX", mask(done.stdout, "no-such-namespace"))
        lines.append(f"$ dray {command}\n{text}\n")

    show("apply -f examples/walkthrough/pods.yaml")
    wait_until("pod1 1/1 Running", "pods", "-n", "gpu-test1", kubeconfig=kubeconfig)
    wait_until("pod2 0/1 Pending", "pods", "-n", "gpu-test1", kubeconfig=kubeconfig)
    show("get pod -A")
    show("explain pod pod2 -n gpu-test1", code=1)
    show("logs pod1 -n gpu-test1")
    show("devices")
    show("delete pod pod1 -n gpu-test1")
    wait_until("pod2 1/1 Running", "pods", "-n", "gpu-test1", kubeconfig=kubeconfig)
    show("get pod -A")
    show("delete pods --all -n gpu-test1")
    golden.check("walkthrough/without-kubectl.txt", "\n".join(lines))


def test_objects_come_as_tables_and_whole(kubeconfig: Path) -> None:
    header, line = dray("get", "nodes", kubeconfig=kubeconfig).stdout.splitlines()
    assert header.split() == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert line.split()[:2] == ["t4-vm-0", "Ready"]
    assert "CONTAINER-RUNTIME" in dray("get", "node", "t4-vm-0", "-o", "wide", kubeconfig=kubeconfig).stdout
    assert dray("get", "no/t4-vm-0", "-o", "name", kubeconfig=kubeconfig).stdout == "node/t4-vm-0\n"
    one = json.loads(dray("get", "node", "t4-vm-0", "-o", "json", kubeconfig=kubeconfig).stdout)
    assert (one["kind"], one["metadata"]["name"]) == ("Node", "t4-vm-0")
    many = yaml.safe_load(dray("get", "nodes,deviceclasses", "-o", "yaml", kubeconfig=kubeconfig).stdout)
    assert {each["kind"] for each in many["items"]} == {"Node", "DeviceClass"}
    chosen = dray("get", "ns", "-l", "kubernetes.io/metadata.name=kube-system", "--no-headers", kubeconfig=kubeconfig)
    assert [line.split()[0] for line in chosen.stdout.splitlines()] == ["kube-system"]
    everywhere = dray("get", "serviceaccounts", "-A", kubeconfig=kubeconfig).stdout.splitlines()
    assert everywhere[0].split()[0] == "NAMESPACE"
    assert ["kube-system", "default"] in [line.split()[:2] for line in everywhere]


def test_what_fails_does_not_keep_the_rest_from_being_applied(kubeconfig: Path, tmp_path: Path) -> None:
    bad = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not-A-Name}\n"
    good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fine}\n"
    tmp_path.joinpath("a.yaml").write_text(bad, encoding="utf-8")
    tmp_path.joinpath("b.yml").write_text(good, encoding="utf-8")
    tmp_path.joinpath("c.txt").write_text("no manifest", encoding="utf-8")
    applied = dray("apply", "-f", tmp_path, kubeconfig=kubeconfig)
    assert (applied.returncode, applied.stdout) == (2, "configmap/fine created\n")
    assert applied.stderr.startswith(f"error: {tmp_path}/a.yaml:1: ")
    assert dray("delete", "configmap", "fine", "--no-wait", kubeconfig=kubeconfig).stdout == "configmap/fine deleted\n"
    assert dray("delete", "cm", "fine", "--ignore-not-found", kubeconfig=kubeconfig).returncode == 0


def test_fields_of_others_are_taken_over_only_when_asked(kubeconfig: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: contested, namespace: default}\ndata: {a: '%s'}\n"
    assert dray("apply", "-f", "-", kubeconfig=kubeconfig, stdin=text % "1").returncode == 0
    dry = dray("apply", "-f", "-", "--dry-run", kubeconfig=kubeconfig, stdin=text % "2")
    assert dry.stdout == "configmap/contested applied (dry run)\n"
    stored = dray("get", "cm", "contested", "-o", "json", kubeconfig=kubeconfig)
    assert json.loads(stored.stdout)["data"] == {"a": "1"}
    assert dray("delete", "cm/contested", kubeconfig=kubeconfig).returncode == 0


BAD = [
    (["apply", "-f", "no-such-file.yaml"], "cannot read no-such-file.yaml"),
    (["apply", "-f", "-"], "standard input"),
    (["delete", "-f", "no-such-file.yaml"], "cannot read no-such-file.yaml"),
    (["delete"], "what to delete is named, or in a file"),
    (["delete", "pods"], "a kind alone is not deleted"),
    (["delete", "pod", "nowhere"], 'pods "nowhere" not found'),
    (["get", "pod", "nowhere"], 'pods "nowhere" not found'),
    (["get", "nonsense"], 'no resource "nonsense"'),
    (["get", "pod", "web", "-A"], "a name goes with one namespace"),
    (["get", "pods,nodes", "-w"], "--watch shows one kind"),
    (["logs", "nowhere"], 'pods "nowhere" not found'),
    (["logs", "node/t4-vm-0"], "node/t4-vm-0 is no pod"),
    (["logs", "web", "--since", "yesterday"], "--since yesterday is no duration"),
]


@pytest.mark.parametrize(("words", "want"), BAD, ids=lambda each: " ".join(each) if isinstance(each, list) else "")
def test_what_cannot_be_done_is_said(words: list[str], want: str, kubeconfig: Path) -> None:
    done = dray(*words, kubeconfig=kubeconfig, stdin="a: [")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {want}") or want in done.stderr
    assert "\n  try: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["apply", "-f", "-"], ["get", "pods"], ["delete", "pod", "web"], ["logs", "web"]])
def test_no_cluster_and_no_permission_are_said(words: list[str], kubeconfig: Path, tmp_path: Path) -> None:
    file = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    file["users"][0]["user"]["as"] = "nobody"
    nobody, nowhere = tmp_path / "nobody", tmp_path / "nowhere"
    nobody.write_text(yaml.safe_dump(file), encoding="utf-8")
    file["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    nowhere.write_text(yaml.safe_dump(file), encoding="utf-8")
    stdin = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fine}\n"
    for place, want in ((nobody, 'User "nobody" cannot'), (nowhere, "cannot connect"), (tmp_path / "no", "kubeconfig")):
        done = dray(*words, kubeconfig=place, stdin=stdin)
        assert done.returncode == 2
        assert want in done.stderr
        assert "\n  try: " in done.stderr
        assert "Traceback" not in done.stderr

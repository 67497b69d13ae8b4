"""`dray lint` and `dray convert` as people run them: files, folders, standard input, a cluster, and none."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e.servers import running_cluster

VERBS = ("lint", "convert")
OLD_CLASS = """\
apiVersion: resource.k8s.io/v1beta1
kind: DeviceClass
metadata:
  name: npu.acme.example  # ours
spec:
  selectors:
  - cel:
      expression: device.driver == "npu.acme.example"
"""
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: train, namespace: ml}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.nvidia.com
        count: 2
        selectors:
        - cel: {expression: 'device.attributes["gpu.nvidia.com"].productNam == "Tesla T4"'}
---
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: ml}
spec:
  containers:
  - {name: main, image: example.com/train:1, resources: {claims: [{name: gpu}]}}
  resourceClaims:
  - {name: gpu, resourceClaimTemplateName: gone}
"""
CLASSIC = """\
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClass
metadata: {name: npu}
driverName: npu.acme.example
parametersRef: {apiGroup: npu.acme.example, kind: NpuClassParameters, name: shared}
"""
ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: looks-at-slices}
rules:
- {apiGroups: [resource.k8s.io], resources: [resourceslices], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: looks-at-slices}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: looks-at-slices}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: curious}]
"""


def dray(*words: str | Path, stdin: str | bytes = "", **variables: str) -> subprocess.CompletedProcess[str]:
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "dray", *map(str, words)],
        input=given,
        capture_output=True,
        env={"PYTHONUTF8": "1", **variables},
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_cluster(tmp_path_factory.mktemp("cluster"), "t4-vm") as file:
        yield file


def test_findings_are_told_with_their_places_and_counted_in_the_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "class.yaml"
    file.write_text(OLD_CLASS)
    done = dray("lint", "-f", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{file}:1: warning: resource.k8s.io/v1beta1 DeviceClass is deprecated" in done.stdout
    assert done.stdout.endswith("1 object: 1 warning\n")
    assert dray("lint", "--strict", "-f", file).returncode == 1
    assert dray("lint", "--strict", "--ignore", "version-deprecated", "-f", file).stdout == "1 object: nothing to say\n"


def test_findings_as_json_and_sarif_say_the_same() -> None:
    printed = dray("lint", "-f", "-", "-o", "json", stdin=CLASSIC)
    findings = json.loads(printed.stdout)
    assert (printed.returncode, printed.stderr) == (1, "")
    assert [(each["rule"], each["file"], each["line"]) for each in findings] == [
        ("classic-api", "standard input", 1),
        ("missing-fact", "standard input", 1),
    ]
    sarif = json.loads(dray("lint", "-f", "-", "-o", "sarif", stdin=CLASSIC).stdout)
    (run,) = sarif["runs"]
    assert [result["ruleId"] for result in run["results"]] == [each["rule"] for each in findings]


def test_several_files_are_one_input(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        tmp_path.joinpath(name).write_text(OLD_CLASS)
    folder = tmp_path / "deep"
    folder.mkdir()
    folder.joinpath("c.json").write_text(json.dumps(yaml.safe_load(OLD_CLASS)))
    done = dray("lint", "-f", tmp_path)
    assert done.returncode == 1
    assert f"{tmp_path / 'b.yaml'}:4: error: DeviceClass" in done.stdout
    assert "2 objects: " in done.stdout
    assert "3 objects: " in dray("lint", "-R", "-f", tmp_path).stdout
    converted = dray("convert", "-R", "-f", tmp_path)
    assert [each["apiVersion"] for each in yaml.safe_load_all(converted.stdout) if each] == ["resource.k8s.io/v1"]
    assert converted.stdout.count("stands above already") == 2


def test_what_need_not_change_stays_word_by_word() -> None:
    text = CLAIM.replace("---\n", "--- # and its pod\n")
    done = dray("convert", "-f", "-", stdin=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == CLAIM.replace("---\n", "---\n# and its pod\n")


def test_change_has_a_comment_and_the_rest_keeps_its_form() -> None:
    done = dray("convert", "-f", "-", stdin=OLD_CLASS)
    assert (done.returncode, done.stderr) == (0, "")
    changed = OLD_CLASS.replace("apiVersion: resource.k8s.io/v1beta1", "apiVersion: resource.k8s.io/v1")
    assert done.stdout == f"# was resource.k8s.io/v1beta1\n{changed}"


def test_missing_fact_ends_in_three() -> None:
    done = dray("convert", "-f", "-", stdin=CLASSIC)
    assert done.returncode == 3
    assert "# MISSING: what NpuClassParameters shared of parametersRef said" in done.stdout
    assert done.stderr.startswith('missing: standard input:1: ResourceClass "npu": what NpuClassParameters shared')


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: x}\nspec: {devices: {requests: [...]}}",
        "kind: [",
        "- a list",
        CLASSIC + "---\nkind: [",
    ],
)
def test_what_cannot_be_converted_ends_in_one_and_says_why(text: str) -> None:
    done = dray("convert", "-f", "-", stdin=text)
    assert done.returncode == 1
    assert "# not converted: " in done.stdout
    assert done.stderr.startswith("error: standard input")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.yaml", None, "No such file"),
        ("empty.yaml", b"", "holds no objects"),
        ("comments.yaml", b"# nothing\n---\n", "holds no objects"),
        ("binary.yaml", b"\xff\xfe\x00", "is not text in UTF-8"),
    ],
)
def test_what_cannot_be_read_is_told_with_a_hint(
    tmp_path: Path, verb: str, name: str, content: bytes | None, said: str
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    done = dray(verb, "-f", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(file) in done.stderr
    assert said in done.stderr
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["error", "  try"]


@pytest.mark.parametrize("verb", VERBS)
def test_folder_without_manifests_and_wrong_usage_end_in_two(tmp_path: Path, verb: str) -> None:
    assert dray(verb, "-f", tmp_path).returncode == 2
    assert dray(verb).returncode == 2
    assert dray(verb, "-f").returncode == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("verb", VERBS)
def test_file_that_may_not_be_read_is_told(tmp_path: Path, verb: str) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text(OLD_CLASS)
    file.chmod(0)
    done = dray(verb, "-f", file)
    assert done.returncode == 2
    assert "Permission denied" in done.stderr


def test_rule_that_there_is_not_is_refused_with_the_one_meant() -> None:
    done = dray("lint", "--ignore", "wrong-nam", "-f", "-", stdin=OLD_CLASS)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--ignore wrong-name" in done.stderr


def test_cluster_tells_what_is_published_and_what_is_there(kubeconfig: Path) -> None:
    found = json.loads(dray("lint", "-f", "-", "-o", "json", stdin=CLAIM, KUBECONFIG=str(kubeconfig)).stdout)
    told = {each["rule"]: each for each in found}
    assert set(told) == {"unknown-attribute", "dangling-reference"}
    assert "in the cluster" in told["unknown-attribute"]["message"]
    assert told["unknown-attribute"]["hint"] == 'did you mean device.attributes["gpu.nvidia.com"].productName?'
    assert (
        "no ResourceClaimTemplate gone in namespace ml of the input or the cluster"
        in (told["dangling-reference"]["message"])
    )


def test_cluster_is_asked_how_many_there_are(kubeconfig: Path) -> None:
    text = CLAIM.replace("productNam ", "productName ")
    forced = dray("lint", "--cluster", "-f", "-", stdin=text, KUBECONFIG=str(kubeconfig))
    assert "asks for 2 devices; 1 of gpu.nvidia.com in the cluster will do [no-match]" in forced.stdout
    absent = text.replace("gpu.nvidia.com", "gpu.amd.com").replace("productName", "family")
    asked = dray("lint", "--kubeconfig", kubeconfig, "-f", "-", stdin=absent)
    assert "the cluster has no devices of gpu.amd.com [no-match]" in asked.stdout
    assert "no DeviceClass gpu.amd.com in the input or the cluster" in asked.stdout
    assert "no-match" not in dray("lint", "--no-cluster", "-f", "-", stdin=text, KUBECONFIG=str(kubeconfig)).stdout


def test_cluster_that_does_not_answer_matters_only_if_it_was_asked_for(tmp_path: Path, kubeconfig: Path) -> None:
    config = yaml.safe_load(kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    at_hand = dray("lint", "-f", "-", stdin=OLD_CLASS, KUBECONFIG=str(file))
    assert at_hand.returncode == 0
    assert at_hand.stderr.startswith("no cluster at hand: ")
    assert at_hand.stderr.count("\n") == 1
    for words in (("--cluster",), ("--kubeconfig", str(file)), ("--context", "nowhere")):
        refused = dray("lint", *words, "-f", "-", stdin=OLD_CLASS, KUBECONFIG=str(file))
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith("error: ")


def test_cluster_that_shows_too_little_is_told(tmp_path: Path, kubeconfig: Path) -> None:
    roles = tmp_path / "roles.yaml"
    roles.write_text(ROLE)
    assert dray("apply", "-f", roles, KUBECONFIG=str(kubeconfig)).returncode == 0
    config = yaml.safe_load(kubeconfig.read_text())
    config["users"][0]["user"]["as"] = "curious"
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    refused = dray("lint", "--cluster", "-f", "-", stdin=OLD_CLASS, KUBECONFIG=str(file))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "forbidden" in refused.stderr
    at_hand = dray("lint", "-f", "-", stdin=OLD_CLASS, KUBECONFIG=str(file))
    assert (at_hand.returncode, at_hand.stdout.splitlines()[-1]) == (0, "1 object: 1 warning")
    assert "forbidden" in at_hand.stderr

"""`dray explain` as people run it, on a cluster that has only Kubernetes' own scheduler, nothing of dray.

No scheduler runs at all: what kube-scheduler leaves behind, conditions and events, is written as it writes it.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from dray.api.core.kinds import NODE, POD
from dray.api.registry import AnyKind
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.app.clientwire import wire_client
from dray.client.port import ObjectName, Patch, PatchType
from dray.effects.clock import SystemClock
from tests.cases.allocator.terse import decode
from tests.e2e.servers import running_server

CLUSTER = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: device.driver == 'gpu.nvidia.com'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: gpu-node-0-gpus}
spec:
  driver: gpu.nvidia.com
  nodeName: gpu-node-0
  pool: {name: gpu-node-0, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, attributes: {type: {string: gpu}}, capacity: {memory: {value: 15Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: single-gpu, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: v1
kind: Event
metadata: {name: pod2.1, namespace: default}
involvedObject: {apiVersion: v1, kind: Pod, name: pod2, namespace: default}
reason: FailedScheduling
type: Warning
message: '0/8 nodes are available: 1 node(s) had untolerated taint(s), 7 cannot allocate all claims.'
"""
MESSAGE = "0/8 nodes are available: 1 node(s) had untolerated taint(s), 7 cannot allocate all claims."
PREEMPTION = " preemption: 0/8 nodes are available: 8 Preemption is not helpful for scheduling."
MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: pod3}
spec:
  containers: [{name: ctr, image: ubuntu, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: single-gpu}]
"""
NODES = ("master", "gpu-node-0", *(f"cpu-node-{number}" for number in range(6)))
TAINTS = [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
ROOM = {"cpu": "4", "memory": "28Gi", "pods": "110"}
RESULT = {"request": "gpu", "driver": "gpu.nvidia.com", "pool": "gpu-node-0", "device": "gpu-0"}


def node(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}


def pod(name: str) -> dict[str, Any]:
    manifest: dict[str, Any] = yaml.safe_load(MANIFEST)
    return manifest | {"metadata": {"name": name, "namespace": "default"}}


async def write_what_others_write(kubeconfig: Path) -> None:
    """What agents, controllers and the scheduler have to say."""
    async with wire_client({}, SystemClock(), kubeconfig=kubeconfig) as client:

        async def write(kind: AnyKind, name: str, body: object, *, subresource: str = "status") -> None:
            place = ObjectName(name, "default" if kind is not NODE else "")
            await client.patch(kind, place, Patch(PatchType.MERGE, msgspec.json.encode(body)), subresource=subresource)

        for each in NODES:
            await write(NODE, each, {"status": {"capacity": ROOM, "allocatable": ROOM}})
            await write(NODE, each, {"spec": {"taints": TAINTS if each == "master" else []}}, subresource="")
        spec = next(each["spec"]["spec"] for each in yaml.safe_load_all(CLUSTER) if "spec" in each.get("spec", {}))
        for name in ("pod1", "pod2"):
            uid = (await client.get(POD, ObjectName(name, "default"))).metadata.uid
            owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": True}
            claim = {"metadata": {"name": f"{name}-gpu-x7k2p", "namespace": "default", "ownerReferences": [owner]}}
            await client.create(RESOURCE_CLAIM, decode(claim | {"spec": spec}, ResourceClaim))
            made = [{"name": "gpu", "resourceClaimName": f"{name}-gpu-x7k2p"}]
            await write(POD, name, {"status": {"resourceClaimStatuses": made}})
            if name == "pod1":
                users = [{"resource": "pods", "name": name, "uid": uid}]
                given = {"allocation": {"devices": {"results": [RESULT]}}, "reservedFor": users}
                await write(RESOURCE_CLAIM, "pod1-gpu-x7k2p", {"status": given})
        said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": MESSAGE + PREEMPTION}
        await write(POD, "pod2", {"status": {"conditions": [said]}})


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_server(tmp_path_factory.mktemp("server")) as (file, _):
        things = [*yaml.safe_load_all(CLUSTER), *map(node, NODES), pod("pod1"), pod("pod2")]
        applied = dray("apply", "-f", "-", kubeconfig=file, stdin=yaml.safe_dump_all(things))
        assert applied.returncode == 0, applied.stderr
        asyncio.run(write_what_others_write(file))
        yield file


def dray(*words: str, kubeconfig: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dray", *words],
        input=stdin,
        capture_output=True,
        text=True,
        env={"KUBECONFIG": str(kubeconfig), "PYTHONUTF8": "1"},
        check=False,
    )


def test_a_pod_that_kube_scheduler_refused(kubeconfig: Path) -> None:
    done = dray("explain", "pod", "pod2", kubeconfig=kubeconfig)
    assert (done.returncode, done.stderr) == (1, "")
    assert (
        done.stdout
        == f"""\
pod default/pod2: NoNodeFits
  none of 8 nodes fits
  in the scheduler's words: {MESSAGE}

Nodes
   6 have no device of class gpu.nvidia.com       NoDevice          {", ".join(NODES[2:7])} and 1 more
   1 has no free device of class gpu.nvidia.com   Taken             gpu-node-0
   1 node(s) had untolerated taint(s)             TaintToleration   master

Closest: gpu-node-0
  request gpu, class gpu.nvidia.com: 0 of 1 device fit, 1 wanted
    1 taken by default/pod1-gpu-x7k2p   Taken

On gpu-node-0 it would fit
  with default/pod1-gpu-x7k2p released         ReleaseClaims
  with 1 more device of class gpu.nvidia.com   AddDevices
"""
    )


def test_claims_are_explained_by_themselves(kubeconfig: Path) -> None:
    had = dray("explain", "claim", "pod1-gpu-x7k2p", kubeconfig=kubeconfig)
    assert (had.returncode, had.stdout.splitlines()[0]) == (0, "claim default/pod1-gpu-x7k2p: Allocated")
    wanted = dray("explain", "resourceclaim/pod2-gpu-x7k2p", kubeconfig=kubeconfig)
    assert (wanted.returncode, wanted.stdout.splitlines()[0]) == (1, "claim default/pod2-gpu-x7k2p: NoNodeFits")
    assert "1 taken by default/pod1-gpu-x7k2p" in wanted.stdout


def test_manifests_are_explained_and_not_applied(kubeconfig: Path) -> None:
    refused = dray("explain", "-f", "-", kubeconfig=kubeconfig, stdin=MANIFEST)
    assert (refused.returncode, refused.stdout.splitlines()[0]) == (1, "pod default/pod3: NoNodeFits")
    without = yaml.safe_load(MANIFEST)
    del without["spec"]["resourceClaims"], without["spec"]["containers"][0]["resources"]
    taken = dray("explain", "-f", "-", kubeconfig=kubeconfig, stdin=yaml.safe_dump(without))
    assert taken.returncode == 0
    assert "the pod would go to " in taken.stdout
    assert "7 of 8 nodes fit" in taken.stdout
    assert dray("get", "pods", "-o", "name", kubeconfig=kubeconfig).stdout == "pod/pod1\npod/pod2\n"


def test_machines_are_told_the_same(kubeconfig: Path) -> None:
    (told,) = json.loads(dray("explain", "pod/pod2", "-o", "json", kubeconfig=kubeconfig).stdout)["accounts"]
    assert (told["code"], told["message"], told["nearest"]["node"]) == ("NoNodeFits", MESSAGE, "gpu-node-0")
    assert [(each["code"], each["count"]) for each in told["refusals"]] == [
        ("NoDevice", 6),
        ("Taken", 1),
        ("TaintToleration", 1),
    ]
    done = dray("explain", "pod/pod2", "-o", "yaml", kubeconfig=kubeconfig)
    assert yaml.safe_load(done.stdout) == {"accounts": [told]}


BAD = [
    ([], "nothing to explain"),
    (["pod"], "which pod?"),
    (["pod", "pod2", "-f", "x.yaml"], "either a name or -f"),
    (["node", "master"], "'node' is not explained"),
    (["pod", "pod22"], "there is no pod default/pod22\n  try: dray explain pod pod2"),
    (["pod", "pod2", "-n", "elsewhere"], "there is no pod elsewhere/pod2\n  try: dray explain pod pod2 -n default"),
    (["claim", "nothing"], "there is no claim default/nothing"),
    (["-f", "no-such-file.yaml"], "cannot read no-such-file.yaml"),
    (["-f", "-"], "standard input:2: not YAML"),
]


@pytest.mark.parametrize(("words", "want"), BAD, ids=lambda each: " ".join(each) if isinstance(each, list) else "")
def test_what_cannot_be_explained_is_said(kubeconfig: Path, words: list[str], want: str) -> None:
    done = dray("explain", *words, kubeconfig=kubeconfig, stdin="a:\n  [")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {want}")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("manifest", "want"),
    [
        ("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", "there is no pod and no claim among the objects"),
        (MANIFEST.replace("image: ubuntu", "image: ''"), "spec.containers[0].image: Required value"),
        (MANIFEST.replace("resourceClaims", "resourceclaims"), "unknown field"),
    ],
)
def test_manifests_that_would_not_be_taken_are_refused(kubeconfig: Path, manifest: str, want: str) -> None:
    done = dray("explain", "-f", "-", kubeconfig=kubeconfig, stdin=manifest)
    assert (done.returncode, done.stdout) == (2, "")
    assert want in done.stderr

"""Manifests as introductions to DRA publish them get the answers that their readers need.

They lie beside the folder of recordings that CASES names, and are not ours to keep here. Variants of each, newly
written, are in `examples/seeds` and `tests/golden/manifests`, and always run.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from dray.authoring.findings import Finding
from dray.demo.example import Example, Scene, Step, WantedAlignment, WantedClaim, WantedLog, WantedPod, Wants
from dray.demo.player import Silence, Surroundings, play
from dray.effects.clock import SystemClock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import MemoryLog
from tests.cases.authoring.desk import convert_texts, lint_texts
from tests.e2e.kubectl import find_binaries
from tests.e2e.servers import running_cluster

FOLDER = Path(os.environ.get("CASES") or "no-cases", "..", "seeds", "manifests")
BINARIES = find_binaries()
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="CASES names no folder of recordings beside which published manifests lie"
)


class Row(NamedTuple):
    """What one manifest must get: findings as `rule: piece of message or hint`, and the objects that come of it."""

    file: str
    found: tuple[str, ...]
    applies: str
    """A piece of what `kubectl apply` says."""
    is_refused: bool = False
    code: int = 0
    """How `dray convert` ends."""


ROWS = (
    Row("000-1-deviceclass", ("version-deprecated: resource.k8s.io/v1beta1",), "deprecated in v1.35+"),
    Row(
        "000-2-claimtemplate",
        (
            "version-deprecated: resource.k8s.io/v1beta1",
            'attribute-or-capacity: device.capacity["gpu-driver.example.com"].memory.compareTo(quantity("16Gi")) >= 0',
            "attribute-or-capacity: unknown attribute",
            "quantity-as-text: never compared by >= with a string",
            "implicit-count: count is 1",
        ),
        "deprecated in v1.35+",
    ),
    Row("000-3-pod", (), "pod/stock-prediction-pod created"),
    *(
        Row(
            f"001-0{n}-resourceslice",
            (
                "version-gone: v1alpha3",
                "ellipsis: pool is left out",
                "ellipsis: not shown",
                "wrong-nesting: spec.devices[0].name: gpu-0",
                "wrong-nesting: spec.devices[0].attributes.index: {int: 0}",
                "wrong-nesting: spec.devices[0].attributes.model: {string: NVIDIA GH200 96GB HBM3}",
                "wrong-nesting: spec.devices[0].attributes.driverVersion: {version: 550.94.0}",
                "wrong-nesting: spec.devices[0].capacity: {memory: 96Gi}",
            ),
            "error",
            is_refused=True,
        )
        for n in (1, 2)
    ),
    Row(
        "001-03-deviceclass",
        ("version-gone: convert", "cel-compile: device.driver == 'gpu.nvidia.com'", "ellipsis: not shown"),
        "error",
        is_refused=True,
    ),
    Row(
        "001-04-resourceclaim",
        ("version-gone: convert", "missing-name: a request needs a name"),
        "no matches for kind",
        is_refused=True,
    ),
    Row("001-05-pod", ("missing-image: name yours",), "image: Required value", is_refused=True),
    Row("001-06-pod", ("missing-image: name yours",), "image: Required value", is_refused=True),
    Row(
        "001-07-deviceclass",
        ("version-gone: convert", "cel-compile: device.driver == 'gpu.nvidia.com'"),
        "no matches for kind",
        is_refused=True,
    ),
    Row(
        "001-08-resourceclaim",
        (
            "version-gone: convert",
            "wrong-nesting: spec.devices.config",
            "wrong-nesting: spec.devices.config[0].opaque",
            "driver-config: resource.nvidia.com/v1beta1",
            "driver-config: GpuConfig",
            "driver-config: one map, not a list",
        ),
        "no matches for kind",
        is_refused=True,
    ),
    Row("001-09-resourceclaim", ("ellipsis: not shown",), "error", is_refused=True, code=1),
    Row(
        "001-10-resourceclaim",
        (
            "cel-compile: device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0",
            "cel-compile: is the map of a domain, not a value",
        ),
        "no matches for kind",
        is_refused=True,
    ),
    Row(
        "001-11-resourceclaim",
        (
            "cel-compile: device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0",
            "cel-compile: device.attributes['rdma.nvidia.com'].sriovType == 'vf'",
        ),
        "no matches for kind",
        is_refused=True,
    ),
    Row(
        "001-12-resourceclaim",
        (
            "cel-compile: device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0",
            "cel-compile: device.attributes['rdma.nvidia.com'].sriovType == 'vf'",
            "wrong-nesting: spec.devices.constraints",
            "wrong-name: requestNames is called requests",
            "wrong-name: resource.kubernetes.io/pcieRoot",
        ),
        "no matches for kind",
        is_refused=True,
    ),
    Row(
        "003-1-sample-driver",
        (
            "yaml-separator: en dash",
            "version-gone: v1alpha3",
            "wrong-nesting: name stood beside metadata",
            "classic-api: v1alpha1",
            "deprecated-form: flattened in 1.31",
            "wrong-name: resourceClaimTemplate is called resourceClaimTemplateName",
        ),
        "error",
        is_refused=True,
    ),
)


def read(name: str) -> str:
    return FOLDER.joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def converted(name: str) -> list[Any]:
    conversion = convert_texts({name: read(name)})
    return [each for each in yaml.safe_load_all(conversion.text) if each]


def is_found(wanted: str, findings: list[Finding]) -> bool:
    rule, _, piece = wanted.partition(": ")
    return any(each.rule == rule and piece in f"{each.message}\n{each.hint}" for each in findings)


def test_every_manifest_has_a_row() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.yaml")) == sorted(row.file for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_lint_says_what_is_off(row: Row) -> None:
    findings = lint_texts({row.file: read(row.file)})
    assert [wanted for wanted in row.found if not is_found(wanted, findings)] == []
    rules = {wanted.partition(": ")[0] for wanted in row.found}
    assert {each.rule for each in findings} - rules <= {"implicit-count", "reference-elsewhere", "version-gone"}


def test_separator_is_the_first_error() -> None:
    assert lint_texts({"003": read("003-1-sample-driver")})[0].rule == "yaml-separator"


def test_pod_shown_twice_is_found_in_one_input() -> None:
    findings = lint_texts({name: read("001-06-pod") for name in ("first", "second")})
    assert [each.file for each in findings if each.rule == "duplicate-object"] == ["second"]


def test_misspelt_domain_of_the_report_is_told() -> None:
    text = read("001-12-resourceclaim").replace("k8s.io/pcieRoot", "resource.kubernbetes.io/pcieRoot")
    assert is_found("unknown-attribute: did you mean resource.kubernetes.io/pcieRoot?", lint_texts({"claim": text}))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_conversion_ends_as_it_should_and_comments_on_what_it_changes(row: Row) -> None:
    text = read(row.file)
    conversion = convert_texts({row.file: text})
    assert bool(conversion.problems) is (row.code == 1)
    assert conversion.missing == ()
    assert conversion.text == text or "# " in conversion.text
    left = lint_texts({row.file: conversion.text})
    assert [each for each in left if each.severity == "error"] == []


def test_pod_of_the_overview_stays_as_it_is() -> None:
    assert convert_texts({"pod": read("000-3-pod")}).text == read("000-3-pod")


@pytest.mark.parametrize("name", ["001-01-resourceslice", "001-02-resourceslice"])
def test_slice_has_its_attributes_side_by_side(name: str) -> None:
    (piece,) = converted(name)
    (device,) = piece["spec"]["devices"]
    assert device == {
        "name": "gpu-0",
        "attributes": {
            "uuid": {"string": "GPU-18db0e85-99e9-c746-8531-ffeb86328b39"},
            "index": {"int": 0},
            "model": {"string": "NVIDIA GH200 96GB HBM3"},
            "driverVersion": {"version": "550.94.0"},
        },
        "capacity": {"memory": {"value": "96Gi"}},
    }


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_cluster(tmp_path_factory.mktemp("cluster"), "t4-vm") as file:
        yield file


def apply(program: list[str], row: Row, kubeconfig: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*program, "apply", "-f", str(FOLDER / f"{row.file}.yaml"), *options],
        capture_output=True,
        text=True,
        env={"KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(kubeconfig.parent / "cache"), "PYTHONUTF8": "1"},
        check=False,
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_kubectl_says_of_it_what_it_says_of_the_like(row: Row, kubeconfig: Path) -> None:
    if not BINARIES:
        pytest.skip("there is no kubectl in the path")
    done = apply([next(iter(BINARIES.values()))], row, kubeconfig)
    assert (done.returncode != 0) is row.is_refused
    assert row.applies in done.stdout + done.stderr


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_dray_apply_takes_and_refuses_the_same(row: Row, kubeconfig: Path) -> None:
    done = apply([sys.executable, "-m", "dray"], row, kubeconfig, "--force-conflicts")
    assert (done.returncode != 0) is row.is_refused
    said = row.applies.replace("no matches for kind", "the server has no kind").replace(" created", "")
    assert said in done.stdout + done.stderr


class Story(NamedTuple):
    """Manifests that belong together, the nodes on which they are tried, and what must come of it."""

    nodes: tuple[str, ...]
    files: tuple[str, ...]
    wants: Wants
    more: tuple[dict[str, Any], ...] = ()


def pod_with(claim: str) -> dict[str, Any]:
    """A pod of ours that uses a claim of theirs."""
    container = {"name": "main", "image": "example.com/main:1", "resources": {"claims": [{"name": "it"}]}}
    spec = {"containers": [container], "resourceClaims": [{"name": "it", "resourceClaimName": claim}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ours"}, "spec": spec}


RUNNING = WantedPod(phase="Running")
STORIES = {
    "overview": Story(
        ("gpu-16gi",),
        ("000-1-deviceclass", "000-2-claimtemplate", "000-3-pod"),
        Wants(pods={"default/stock-prediction-pod": RUNNING}),
    ),
    "one pod shares": Story(
        ("dgx-h100",),
        ("001-03-deviceclass", "001-04-resourceclaim", "001-05-pod"),
        Wants(
            pods={"default/gpu-example": RUNNING},
            logs={
                "default/gpu-example/ctr0": WantedLog(has=("SIM_DEVICE_GPU_0=<gpu>",)),
                "default/gpu-example/ctr1": WantedLog(has=("SIM_DEVICE_GPU_0=<gpu>",)),
            },
        ),
    ),
    "two pods share": Story(
        ("dgx-h100",),
        ("001-07-deviceclass", "001-04-resourceclaim", "001-06-pod", "001-06-pod"),
        Wants(
            pods={"default/gpu-example?": WantedPod(phase="Running", devices=("dgx-h100-0/gpu-0",), count=2)},
            claims={"default/shared-gpu": WantedClaim(reserved=("gpu-example0", "gpu-example1"))},
        ),
    ),
    "slices": Story(("t4-vm",), ("001-01-resourceslice",), Wants(offered=("gpu-node-0/gpu-0",))),
    "mps": Story(
        ("t4-vm",),
        ("001-08-resourceclaim",),
        Wants(pods={"default/ours": RUNNING}, logs={"default/ours/main": WantedLog(has=("SHARING=MPS/20%/10240M",))}),
        (pod_with("shared-gpu"),),
    ),
    "one big GPU": Story(
        ("gh200",),
        ("001-10-resourceclaim",),
        Wants(pods={"default/ours": WantedPod(phase="Running", devices=("gh200-0/gpu-0",))}),
        (pod_with("big-gpu-with-aligned-nic"),),
    ),
    "a GPU and a function": Story(
        ("gh200+rdma-nic",),
        ("001-11-resourceclaim",),
        Wants(pods={"default/ours": RUNNING}),
        (pod_with("big-gpu-with-aligned-nic"),),
    ),
    "on one PCIe root": Story(
        ("gh200+rdma-nic",),
        ("001-12-resourceclaim",),
        Wants(
            pods={"default/ours": RUNNING},
            aligned=(WantedAlignment("default/big-gpu-with-aligned-nic", "resource.kubernetes.io/pcieRoot"),),
        ),
        (pod_with("big-gpu-with-aligned-nic"),),
    ),
    "walkthrough": Story(
        ("gpu-16gi",),
        ("003-1-sample-driver",),
        Wants(
            pods={"default/pod": RUNNING},
            logs={
                "default/pod/container0": WantedLog(has=("SIM_DEVICE_RESOURCE_0=<resource>",)),
                "default/pod/container1": WantedLog(has=("SIM_DEVICE_RESOURCE_0=<resource>",)),
            },
        ),
    ),
}


def facts_of(wants: Wants) -> int:
    return Step(run="", want=wants).facts


@pytest.mark.parametrize("title", STORIES)
def test_what_is_converted_reaches_its_state(title: str, tmp_path: Path) -> None:
    story = STORIES[title]
    conversion = convert_texts({f"{n}-{name}": read(name) for n, name in enumerate(story.files)})
    assert conversion.problems == ()
    file = tmp_path / "converted.yaml"
    file.write_text(conversion.text + "".join(f"---\n{yaml.safe_dump(each)}" for each in story.more))
    step = Step(run=f"kubectl apply -f {file}", want=story.wants)
    example = Example(title, title, title, (Scene((step,), story.nodes),))
    environment = dict(os.environ)
    around = Surroundings(tmp_path, environment, SystemClock(), SystemEntropy(), MemoryLog())
    assert asyncio.run(play(example, around, Silence())) == facts_of(story.wants) > 0

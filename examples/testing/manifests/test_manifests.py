"""Do the manifests that are about to be deployed run on the machines there are? Asked in CI, before anybody waits."""

from pathlib import Path

import pytest

from dray.testing import Cluster

FOLDER = Path(__file__).parent / "deploy"
FILES = sorted(FOLDER.glob("*.yaml"))

pytestmark = pytest.mark.dray(nodes=["dgx-h100", "t4-vm"], scope="session")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_pod_runs(dray_cluster: Cluster, file: Path) -> None:
    pods = [each["metadata"]["name"] for each in dray_cluster.apply(file) if each["kind"] == "Pod"]
    assert pods
    for name in pods:
        dray_cluster.wait_pod(name)


def test_training_gets_two_gpus_of_one_numa_node(dray_cluster: Cluster) -> None:
    dray_cluster.apply(FOLDER / "training.yaml")
    dray_cluster.wait_pod("training")
    assert dray_cluster.devices("training") == ("dgx-h100-0/gpu-0", "dgx-h100-0/gpu-1")


def test_inference_takes_the_small_gpu_and_leaves_the_large_ones(dray_cluster: Cluster) -> None:
    dray_cluster.apply(FOLDER / "inference.yaml")
    dray_cluster.wait_pod("inference")
    assert dray_cluster.devices("inference") == ("t4-vm-0/gpu-0",)


def test_four_trainings_fit_and_a_fifth_says_why_not(dray_cluster: Cluster) -> None:
    text = (FOLDER / "training.yaml").read_text(encoding="utf-8")
    for number in range(4):
        dray_cluster.apply(text.replace("name: training", f"name: training-{number}"))
        dray_cluster.wait_pod(f"training-{number}")
    dray_cluster.apply(text.replace("name: training", "name: training-4"))
    assert "0/2 nodes are available: 2 cannot allocate all claims" in dray_cluster.wait_unschedulable("training-4")

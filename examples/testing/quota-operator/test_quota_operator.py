"""The operator runs against a real API server, whose quotas really count. Nothing is mocked."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import quota_operator
from kubernetes import config

from dray.testing import ApiError, Cluster

TEAM = """
apiVersion: v1
kind: Namespace
metadata: {name: vision, labels: {example.com/gpus: "GPUS"}}
"""
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: NAME, namespace: vision}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}
"""


@pytest.fixture(autouse=True)
def operator(dray_cluster: Cluster) -> Iterator[None]:
    """The operator at work, with the kubeconfig of the test's cluster."""
    api = config.new_client_from_config(config_file=str(dray_cluster.kubeconfig))
    stop = threading.Event()
    running = threading.Thread(target=quota_operator.run, args=(api, stop))
    running.start()
    yield
    stop.set()
    running.join()
    api.close()


def wait_quota(cluster: Cluster, gpus: str) -> None:
    def is_kept(quota: dict[str, Any]) -> bool:
        return quota.get("status", {}).get("hard") == {quota_operator.COUNTED: gpus}

    cluster.wait("resourcequota", quota_operator.QUOTA, is_kept, namespace="vision")


def test_a_team_gets_the_gpus_of_its_label_and_no_more(dray_cluster: Cluster) -> None:
    dray_cluster.apply(TEAM.replace("GPUS", "3"))
    wait_quota(dray_cluster, "3")
    dray_cluster.apply(CLAIM.replace("NAME", "first"))
    with pytest.raises(ApiError, match="exceeded quota: gpus"):
        dray_cluster.apply(CLAIM.replace("NAME", "second"))


def test_a_label_that_changes_changes_the_quota(dray_cluster: Cluster) -> None:
    dray_cluster.apply(TEAM.replace("GPUS", "1"))
    wait_quota(dray_cluster, "1")
    dray_cluster.apply(TEAM.replace("GPUS", "4"))
    wait_quota(dray_cluster, "4")

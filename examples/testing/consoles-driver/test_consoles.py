"""First the driver alone, called as a kubelet calls it; then under pods that a scheduler has placed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from consoles import Consoles

from dray.driver import Driver
from dray.testing import Cluster, DriverUnderTest

Serve = Callable[[Driver], DriverUnderTest]

MANIFESTS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: console}
spec: {selectors: [{cel: {expression: device.driver == "console.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-console}
spec: {spec: {devices: {requests: [{name: console, exactly: {deviceClassName: console}}]}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  containers: [{name: getty, image: example.com/getty:1, resources: {claims: [{name: console}]}}]
  resourceClaims: [{name: console, resourceClaimTemplateName: one-console}]
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder that looks like /dev of a machine with two consoles."""
    for name in ("ttyS0", "ttyS1", "null"):
        tmp_path.joinpath(name).touch()
    return tmp_path


def test_every_console_is_a_device(dray_driver: Serve, machine: Path) -> None:
    consoles = dray_driver(Consoles(machine))
    assert sorted(consoles.devices) == ["ttys0", "ttys1"]


def test_a_container_gets_the_device_file(dray_driver: Serve, machine: Path) -> None:
    pod = dray_driver(Consoles(machine)).prepare("ttys1")
    assert pod.env["CONSOLE"] == "/dev/ttyS1"
    assert [each.path for each in pod.container.device_nodes] == ["/dev/ttyS1"]


def test_what_is_prepared_survives_an_update_of_the_driver(dray_driver: Serve, machine: Path) -> None:
    consoles = dray_driver(Consoles(machine))
    pod = consoles.prepare("ttys0")
    consoles.restart(Consoles(machine))
    assert consoles.prepare_again(pod.claim).env == pod.env


@pytest.mark.dray(nodes=[])
def test_two_consoles_serve_two_pods_and_the_third_waits(dray_cluster: Cluster, machine: Path) -> None:
    dray_cluster.add_node("rack-1", Consoles(machine))
    dray_cluster.apply(MANIFESTS)
    for name in ("first", "second"):
        dray_cluster.apply(POD.replace("NAME", name))
        dray_cluster.wait_pod(name)
    assert dray_cluster.devices("first") + dray_cluster.devices("second") == ("rack-1/ttys0", "rack-1/ttys1")
    assert "CONSOLE=/dev/ttyS0" in dray_cluster.logs("first")
    dray_cluster.apply(POD.replace("NAME", "third"))
    assert "1 cannot allocate all claims" in dray_cluster.wait_unschedulable("third")

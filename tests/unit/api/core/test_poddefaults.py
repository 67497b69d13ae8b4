"""What a pod says after admission if its manifest says little."""

import json
from typing import Any

import msgspec
import pytest

from dray.api.codec import decode, encode_value
from dray.api.core.kinds import POD
from dray.api.core.poddefaults import default_pull_policy
from dray.values.times import parse_time

NOW = parse_time("2026-01-01T00:00:00Z")


def defaulted(spec: dict[str, Any]) -> Any:
    pod = decode(POD, "v1", json.dumps({"spec": spec}).encode())
    once = POD.default(pod, NOW)
    assert POD.default(once, NOW) == once
    return msgspec.json.decode(encode_value(once))["spec"]


def test_a_bare_pod_is_filled_in() -> None:
    assert defaulted({"containers": [{"name": "c", "image": "nginx"}]}) == {
        "containers": [
            {
                "name": "c",
                "image": "nginx",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "Always",
            }
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
    }


def test_what_is_said_stays() -> None:
    spec = {
        "containers": [
            {
                "name": "c",
                "image": "nginx",
                "resources": {},
                "terminationMessagePath": "/log",
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "imagePullPolicy": "Never",
            }
        ],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "dnsPolicy": "Default",
        "serviceAccountName": "me",
        "serviceAccount": "me",
        "securityContext": {"runAsUser": 0},
        "schedulerName": "mine",
        "enableServiceLinks": False,
    }
    assert defaulted(spec) == spec


def test_the_old_name_of_the_account_is_understood() -> None:
    assert defaulted({"serviceAccount": "old"})["serviceAccountName"] == "old"
    assert defaulted({"serviceAccount": "old", "serviceAccountName": "new"})["serviceAccount"] == "new"


@pytest.mark.parametrize(
    ("image", "want"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1", "IfNotPresent"),
        ("localhost:5000/nginx", "Always"),
        ("localhost:5000/nginx:1", "IfNotPresent"),
        ("REGISTRY.example.com/a/b:latest", "Always"),
        (f"nginx@sha256:{'0' * 64}", "IfNotPresent"),
        (f"nginx:latest@sha256:{'0' * 64}", "Always"),
        ("Upper", "IfNotPresent"),
        ("a b", "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_images_that_may_change_are_always_pulled(image: str, want: str) -> None:
    assert default_pull_policy(image) == want


def test_requests_come_from_limits_and_amounts_are_rounded_up() -> None:
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100.5m"}}
    containers = [{"name": "c", "resources": resources}]
    spec = defaulted({"containers": containers, "initContainers": containers})
    for container in (spec["containers"][0], spec["initContainers"][0]):
        assert container["resources"] == {
            "limits": {"cpu": "1", "memory": "1Gi"},
            "requests": {"cpu": "101m", "memory": "1Gi"},
        }


def test_requests_of_the_whole_pod_come_from_its_containers_then_from_its_limits() -> None:
    spec = defaulted(
        {
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "2", "example.com/gpu": "1"}}}],
            "resources": {"limits": {"cpu": "4", "memory": "1Gi"}},
        }
    )
    assert spec["resources"]["requests"] == {"cpu": "2", "memory": "1Gi"}


def test_ports_probes_and_hooks_are_filled_in() -> None:
    spec = defaulted(
        {
            "hostNetwork": True,
            "containers": [
                {
                    "name": "c",
                    "ports": [{"containerPort": 80}],
                    "livenessProbe": {"httpGet": {"port": 80}},
                    "readinessProbe": {"grpc": {"port": 1}, "periodSeconds": 3},
                    "lifecycle": {"preStop": {"httpGet": {"port": "x", "path": "/stop"}}},
                    "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                }
            ],
        }
    )
    container = spec["containers"][0]
    counts = {"timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3}
    assert container["ports"] == [{"hostPort": 80, "containerPort": 80, "protocol": "TCP"}]
    assert container["livenessProbe"] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
        "periodSeconds": 10,
        **counts,
    }
    assert container["readinessProbe"] == {"grpc": {"port": 1, "service": ""}, "periodSeconds": 3, **counts}
    assert container["lifecycle"]["preStop"] == {"httpGet": {"path": "/stop", "port": "x", "scheme": "HTTP"}}
    assert container["env"][0]["valueFrom"] == {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}


@pytest.mark.parametrize(
    ("volume", "want"),
    [
        ({}, {"emptyDir": {}}),
        ({"secret": {"secretName": "s"}}, {"secret": {"secretName": "s", "defaultMode": 420}}),
        ({"configMap": {"name": "c", "defaultMode": 256}}, {"configMap": {"name": "c", "defaultMode": 256}}),
        ({"hostPath": {"path": "/x"}}, {"hostPath": {"path": "/x", "type": ""}}),
        (
            {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            {
                "downwardAPI": {
                    "items": [{"path": "n", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}],
                    "defaultMode": 420,
                }
            },
        ),
        (
            {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            {
                "projected": {
                    "sources": [{"serviceAccountToken": {"expirationSeconds": 3600, "path": "t"}}],
                    "defaultMode": 420,
                }
            },
        ),
        (
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}},
            {
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "metadata": {},
                        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {}, "volumeMode": "Filesystem"},
                    }
                }
            },
        ),
        ({"image": {"reference": "data"}}, {"image": {"reference": "data", "pullPolicy": "Always"}}),
        (
            {"rbd": {"monitors": ["m"], "image": "i"}},
            {"rbd": {"monitors": ["m"], "image": "i", "pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}},
        ),
    ],
)
def test_volumes_are_filled_in(volume: dict[str, Any], want: dict[str, Any]) -> None:
    assert defaulted({"volumes": [{"name": "v", **volume}]})["volumes"] == [{"name": "v", **want}]


@pytest.mark.parametrize(
    ("said", "want"),
    [
        ({"podIP": "10.0.0.1"}, {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}),
        ({"podIPs": [{"ip": "::1"}, {"ip": "::2"}]}, {"podIP": "::1", "podIPs": [{"ip": "::1"}, {"ip": "::2"}]}),
        ({"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.2"}]}, {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}),
        ({}, {}),
    ],
)
def test_an_address_of_a_pod_stands_in_both_places(said: dict[str, Any], want: dict[str, Any]) -> None:
    pod = decode(POD, "v1", json.dumps({"status": said}).encode())
    assert json.loads(encode_value(POD.default(pod, NOW).status)) == want

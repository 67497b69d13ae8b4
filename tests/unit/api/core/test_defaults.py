"""What other objects say after admission."""

import json
from typing import Any

import msgspec
import pytest

from dray.api.codec import decode, encode_value
from dray.api.kind import Kind
from dray.api.registry import SERVED
from dray.values.times import parse_time

NOW = parse_time("2026-01-01T00:00:00Z")


def kind_of(name: str) -> Kind[Any]:
    return next(kind for kind in SERVED if kind.name == name)


def defaulted(name: str, thing: dict[str, Any]) -> Any:
    kind = kind_of(name)
    once = kind.default(decode(kind, kind.declared_version, json.dumps(thing).encode()), NOW)
    assert kind.default(once, NOW) == once
    written = msgspec.json.decode(encode_value(once))
    return {name: part for name, part in written.items() if name not in ("kind", "apiVersion", "metadata")}


def test_texts_of_a_secret_become_data() -> None:
    secret = defaulted("Secret", {"stringData": {"a": "new"}, "data": {"a": "b2xk", "b": "AA=="}})
    assert secret == {"data": {"a": "bmV3", "b": "AA=="}, "type": "Opaque"}


def test_pods_may_use_all_of_a_node() -> None:
    node = defaulted("Node", {"status": {"capacity": {"cpu": "4"}}})
    assert node["status"]["allocatable"] == {"cpu": "4"}
    node = defaulted("Node", {"status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}})
    assert node["status"]["allocatable"] == {"cpu": "3"}


def test_limits_of_containers_follow_from_each_other() -> None:
    item = {"type": "Container", "max": {"cpu": "4"}, "min": {"cpu": "1", "memory": "1Gi"}}
    (limits,) = defaulted("LimitRange", {"spec": {"limits": [item]}})["spec"]["limits"]
    assert limits["default"] == {"cpu": "4"}
    assert limits["defaultRequest"] == {"cpu": "4", "memory": "1Gi"}
    item["type"] = "Pod"
    assert defaulted("LimitRange", {"spec": {"limits": [item]}})["spec"]["limits"] == [item]


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        (
            {"ports": [{"port": 80}]},
            {
                "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}],
                "type": "ClusterIP",
                "sessionAffinity": "None",
                "internalTrafficPolicy": "Cluster",
            },
        ),
        (
            {"type": "LoadBalancer", "sessionAffinity": "ClientIP"},
            {
                "type": "LoadBalancer",
                "sessionAffinity": "ClientIP",
                "externalTrafficPolicy": "Cluster",
                "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}},
                "allocateLoadBalancerNodePorts": True,
                "internalTrafficPolicy": "Cluster",
            },
        ),
        (
            {"type": "ExternalName", "externalName": "example.com"},
            {"type": "ExternalName", "sessionAffinity": "None", "externalName": "example.com"},
        ),
    ],
)
def test_services(spec: dict[str, Any], want: dict[str, Any]) -> None:
    assert defaulted("Service", {"spec": spec})["spec"] == want


def test_bindings_name_the_group() -> None:
    thing = {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User"}, {"kind": "ServiceAccount"}]}
    binding = defaulted("RoleBinding", thing)
    assert binding["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"
    assert [subject.get("apiGroup") for subject in binding["subjects"]] == ["rbac.authorization.k8s.io", None]


def test_priority_classes_preempt() -> None:
    assert defaulted("PriorityClass", {}) == {"value": 0, "preemptionPolicy": "PreemptLowerPriority"}
    assert defaulted("PriorityClass", {"preemptionPolicy": "Never"})["preemptionPolicy"] == "Never"

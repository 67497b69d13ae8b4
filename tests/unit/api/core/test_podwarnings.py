import json
from typing import Any

import pytest

from dray.api.codec import decode
from dray.api.core.kinds import POD


@pytest.mark.parametrize(
    ("container", "want"),
    [
        ({"env": [{"name": "A"}, {"name": "B"}]}, []),
        ({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A),2"}]}, []),
        (
            {"env": [{"name": "A"}, {"name": "A"}]},
            ['env[1]: hides previous definition of "A", which may be dropped when using apply'],
        ),
        ({"resources": {"limits": {"cpu": "100m", "memory": "1Gi"}}}, []),
        (
            {"resources": {"limits": {"memory": "100m"}}},
            ['resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer'],
        ),
    ],
)
def test_what_is_hardly_meant_is_told(container: dict[str, Any], want: list[str]) -> None:
    for part in ("containers", "initContainers"):
        pod = decode(POD, "v1", json.dumps({"spec": {part: [container]}}).encode())
        assert POD.warnings(pod) == [f"spec.{part}[0].{text}" for text in want]


def told(spec: dict[str, Any], **annotations: str) -> list[str]:
    metadata = {"annotations": {name.replace("__", "/").replace("_", "."): text for name, text in annotations.items()}}
    return POD.warnings(decode(POD, "v1", json.dumps({"metadata": metadata, "spec": spec}).encode()))


NOBODY = "labelSelector: a null labelSelector results in matching no pod"
ARCH = {"key": "beta.kubernetes.io/arch", "operator": "Exists"}
ARCH_IS_OLD = 'deprecated since v1.14; use "kubernetes.io/arch" instead'


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        (
            {"nodeSelector": {"beta.kubernetes.io/arch": "a", "kubernetes.io/os": "linux"}},
            [f"spec.nodeSelector[beta.kubernetes.io/arch]: {ARCH_IS_OLD}"],
        ),
        (
            {"nodeSelector": {"node-role.kubernetes.io/master": ""}},
            ['spec.nodeSelector[node-role.kubernetes.io/master]: use "node-role.kubernetes.io/control-plane" instead'],
        ),
        (
            {"topologySpreadConstraints": [{"topologyKey": "beta.kubernetes.io/arch"}]},
            [
                f"spec.topologySpreadConstraints[0].topologyKey: beta.kubernetes.io/arch is {ARCH_IS_OLD}",
                f"spec.topologySpreadConstraints[0].{NOBODY}",
            ],
        ),
        (
            {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [{"matchExpressions": [ARCH]}]
                        },
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {"preference": {"matchExpressions": [ARCH]}}
                        ],
                    },
                    "podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{}, {"labelSelector": {}}],
                    },
                    "podAntiAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": {}}],
                    },
                }
            },
            [
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
                f"matchExpressions[0].key: beta.kubernetes.io/arch is {ARCH_IS_OLD}",
                "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
                f"matchExpressions[0].key: beta.kubernetes.io/arch is {ARCH_IS_OLD}",
                f"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].{NOBODY}",
                "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm."
                f"{NOBODY}",
            ],
        ),
    ],
)
def test_places_that_are_hardly_meant_are_told(spec: dict[str, Any], want: list[str]) -> None:
    assert told(spec) == want


def test_names_that_are_told_twice_are_told() -> None:
    aliases = [{"ip": "1.1.1.1"}, {"ip": "1.1.1.1"}]
    assert told({"hostAliases": aliases, "imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}]}) == [
        'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"',
        'spec.imagePullSecrets[1].name: duplicate name "a"',
        'spec.imagePullSecrets[2].name: invalid empty name ""',
    ]


def test_volumes_and_annotations_that_do_nothing_are_told() -> None:
    volumes = [{"name": "v", "gitRepo": {"repository": "r"}}, {"name": "w", "rbd": {"monitors": [], "image": "i"}}]
    assert told({"volumes": volumes}, container_apparmor_security_beta_kubernetes_io__c="unconfined") == [
        "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; "
        'use the "appArmorProfile" field instead',
        "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
        "spec.volumes[1].rbd: deprecated in v1.28, non-functional in v1.31+",
    ]


@pytest.mark.parametrize(
    ("first", "second", "want"),
    [
        ({}, {}, "duplicate"),
        ({}, {"protocol": "UDP"}, None),
        ({"hostPort": 5}, {}, "overlapping"),
        ({"hostPort": 5}, {"hostPort": 6}, None),
        ({"hostPort": 5, "hostIP": "1.1.1.1"}, {"hostPort": 5}, "dangerously ambiguous"),
        ({"hostPort": 5, "hostIP": "1.1.1.1"}, {"hostPort": 5, "hostIP": "1.1.1.2"}, None),
    ],
)
def test_ports_that_are_told_twice_are_told(first: dict[str, Any], second: dict[str, Any], want: str | None) -> None:
    one, other = ({"containerPort": 80, "protocol": "TCP", **each} for each in (first, second))
    spec = {"initContainers": [{"ports": [one]}], "containers": [{"ports": [other]}]}
    text = f"spec.containers[0].ports[0]: {want} port definition with spec.initContainers[0].ports[0]"
    assert told(spec) == ([] if want is None else [text])

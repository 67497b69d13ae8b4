"""The variables of a container."""

from typing import Any

import pytest

from dray.api.codec import get_codec
from dray.api.core.configmap import ConfigMap
from dray.api.core.kinds import SECRET
from dray.node.core.environment import ConfigurationMissing, Sources, expand, find_sources, render_env
from tests.unit.node.core.things import make_pod


def config_map(**data: str) -> ConfigMap:
    return ConfigMap(data=data)


SOURCES = Sources(
    config_maps={"m": config_map(**{"KEY": "value", "not a name": "x"})},
    secrets={"s": get_codec(SECRET, "v1").decode(b'{"apiVersion":"v1","kind":"Secret","data":{"K":"aGVsbG8="}}')},
)


def render(
    *env: dict[str, Any], env_from: Any = (), resources: Any = None, sources: Sources = SOURCES
) -> dict[str, str]:
    container = {
        "name": "main",
        "image": "a",
        "env": list(env),
        "envFrom": list(env_from),
        "resources": resources or {},
    }
    pod = make_pod({"containers": [container], "nodeName": "node-a", "serviceAccountName": "sa"})
    return render_env(pod, pod.spec.containers[0], sources, "10.0.0.9", ("10.0.0.1", "fd00::1"))


def of(**source: Any) -> dict[str, Any]:
    return {"name": "V", "valueFrom": source}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("$(A)-$(B)", "1-$(B)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$(A", "$(A"),
        ("$A ${A} $", "$A ${A} $"),
        ("$($(A))", "$($(A))"),
    ],
)
def test_references_are_replaced(text: str, want: str) -> None:
    assert expand(text, {"A": "1"}) == want


def test_later_variables_see_and_replace_earlier_ones() -> None:
    env = [
        {"name": "A", "value": "1"},
        {"name": "B", "value": "$(A)$(C)"},
        {"name": "C", "value": "3"},
        {"name": "A", "value": "$(A)2"},
    ]
    assert render(*env) == {"A": "12", "B": "1$(C)", "C": "3"}


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("metadata.name", "p"),
        ("metadata.namespace", "ns"),
        ("metadata.uid", "u"),
        ("metadata.labels['app']", "x"),
        ("metadata.annotations['a/b']", "c"),
        ("metadata.labels['none']", ""),
        ("spec.nodeName", "node-a"),
        ("spec.serviceAccountName", "sa"),
        ("status.hostIP", "10.0.0.9"),
        ("status.podIP", "10.0.0.1"),
        ("status.podIPs", "10.0.0.1,fd00::1"),
    ],
)
def test_fields_of_the_pod_are_read(path: str, want: str) -> None:
    assert render(of(fieldRef={"fieldPath": path})) == {"V": want}


@pytest.mark.parametrize(
    ("resource", "divisor", "want"),
    [
        ("limits.cpu", "0", "2"),
        ("requests.cpu", "1m", "500"),
        ("limits.memory", "1Mi", "1024"),
        ("requests.memory", "0", "1073741824"),
        ("limits.ephemeral-storage", "0", "0"),
    ],
)
def test_amounts_are_told_in_units_and_rounded_up(resource: str, divisor: str, want: str) -> None:
    resources = {"limits": {"cpu": "1500m", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    assert render(of(resourceFieldRef={"resource": resource, "divisor": divisor}), resources=resources) == {"V": want}


def test_config_maps_and_secrets_are_read() -> None:
    assert render(of(configMapKeyRef={"name": "m", "key": "KEY"})) == {"V": "value"}
    assert render(of(secretKeyRef={"name": "s", "key": "K"})) == {"V": "hello"}
    groups = [{"configMapRef": {"name": "m"}}, {"secretRef": {"name": "s"}, "prefix": "S_"}]
    assert render(env_from=groups) == {"KEY": "value", "S_K": "hello"}


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ({"configMapKeyRef": {"name": "none", "key": "K"}}, 'configmap "none" not found'),
        ({"configMapKeyRef": {"name": "m", "key": "K"}}, "couldn't find key K in ConfigMap m"),
        ({"secretKeyRef": {"name": "none", "key": "K"}}, 'secret "none" not found'),
        ({"secretKeyRef": {"name": "s", "key": "k"}}, "couldn't find key k in Secret s"),
        ({"fieldRef": {"fieldPath": "spec.nodeName2"}}, "unsupported fieldPath: spec.nodeName2"),
    ],
)
def test_what_is_not_there_keeps_the_container_from_being_made_unless_it_is_optional(
    source: dict[str, Any], want: str
) -> None:
    with pytest.raises(ConfigurationMissing) as refused:
        render(of(**source))
    assert str(refused.value) == want
    (kind, reference), *_ = source.items()
    if kind != "fieldRef":
        assert render(of(**{kind: reference | {"optional": True}})) == {}


def test_groups_that_are_not_there_are_missing_unless_they_are_optional() -> None:
    with pytest.raises(ConfigurationMissing, match='configmap "none" not found'):
        render(env_from=[{"configMapRef": {"name": "none"}}])
    assert render(env_from=[{"secretRef": {"name": "none", "optional": True}}]) == {}


def test_what_has_to_be_read_first_is_found() -> None:
    env = [of(configMapKeyRef={"name": "a", "key": "K"}), of(secretKeyRef={"name": "b", "key": "K"})]
    groups = [{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "d"}}]
    pod = make_pod({"containers": [{"name": "main", "image": "a", "env": env, "envFrom": groups}]})
    assert find_sources(pod.spec.containers[0]) == ({"a", "c"}, {"b", "d"})

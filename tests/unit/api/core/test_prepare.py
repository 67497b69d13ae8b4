"""What a write may not touch."""

import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from dray.api.codec import decode, encode_value
from dray.api.core.kinds import NAMESPACE, NODE, POD
from dray.api.core.prepare import prepare_namespace_finalize
from dray.api.kind import Kind
from dray.api.registry import SERVED
from dray.values.times import parse_time

NOW = parse_time("2026-01-01T00:00:00Z")
WITH_STATUS = [kind for kind in SERVED if kind.has_status and kind.group != "resource.k8s.io"]


def read(kind: Kind[Any], thing: dict[str, Any]) -> Any:
    return decode(kind, kind.declared_version, json.dumps(thing).encode())


def plain(thing: Any) -> Any:
    return msgspec.json.decode(encode_value(thing))


def test_a_pod_begins_as_pending() -> None:
    pod = POD.prepare_create(read(POD, {"status": {"phase": "Running", "podIP": "10.0.0.1"}}))
    assert plain(pod.status) == {"phase": "Pending", "qosClass": "BestEffort"}


def test_a_gated_pod_says_so() -> None:
    pod = POD.prepare_create(read(POD, {"spec": {"schedulingGates": [{"name": "example.com/quota"}]}}))
    (condition,) = pod.status.conditions
    assert (condition.type, condition.status, condition.reason) == ("PodScheduled", "False", "SchedulingGated")


def test_label_keys_get_the_values_of_the_pod() -> None:
    selector = {"matchLabels": {"a": "b"}}
    term = {"labelSelector": selector, "matchLabelKeys": ["hash", "none"], "mismatchLabelKeys": ["tenant"]}
    constraint = {"labelSelector": selector, "matchLabelKeys": ["hash"], "topologyKey": "zone"}
    affinity = {
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": term}]},
    }
    pod = {
        "metadata": {"labels": {"hash": "1", "tenant": "t"}},
        "spec": {"affinity": affinity, "topologySpreadConstraints": [constraint, {"matchLabelKeys": ["hash"]}]},
    }
    spec = plain(POD.prepare_create(read(POD, pod)).spec)
    same = {"key": "hash", "operator": "In", "values": ["1"]}
    other = {"key": "tenant", "operator": "NotIn", "values": ["t"]}
    (required,) = spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (preferred,) = spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    for each in (required, preferred["podAffinityTerm"]):
        assert each["labelSelector"]["matchExpressions"] == [same, other]
    first, second = spec["topologySpreadConstraints"]
    assert first["labelSelector"]["matchExpressions"] == [same]
    assert "labelSelector" not in second


def test_a_changed_spec_of_a_pod_is_a_new_generation() -> None:
    old = read(POD, {"metadata": {"generation": 3}, "spec": {"priority": 1}, "status": {"phase": "Running"}})
    same = POD.prepare_update(read(POD, {"metadata": {"labels": {"a": "b"}}, "spec": {"priority": 1}}), old, NOW)
    other = POD.prepare_update(read(POD, {"spec": {"priority": 2}}), old, NOW)
    assert (same.metadata.generation, other.metadata.generation) == (3, 4)
    assert other.status == old.status


def test_a_status_of_a_pod_leaves_spec_and_owners() -> None:
    owners = [{"apiVersion": "v1", "kind": "Job", "name": "j", "uid": "u"}]
    old = read(
        POD,
        {
            "metadata": {"labels": {"a": "b"}, "ownerReferences": owners},
            "spec": {"nodeName": "n"},
            "status": {"qosClass": "Burstable"},
        },
    )
    new = read(POD, {"metadata": {"labels": {"c": "d"}}, "spec": {}, "status": {"phase": "Running"}})
    written = POD.prepare_status(new, old, NOW)
    assert (written.metadata.owner_references, written.spec) == (old.metadata.owner_references, old.spec)
    assert written.metadata.labels == {"c": "d"}
    assert plain(written.status) == {"phase": "Running", "qosClass": "Burstable"}


def test_a_status_of_a_node_may_change_labels() -> None:
    old = read(NODE, {"metadata": {"labels": {"a": "b"}}, "spec": {"unschedulable": True}})
    written = NODE.prepare_status(read(NODE, {"metadata": {"labels": {"c": "d"}}}), old, NOW)
    assert (written.metadata.labels, written.spec) == ({"c": "d"}, old.spec)


def test_a_namespace_is_labelled_and_held_by_its_content() -> None:
    namespace = NAMESPACE.prepare_create(NAMESPACE.default(read(NAMESPACE, {"metadata": {"name": "ml"}}), NOW))
    assert namespace.metadata.labels == {"kubernetes.io/metadata.name": "ml"}
    assert namespace.spec.finalizers == ("kubernetes",)
    assert namespace.status.phase == "Active"


def test_only_finalizing_lets_go_of_a_namespace() -> None:
    old = read(NAMESPACE, {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Terminating"}})
    new = read(NAMESPACE, {"status": {"phase": "Active"}})
    assert NAMESPACE.prepare_update(new, old, NOW).spec.finalizers == ("kubernetes",)
    assert NAMESPACE.prepare_status(new, old, NOW).spec.finalizers == ("kubernetes",)
    finalized = prepare_namespace_finalize(new, old, NOW)
    assert (finalized.spec.finalizers, finalized.status.phase) == ((), "Terminating")


@pytest.mark.parametrize("kind", WITH_STATUS, ids=lambda kind: kind.plural)
def test_status_and_spec_are_written_apart(kind: Kind[Any]) -> None:
    old = read(kind, {"metadata": {"generation": 1}})
    fields = {field.name: field.type for field in msgspec.structs.fields(kind.struct)}
    marked = {name: replace(getattr(old, name)) for name in ("spec", "status") if name in fields}
    new = replace(old, **marked)
    assert kind.prepare_update(new, old, NOW).status is old.status
    assert kind.prepare_status(new, old, NOW).spec is old.spec

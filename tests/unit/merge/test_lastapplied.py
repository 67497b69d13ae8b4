"""Client-side and server-side apply by kubectl on one object.

The sizes are those of the answers that a Kubernetes API server gave to the same requests, so every byte of ownership
and annotation counts; the identity of the object is made as long as it was there.
"""

from typing import Any

import msgspec
import pytest

from dray.api.core.kinds import CONFIG_MAP
from dray.merge.apply import Writer, apply, track
from dray.merge.faults import ApplyConflict
from dray.merge.jsonpatch import apply_json_patch, decode_json_patch
from dray.merge.lastapplied import find_applied_before, renew_annotation
from dray.merge.scopes import make_scope
from dray.merge.strategic import apply_strategic_patch

Json = dict[str, Any]

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
NOW = "2026-11-18T19:30:19Z"
SCOPE = make_scope(CONFIG_MAP, "v1")


def configuration(data: Json, **metadata: Any) -> Json:
    names = {"name": "cm1", "namespace": "apiref"}
    return {"apiVersion": "v1", "data": data, "kind": "ConfigMap", "metadata": {**metadata, **names}}


def annotated(data: Json) -> Json:
    text = msgspec.json.encode(configuration(data, annotations={})).decode() + "\n"
    return configuration(data, annotations={ANNOTATION: text})


def size(live: Json) -> int:
    identity = {"uid": "b6a55b34-ff7c-4846-b87d-da0ab48922ec", "resourceVersion": "11172", "creationTimestamp": NOW}
    answer = {**live, "metadata": {**live["metadata"], **identity}}
    return len(msgspec.json.encode(answer)) + 1


def created() -> Json:
    return track(SCOPE, None, annotated({"a": "1", "b": "2"}), Writer("kubectl-client-side-apply", NOW))


def changed(live: Json) -> Json:
    patch = annotated({"a": "1", "b": "3"})
    new = apply_strategic_patch(
        SCOPE.schema, live, {"data": {"b": "3"}, "metadata": {"annotations": patch["metadata"]["annotations"]}}
    )
    return track(SCOPE, live, new, Writer("kubectl-client-side-apply", NOW))


CONFIG = configuration({"a": "1", "b": "3"})


def test_kubectl_migrates_an_object_from_client_side_apply() -> None:
    live = created()
    assert size(live) == 750
    live = changed(live)
    assert size(live) == 750
    live = apply(SCOPE, live, CONFIG, Writer("kubectl", NOW))
    assert size(live) == 857
    annotation = {"annotations": {ANNOTATION: live["metadata"]["annotations"][ANNOTATION]}}
    only_annotation = {name: each for name, each in configuration({}, **annotation).items() if name != "data"}
    live = apply(SCOPE, live, only_annotation, Writer("kubectl-last-applied", NOW))
    assert size(live) == 1056
    entries = [
        {
            "manager": "kubectl",
            "operation": "Apply",
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:data": {".": {}, "f:a": {}, "f:b": {}},
                "f:metadata": {"f:annotations": {".": {}, f"f:{ANNOTATION}": {}}},
            },
        },
        {
            "manager": "kubectl-last-applied",
            "operation": "Apply",
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:annotations": {f"f:{ANNOTATION}": {}}}},
        },
    ]
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": entries}]
    new = apply_json_patch(live, decode_json_patch(msgspec.json.encode(patch)))
    live = track(SCOPE, live, new, Writer("kubectl", NOW))
    assert size(live) == 881
    live = apply(SCOPE, live, CONFIG, Writer("kubectl", NOW))
    assert size(live) == 778
    other = configuration({"a": "1", "b": "2"})
    with pytest.raises(ApplyConflict) as caught:
        apply(SCOPE, live, other, Writer("other", NOW))
    assert caught.value.message == 'Apply failed with 1 conflict: conflict with "kubectl": .data.b'
    live = apply(SCOPE, live, other, Writer("other", NOW), force=True)
    assert size(live) == 923


def test_another_manager_conflicts_with_client_side_apply() -> None:
    with pytest.raises(ApplyConflict) as caught:
        apply(SCOPE, created(), CONFIG, Writer("someone", NOW))
    assert caught.value.message == (
        'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.b'
    )


def test_kubectl_takes_what_client_side_apply_set() -> None:
    live = apply(SCOPE, created(), CONFIG, Writer("kubectl", NOW))
    assert live["data"] == {"a": "1", "b": "3"}


def test_kubectl_conflicts_where_somebody_changed_the_field_since() -> None:
    live = created()
    live = track(SCOPE, live, {**live, "data": {"a": "1", "b": "9"}}, Writer("editor", NOW))
    with pytest.raises(ApplyConflict) as caught:
        apply(SCOPE, live, CONFIG, Writer("kubectl", NOW))
    assert [each.message for each in caught.value.causes] == ['conflict with "editor" using v1']


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"apiVersion":"v2"}', '{"apiVersion":"v1","zap":1}'])
def test_annotation_that_cannot_tell_frees_nothing(text: str) -> None:
    live = created()
    live["metadata"]["annotations"][ANNOTATION] = text
    assert find_applied_before(SCOPE.schema, live, "v1") == frozenset()


def test_annotation_is_renewed_without_itself() -> None:
    renewed = renew_annotation(created(), annotated({"a": "<"}))
    assert renewed["metadata"]["annotations"][ANNOTATION] == (
        '{"apiVersion":"v1","data":{"a":"\\u003c"},"kind":"ConfigMap",'
        '"metadata":{"annotations":{},"name":"cm1","namespace":"apiref"}}\n'
    )


def test_annotation_is_dropped_when_it_grows_too_large() -> None:
    renewed = renew_annotation(created(), configuration({"a": "x" * 300_000}))
    assert ANNOTATION not in renewed["metadata"]["annotations"]


def test_object_without_the_annotation_gets_none() -> None:
    live = apply(SCOPE, None, CONFIG, Writer("kubectl", NOW))
    assert renew_annotation(live, CONFIG) is live

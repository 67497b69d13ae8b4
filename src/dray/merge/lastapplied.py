"""The annotation in which client-side apply keeps its configuration, as far as server-side apply cares.

An object that `kubectl apply` made is updated by kubectl's server-side apply without conflicts where the annotation
shows that the fields came from the same place; and the annotation is kept up to date, so that both ways may be mixed.
"""

import json
from typing import Any, Final

from dray.merge.comparing import compare
from dray.merge.fieldsets import NO_FIELDS, FieldSet
from dray.merge.gotext import encode_json
from dray.merge.schema import Schema
from dray.merge.typed import JsonObject, TypeFault, check_value, collect_fields

__all__ = ["KUBECTL", "find_applied_before", "renew_annotation"]

KUBECTL: Final = "kubectl"
"""The one manager that all this is for."""

_ANNOTATION: Final = "kubectl.kubernetes.io/last-applied-configuration"
_MAX_ANNOTATIONS_BYTES: Final = 256 * 1024


def find_applied_before(schema: Schema, live: JsonObject, api_version: str) -> FieldSet:
    """The fields that client-side apply set and nobody changed since. None where the annotation cannot tell."""
    try:
        before = json.loads(_annotations(live).get(_ANNOTATION) or "null")
        if not isinstance(before, dict) or before.get("apiVersion") != api_version or check_value(schema, before):
            return NO_FIELDS
        since = compare(schema, before, live)
    except (TypeFault, ValueError):
        return NO_FIELDS
    return collect_fields(schema, before) - since.changed - since.removed


def renew_annotation(merged: JsonObject, config: JsonObject) -> JsonObject:
    """Write the applied configuration into the annotation, if there is one. One that grows too large is dropped."""
    annotations = dict(_annotations(merged))
    if not annotations.get(_ANNOTATION):
        return merged
    annotations[_ANNOTATION] = _print_config(config)
    if sum(len(name.encode()) + len(text.encode()) for name, text in annotations.items()) > _MAX_ANNOTATIONS_BYTES:
        del annotations[_ANNOTATION]
    return {**merged, "metadata": {**merged["metadata"], "annotations": annotations}}


def _print_config(config: JsonObject) -> str:
    own = _annotations(config)
    if _ANNOTATION in own:
        rest = {name: text for name, text in own.items() if name != _ANNOTATION}
        config = {**config, "metadata": {**config["metadata"], "annotations": rest}}
    return encode_json(_sorted(config)) + "\n"


def _annotations(value: JsonObject) -> dict[str, str]:
    annotations = (value.get("metadata") or {}).get("annotations") or {}
    return annotations if isinstance(annotations, dict) else {}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value

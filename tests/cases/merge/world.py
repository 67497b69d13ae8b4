"""A server of one object at a time, just enough to replay recorded writes: merge, default, keep what may not change."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from dray.api.core.pod import Pod
from dray.api.core.poddefaults import default_pod_spec
from dray.api.core.podspec import PodSpec
from dray.api.mending import decode_custom
from dray.api.meta import LabelSelector, ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.errors import ApiError
from dray.merge.apply import Writer, apply, keep_times, track
from dray.merge.faults import ApplyConflict, PatchRefused
from dray.merge.fieldsets import FieldSet
from dray.merge.jsonpatch import apply_json_patch, decode_json_patch
from dray.merge.mergepatch import apply_merge_patch, decode_merge_patch
from dray.merge.schema import (
    NUMBER,
    SCALAR,
    TEXT,
    Field,
    ListSchema,
    ListType,
    ObjectSchema,
    PatchStrategy,
    get_schema,
)
from dray.merge.scopes import WriteScope, make_scope
from dray.merge.strategic import apply_strategic_patch, decode_strategic_patch
from dray.values.times import parse_time

Json = dict[str, Any]

APPLY = "application/apply-patch+yaml"
NOW = parse_time("2026-11-18T19:37:38Z")
STATUS: FieldSet = frozenset({("f:status",)})
SPEC: FieldSet = frozenset({("f:spec",)})
NOT_STATUS: FieldSet = frozenset({("f:spec",), ("f:metadata",)})


def deployment_schema() -> ObjectSchema:
    """A kind that has no Struct: written by hand, except for what it shares with pods."""
    condition = {name: Field(TEXT) for name in ("status", "reason", "message", "lastUpdateTime", "lastTransitionTime")}
    conditions = ListSchema(ObjectSchema({"type": Field(TEXT, default=""), **condition}), ListType.MAP, ("type",))
    rolling = ObjectSchema({"maxSurge": Field(SCALAR), "maxUnavailable": Field(SCALAR)})
    template = {"metadata": Field(get_schema(ObjectMeta)), "spec": Field(get_schema(PodSpec))}
    spec = {
        "replicas": Field(NUMBER),
        "selector": Field(get_schema(LabelSelector)),
        "template": Field(ObjectSchema(template)),
        "strategy": Field(ObjectSchema({"type": Field(TEXT), "rollingUpdate": Field(rolling)})),
        "revisionHistoryLimit": Field(NUMBER),
        "progressDeadlineSeconds": Field(NUMBER),
    }
    status = {
        "observedGeneration": Field(NUMBER),
        "terminatingReplicas": Field(NUMBER),
        "replicas": Field(NUMBER),
        "conditions": Field(conditions, patch=PatchStrategy.MERGE, merge_key="type"),
    }
    fields = {"metadata": get_schema(ObjectMeta), "spec": ObjectSchema(spec), "status": ObjectSchema(status)}
    return ObjectSchema(
        {"apiVersion": Field(TEXT), "kind": Field(TEXT), **{name: Field(each) for name, each in fields.items()}}
    )


EMPTY_DEPLOYMENT: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {},
    "spec": {"selector": None, "template": {"metadata": {}, "spec": {"containers": None}}, "strategy": {}},
    "status": {},
}


def deployment_scope(subresource: str) -> WriteScope:
    return WriteScope(
        kind="Deployment",
        api_version="apps/v1",
        subresource=subresource,
        schemas={"apps/v1": deployment_schema()},
        convert=lambda value, api_version: value,
        empty=EMPTY_DEPLOYMENT,
        reset_fields=SPEC if subresource else STATUS,
    )


def default_deployment(new: Json) -> Json:
    encode = msgspec.json.Encoder(enc_hook=str).encode
    pod = msgspec.json.decode(
        msgspec.json.encode({"spec": new["spec"]["template"]["spec"]}), type=Pod, dec_hook=decode_custom
    )
    template_spec = msgspec.json.decode(encode(default_pod_spec(pod.spec)))
    template_spec.pop("enableServiceLinks", None)  # a default of pods, not of templates
    strategy = {"type": "RollingUpdate"} | new["spec"].get("strategy", {})
    if strategy["type"] == "RollingUpdate":
        strategy = {"rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}} | strategy
    spec = {"revisionHistoryLimit": 10, "progressDeadlineSeconds": 600, "replicas": 1} | new["spec"]
    spec |= {"strategy": strategy, "template": {**new["spec"]["template"], "spec": template_spec}}
    status = {**new, "status": dict(new.get("status", {}))}
    if status["status"].get("replicas") == 0:
        del status["status"]["replicas"]  # zero is not written
    for condition in status["status"].get("conditions", []):
        condition |= {"lastUpdateTime": None, "lastTransitionTime": None} | condition
    meta = msgspec.json.decode(encode(msgspec.json.decode(msgspec.json.encode(new["metadata"]), type=Bare)))
    return {**status, "metadata": meta, "spec": spec}


class Bare(ObjectMeta):
    """Metadata whose times and entries are left alone."""

    managed_fields: Any = ()
    creation_timestamp: Any = None


def default_claim(new: Json) -> Json:
    claim = msgspec.json.decode(msgspec.json.encode(new), type=ResourceClaim, dec_hook=decode_custom)
    text = msgspec.json.Encoder(enc_hook=str).encode(RESOURCE_CLAIM.default(claim, NOW))
    defaulted: Json = msgspec.json.decode(text)
    return defaulted


@dataclass
class World:
    """One object and how it is written."""

    scope_of: Callable[[str], WriteScope]
    default: Callable[[Json], Json]
    live: Json | None = None

    def patch(self, subresource: str, content_type: str, body: bytes, writer: Writer, *, force: bool = False) -> Json:
        """Do what a PATCH does; the object as it is then."""
        scope = self.scope_of(subresource)
        if content_type == APPLY:
            new = self.default(apply(scope, self.live, msgspec.json.decode(body), writer, force=force))
        else:
            assert self.live is not None
            new = track(scope, self.live, self.default(patched(scope, self.live, content_type, body)), writer)
        return self.store(subresource, new)

    def put(self, subresource: str, body: Json, writer: Writer) -> Json:
        """Do what a PUT does; the object as it is then."""
        return self.store(subresource, track(self.scope_of(subresource), self.live, self.default(body), writer))

    def store(self, subresource: str, new: Json) -> Json:
        """Take from the new object what its endpoint may change."""
        if self.live is None:
            new = {**new, "status": {}}
        elif subresource == "status":
            labels = {name: self.live["metadata"][name] for name in ("labels",) if name in self.live["metadata"]}
            metadata = {name: each for name, each in new["metadata"].items() if name != "labels"} | labels
            if self.live["kind"] == "ResourceClaim":
                entries = {name: each for name, each in new["metadata"].items() if name == "managedFields"}
                metadata = {**self.live["metadata"], **entries}
            new = {**self.live, "metadata": metadata, "status": new["status"]}
        else:
            new = {**new, "status": self.live["status"]}
        self.live = new if self.live is None else keep_times(self.live, new)
        return self.live


def patched(scope: WriteScope, live: Json, content_type: str, body: bytes) -> Json:
    if content_type.endswith("/json-patch+json"):
        result: Json = apply_json_patch(live, decode_json_patch(body))
        return result
    if content_type.endswith("/merge-patch+json"):
        return apply_merge_patch(live, decode_merge_patch(body).value)
    return apply_strategic_patch(scope.schema, live, decode_strategic_patch(body).value)


def deployments() -> World:
    return World(deployment_scope, default_deployment)


def claims() -> World:
    scopes = {sub: make_scope(RESOURCE_CLAIM, "v1", sub, NOT_STATUS if sub else STATUS) for sub in ("", "status")}
    return World(scopes.__getitem__, default_claim)


def render(error: ApiError) -> Json:
    """The Status of an error, as far as merging decides it."""
    status: Json = {"message": error.message, "code": error.code}
    if error.reason:
        status["reason"] = error.reason
    if isinstance(error, ApplyConflict):
        causes = [{"reason": each.reason, "message": each.message, "field": each.field} for each in error.causes]
        status["details"] = {"causes": causes}
    elif isinstance(error, PatchRefused):
        status["details"] = {}
    return status

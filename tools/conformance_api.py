"""Judges of the recordings of the API server: creates, updates and conversions between versions.

The request goes the way it goes in the server, less storage: decode strictly, default, prepare, check, encode.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from dray.api.checks import CheckContext
from dray.api.codec import decode, encode
from dray.api.kind import Operation
from dray.api.meta import ApiObject
from dray.api.registry import SERVED, AnyKind
from dray.api.writing import (
    PlannedWrite,
    plan_create,
    plan_status_update,
    plan_update,
    require_name,
    settle_namespace,
    settle_resource_version,
)
from dray.errors import ApiError, Invalid
from tools.conformance_answers import CREATED, OK, Answer, Cause, compare_answer
from tools.conformance_context import RecordingContext
from tools.conformance_lines import Line, Verdict, describe_difference

__all__ = ["UpdateJudge", "ValidationJudge", "VersionJudge"]

_PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[^/]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<subresource>[^/]+))?"
)


@dataclass(frozen=True)
class Target:
    """What a request's path says."""

    kind: AnyKind
    version: str
    namespace: str
    name: str

    @classmethod
    def of(cls, path: str) -> "Target":
        match = _PATH.fullmatch(path)
        if match is None:
            raise ValueError(f"not a path of a resource: {path}")
        kind = SERVED.find_resource(match["group"] or "", match["version"], match["plural"])
        if kind is None:
            raise ValueError(f"no kind is served at {path}")
        return cls(kind, match["version"], match["namespace"] or "", match["name"] or "")


class ValidationJudge:
    """Lines of dry-run creates."""

    def recognises(self, line: Line) -> bool:
        """Whether the line is one of these."""
        return line.get("method") == "POST" and "expect" in line

    def judge(self, line: Line) -> Verdict:
        """Make the same request and compare the answer."""
        target = Target.of(line["path"])
        context = RecordingContext(Operation.CREATE)
        answer = _answer(target, lambda: _create(target, line["object"], context), CREATED)
        return compare_answer(answer, line["expect"], sent=line["object"], parts=("spec",))


class UpdateJudge:
    """Lines of dry-run updates, of the object or of its status."""

    def recognises(self, line: Line) -> bool:
        """Whether the line is one of these."""
        return line.get("op") in (Operation.UPDATE, Operation.UPDATE_STATUS)

    def judge(self, line: Line) -> Verdict:
        """Make the same request and compare the answer."""
        target = Target.of(line["path"])
        context = RecordingContext(Operation(line["op"]))
        answer = _answer(target, lambda: _update(target, line, context), OK)
        verdict = compare_answer(answer, line["expect"], sent=line["object"], parts=("spec", "status"))
        if answer.code == OK:
            kept = "spec" if line["op"] == Operation.UPDATE_STATUS else "status"
            stored = _stored(target, line["old"])
            before = json.loads(encode(target.kind, stored, target.version)).get(kept)
            verdict.mismatches += describe_difference(answer.body.get(kept), before, f"kept {kept}")
        return verdict


class VersionJudge:
    """Lines of one stored object in every version."""

    def recognises(self, line: Line) -> bool:
        """Whether the line is one of these."""
        return line.get("op") == "versions"

    def judge(self, line: Line) -> Verdict:
        """Make the same request and compare the answer."""
        versions = line["versions"]
        newest = versions["v1"]
        kind = SERVED.find_kind(newest["apiVersion"], newest["kind"])
        if kind is None:
            return Verdict([f"{newest['kind']} is not served"])
        verdict = Verdict()
        declared = decode(kind, "v1", json.dumps(newest).encode(), strict=True)
        for version, recorded in versions.items():
            written = json.loads(encode(kind, declared, version))
            verdict.mismatches += describe_difference(written, recorded, f"v1 -> {version}: ")
            read = decode(kind, version, json.dumps(recorded).encode(), strict=True)
            back = json.loads(encode(kind, read, "v1"))
            verdict.mismatches += describe_difference(back, newest, f"{version} -> v1: ")
        return verdict


def _answer(target: Target, request: Callable[[], PlannedWrite[ApiObject]], success: int) -> Answer:
    try:
        result = request().require_valid()
    except Invalid as refusal:
        causes = tuple(Cause(str(fault.path), fault.reason.value, fault.body) for fault in refusal.faults)
        return Answer(refusal.code, refusal.message, causes)
    except ApiError as refusal:
        return Answer(refusal.code, refusal.message)
    return Answer(success, body=json.loads(encode(target.kind, result, target.version)))


def _create(target: Target, sent: Line, context: CheckContext) -> PlannedWrite[ApiObject]:
    new = decode(target.kind, target.version, json.dumps(sent).encode(), strict=True)
    return plan_create(target.kind, settle_namespace(target.kind, new, target.namespace), context)


def _update(target: Target, line: Line, context: CheckContext) -> PlannedWrite[ApiObject]:
    old = _stored(target, line["old"])
    new = decode(target.kind, target.version, json.dumps(line["object"]).encode(), strict=True)
    new = settle_namespace(target.kind, require_name(target.kind, new, target.name), target.namespace)
    # The recording leaves out what differs between two runs; what was sent did name the version it had read.
    new = replace(new, metadata=replace(new.metadata, resource_version=old.metadata.resource_version))
    new = settle_resource_version(target.kind, target.version, new, old)
    plan = plan_status_update if line["op"] == Operation.UPDATE_STATUS else plan_update
    return plan(target.kind, new, old, context)


def _stored(target: Target, recorded: Line) -> ApiObject:
    stored: ApiObject = decode(target.kind, target.version, json.dumps(recorded).encode())
    meta = replace(
        stored.metadata, resource_version="1", generation=stored.metadata.generation or target.kind.counts_generations
    )
    return replace(stored, metadata=meta)

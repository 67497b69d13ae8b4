"""Judges of the recordings of the API server: creates, updates and conversions between versions.

The request goes the way it goes in the server, less storage: decode strictly, default, prepare, check, encode.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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
    settle_name,
    settle_namespace,
    settle_resource_version,
)
from dray.errors import ApiError, FieldError, Invalid
from tools.conformance_context import RecordingContext
from tools.conformance_lines import Line, Verdict, describe_difference

__all__ = ["UpdateJudge", "ValidationJudge", "VersionJudge"]

_CREATED, _OK, _INVALID = 201, 200, 422
_GO_TYPES = re.compile(r"Go struct field|cannot unmarshal|converting \(")
_GO_VALUE = re.compile(r'\{"[A-Z]')
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


@dataclass(frozen=True)
class Answer:
    """What the server would answer."""

    code: int
    message: str = ""
    faults: tuple[FieldError, ...] = ()
    body: Line = field(default_factory=dict)


class ValidationJudge:
    """Lines of dry-run creates."""

    def recognises(self, line: Line) -> bool:
        """Whether the line is one of these."""
        return line.get("method") == "POST" and "expect" in line

    def judge(self, line: Line) -> Verdict:
        """Make the same request and compare the answer."""
        target = Target.of(line["path"])
        context = RecordingContext(Operation.CREATE)
        answer = _answer(target, lambda: _create(target, line["object"], context), _CREATED)
        return _compare(answer, line["expect"], sent=line["object"], parts=("spec",))


class UpdateJudge:
    """Lines of dry-run updates, of the object or of its status."""

    def recognises(self, line: Line) -> bool:
        """Whether the line is one of these."""
        return line.get("op") in (Operation.UPDATE, Operation.UPDATE_STATUS)

    def judge(self, line: Line) -> Verdict:
        """Make the same request and compare the answer."""
        target = Target.of(line["path"])
        context = RecordingContext(Operation(line["op"]))
        answer = _answer(target, lambda: _update(target, line, context), _OK)
        verdict = _compare(answer, line["expect"], sent=line["object"], parts=("spec", "status"))
        if answer.code == _OK:
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
        return Answer(refusal.code, refusal.message, refusal.faults)
    except ApiError as refusal:
        return Answer(refusal.code, refusal.message)
    return Answer(success, body=json.loads(encode(target.kind, result, target.version)))


def _create(target: Target, sent: Line, context: CheckContext) -> PlannedWrite[ApiObject]:
    new = decode(target.kind, target.version, json.dumps(sent).encode(), strict=True)
    return plan_create(target.kind, settle_namespace(target.kind, new, target.namespace), context)


def _update(target: Target, line: Line, context: CheckContext) -> PlannedWrite[ApiObject]:
    old = _stored(target, line["old"])
    new = decode(target.kind, target.version, json.dumps(line["object"]).encode(), strict=True)
    new = settle_namespace(target.kind, settle_name(target.kind, new, target.name), target.namespace)
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


def _compare(answer: Answer, want: Line, *, sent: Line, parts: tuple[str, ...]) -> Verdict:
    verdict = Verdict()
    if answer.code != want["code"]:
        verdict.mismatches.append(f"code {answer.code}, want {want['code']}: {answer.message or want.get('message')}")
        return verdict
    if want["code"] == _INVALID:
        _compare_causes(answer, want, verdict)
    elif want["code"] not in (_OK, _CREATED):
        _compare_text(answer.message, want["message"], verdict)
    else:
        for part in parts:
            if want.get(part) is not None:
                body = _ignore_server_times(answer.body.get(part), want[part], json.dumps(sent))
                verdict.mismatches += describe_difference(body, want[part], part)
    return verdict


def _compare_causes(answer: Answer, want: Line, verdict: Verdict) -> None:
    got = {(str(fault.path), fault.reason.value) for fault in answer.faults}
    recorded = {(cause["field"], cause["reason"]) for cause in want["causes"]}
    verdict.mismatches += [f"extra {path}: {reason}" for path, reason in sorted(got - recorded)]
    verdict.mismatches += [f"missing {path}: {reason}" for path, reason in sorted(recorded - got)]
    mine = [f"{fault.path}: {fault.body}" for fault in answer.faults]
    for cause in want["causes"]:
        text = f"{cause['field']}: {cause['message']}"
        if _GO_VALUE.search(text):
            continue
        verdict.texts += 1
        if text in mine:
            verdict.texts_same += 1
        else:
            near = [each for each in mine if each.startswith(f"{cause['field']}: ")]
            verdict.notes.append(f"want {text}\n      got  {' | '.join(near)}")


def _compare_text(got: str, want: str, verdict: Verdict) -> None:
    if _GO_TYPES.search(want):
        return
    verdict.texts += 1
    verdict.texts_same += got == want
    if got != want:
        verdict.notes.append(f"want {want}\n      got  {got}")


def _ignore_server_times(got: object, want: object, sent: str) -> object:
    """Put the recorded `timeAdded` where the server set one: it equals any."""
    if isinstance(got, dict) and isinstance(want, dict):
        return dict(_settled_members(got, want, sent))
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        return [_ignore_server_times(mine, theirs, sent) for mine, theirs in zip(got, want, strict=True)]
    return got


def _settled_members(got: Line, want: Line, sent: str) -> Iterator[tuple[str, object]]:
    for key, value in got.items():
        is_server_time = key == "timeAdded" and key in want and f'"{want[key]}"' not in sent
        yield key, want[key] if is_server_time else _ignore_server_times(value, want.get(key), sent)

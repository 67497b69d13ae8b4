"""What was answered to a request of the recordings, and how it is held against what Kubernetes answered."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tools.conformance_lines import Line, Verdict, describe_difference

__all__ = ["CREATED", "OK", "Answer", "Cause", "compare_answer"]

OK: Final = 200
CREATED: Final = 201
_INVALID: Final = 422
_GO_TYPES = re.compile(r"Go struct field|cannot unmarshal|converting \(")
_GO_VALUE = re.compile(r'\{"[A-Z]')


@dataclass(frozen=True)
class Cause:
    """One fault of an object, as the answer tells it."""

    field: str
    reason: str
    message: str


@dataclass(frozen=True)
class Answer:
    """What the server answers."""

    code: int
    message: str = ""
    causes: tuple[Cause, ...] = ()
    body: Line = field(default_factory=dict)


def compare_answer(answer: Answer, want: Line, *, sent: Line, parts: tuple[str, ...]) -> Verdict:
    """Code, set of (field, reason), and the parts named; texts are counted apart."""
    verdict = Verdict()
    if answer.code != want["code"]:
        verdict.mismatches.append(f"code {answer.code}, want {want['code']}: {answer.message or want.get('message')}")
        return verdict
    if want["code"] == _INVALID:
        _compare_causes(answer, want, verdict)
    elif want["code"] not in (OK, CREATED):
        _compare_text(answer.message, want["message"], verdict)
    else:
        for part in parts:
            if want.get(part) is not None:
                body = _ignore_server_times(answer.body.get(part), want[part], json.dumps(sent))
                verdict.mismatches += describe_difference(body, want[part], part)
    return verdict


def _compare_causes(answer: Answer, want: Line, verdict: Verdict) -> None:
    got = {(cause.field, cause.reason) for cause in answer.causes}
    recorded = {(cause["field"], cause["reason"]) for cause in want["causes"]}
    verdict.mismatches += [f"extra {path}: {reason}" for path, reason in sorted(got - recorded)]
    verdict.mismatches += [f"missing {path}: {reason}" for path, reason in sorted(recorded - got)]
    mine = [f"{cause.field}: {cause.message}" for cause in answer.causes]
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

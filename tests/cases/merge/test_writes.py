"""Single recorded writes of kinds that are served: who owns what after a creation, and patches of a ConfigMap."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from dray.api.codec import get_codec
from dray.api.core.kinds import CONFIG_MAP
from dray.api.registry import SERVED
from dray.errors import ApiError
from dray.merge.apply import Writer, apply, track
from dray.merge.gotext import encode_json
from dray.merge.jsonpatch import decode_json_patch
from dray.merge.mergepatch import decode_merge_patch
from dray.merge.scopes import make_scope
from dray.values.quoting import quote
from tests.cases.merge.world import APPLY, NOW, STATUS, patched, render

Json = dict[str, Any]

FOLDER = Path(__file__).parent


def cases(name: str) -> list[Any]:
    lines = [msgspec.json.decode(line) for line in FOLDER.joinpath(name).read_bytes().splitlines()]
    return [pytest.param(each, id=each["name"]) for each in lines]


@pytest.mark.parametrize("case", cases("creations.jsonl"))
def test_creator_owns_what_was_sent_and_defaulted(case: Json) -> None:
    steps = case["path"].strip("/").split("/")
    group, version = ("", steps[1]) if steps[0] == "api" else (steps[1], steps[2])
    kind = SERVED.find_resource(group, version, steps[-1])
    assert kind is not None
    codec = get_codec(kind, version)
    new = msgspec.json.decode(codec.encode(kind.default(codec.decode(msgspec.json.encode(case["body"])), NOW)))
    for name in ("serviceAccount", "serviceAccountName"):
        new.get("spec", {}).pop(name, None)  # what admission adds belongs to nobody
    scope = make_scope(kind, version, "", STATUS)
    created = track(scope, None, new, Writer("unknown", case["entries"][0]["time"]))
    assert created["metadata"]["managedFields"] == case["entries"]


def write(case: Json) -> Json:
    scope = make_scope(CONFIG_MAP, "v1")
    live, body = case["live"], case["body"].encode()
    if case["type"] == APPLY:
        return apply(scope, live, msgspec.json.decode(body), Writer("x", "2026-11-18T19:37:38Z"))
    new = patched(scope, live, case["type"], body)
    return track(scope, live, new, Writer("unknown", "2026-11-18T19:35:36Z"))


@pytest.mark.parametrize("case", [each for each in cases("configmaps.jsonl") if each.values[0]["status"] == 200])
def test_patch_of_a_config_map_answers_as_recorded(case: Json) -> None:
    want = case["answer"]
    got = write(case)
    for name in ("resourceVersion", "creationTimestamp"):
        got["metadata"][name] = want["metadata"][name]
    got["metadata"].pop("generation", None)  # the server's, whatever a patch says
    assert got == want


REFUSED_AFTER = {"mergepatch wrong type", "fv patch strict", "fv jsonpatch strict"}
"""Patches that apply, to an object that then cannot be decoded."""


@pytest.mark.parametrize(
    "case",
    [
        each
        for each in cases("configmaps.jsonl")
        if each.values[0]["status"] != 200 and each.values[0]["name"] not in REFUSED_AFTER
    ],
)
def test_patch_of_a_config_map_is_refused_as_recorded(case: Json) -> None:
    with pytest.raises(ApiError) as caught:
        write(case)
    answer = case["answer"]
    assert render(caught.value) == {
        name: answer[name] for name in ("message", "code", "reason", "details") if name in answer
    }


@pytest.mark.parametrize(
    "case", [each for each in cases("configmaps.jsonl") if each.values[0]["name"] in REFUSED_AFTER]
)
def test_patched_object_is_quoted_as_recorded(case: Json) -> None:
    document = patched(make_scope(CONFIG_MAP, "v1"), case["live"], case["type"], case["body"].encode())
    assert f"Invalid value: {quote(encode_json(document))}: " in case["answer"]["message"]


def test_strict_faults_of_a_patch_are_worded_as_recorded() -> None:
    (merge, operations) = (
        next(each.values[0] for each in cases("configmaps.jsonl") if each.values[0]["name"] == name)
        for name in ("fv patch strict", "fv jsonpatch strict")
    )
    read = decode_merge_patch(merge["body"].encode())
    assert f"strict decoding error: {read.strict_faults[0]}, unknown field" in merge["answer"]["message"]
    patch = decode_json_patch(operations["body"].encode())
    assert f"strict decoding error: {patch.strict_faults[0]}, unknown field" in operations["answer"]["message"]

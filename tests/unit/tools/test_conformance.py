import json
from pathlib import Path
from typing import Any

import pytest

from tools import conformance
from tools.conformance_lines import describe_difference

CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
CLASS = {"metadata": {"name": "gpu"}, "spec": {}}
CREATED = {"method": "POST", "path": CLASSES, "object": CLASS, "expect": {"code": 201, "spec": {}}}
NO_NAME = {
    "method": "POST",
    "path": CLASSES,
    "object": {"spec": {}},
    "expect": {
        "code": 422,
        "causes": [
            {
                "field": "metadata.name",
                "reason": "FieldValueRequired",
                "message": "Required value: name or generateName is required",
            }
        ],
    },
}
UNKNOWN_FIELD = {
    "method": "POST",
    "path": CLASSES,
    "object": CLASS | {"x": 1},
    "expect": {
        "code": 400,
        "message": 'DeviceClass in version "v1" cannot be handled as a DeviceClass: '
        'strict decoding error: unknown field "x"',
    },
}
UPDATED = {
    "op": "update",
    "path": f"{CLASSES}/gpu",
    "old": CLASS,
    "object": CLASS,
    "expect": {"code": 200, "spec": {}},
}


def versions(*names: str) -> dict[str, Any]:
    shown = {name: {"kind": "DeviceClass", "apiVersion": f"resource.k8s.io/{name}", **CLASS} for name in names}
    return {"op": "versions", "versions": shown}


@pytest.mark.parametrize("line", [CREATED, NO_NAME, UNKNOWN_FIELD, UPDATED, versions("v1", "v1beta1")])
def test_a_line_that_agrees_passes(line: dict[str, Any]) -> None:
    verdict = conformance.judge_line(line)
    assert verdict.mismatches == []
    assert verdict.texts_same == verdict.texts


@pytest.mark.parametrize(
    ("line", "want"),
    [
        (CREATED | {"expect": {"code": 422, "message": "no"}}, "code 201, want 422"),
        (CREATED | {"expect": {"code": 201, "spec": {"suitable": 1}}}, "spec.suitable: missing 1"),
        (CREATED | {"path": "/nowhere"}, "not a path of a resource"),
        (NO_NAME | {"expect": {"code": 422, "causes": []}}, "extra metadata.name: FieldValueRequired"),
        ({"what": "ever"}, "nobody recognises this line"),
    ],
)
def test_a_line_that_disagrees_fails(line: dict[str, Any], want: str) -> None:
    assert want in " ".join(conformance.judge_line(line).mismatches)


def test_a_file_ends_in_its_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(json.dumps(each) for each in (CREATED, NO_NAME, {"name": "odd"})))
    monkeypatch.setattr("sys.argv", ["conformance", str(file)])
    assert conformance.main() == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "FAIL odd"
    assert printed[-2:] == ["cases.jsonl: same text: 1 of 1", "2 passed, 1 failed"]


@pytest.mark.parametrize(
    ("got", "want", "differences"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, []),
        ({"a": True}, {"a": 1}, [".a: got True, want 1"]),
        ({"a": [1]}, {"a": [1, 2]}, [".a: got [1], want [1, 2]"]),
        ({"a": None}, {}, [".a: extra None"]),
    ],
)
def test_differences_are_described(got: object, want: object, differences: list[str]) -> None:
    assert list(describe_difference(got, want)) == differences

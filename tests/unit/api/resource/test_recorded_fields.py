"""Every type has the fields that the API server publishes, in every served version."""

import json
from pathlib import Path
from typing import Any

import pytest

from dray.api.codec import get_codec
from dray.api.resource.kinds import KINDS
from dray.api.shapes import (
    CustomShape,
    FieldShape,
    ListShape,
    MapShape,
    ObjectShape,
    RawShape,
    ScalarShape,
    Shape,
    get_shape,
)

RECORDED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("recorded_fields.json").read_text())


def shapes_of(version: str) -> dict[str, ObjectShape]:
    """The types of one version, found from its kinds."""
    found: dict[str, ObjectShape] = {}
    left = [get_shape(get_codec(kind, version).wire_struct) for kind in KINDS if kind.find_version(version)]
    while left:
        shape = left.pop()
        if shape.name not in found:
            found[shape.name] = shape
            left.extend(shape.nested())
    return {name: shape for name, shape in found.items() if ".resource." in shape.struct.__module__}


SHAPES = {version: shapes_of(version) for version in ("v1", "v1beta2", "v1beta1", "v1alpha3")}


def render_type(shape: Shape) -> str:
    match shape:
        case ObjectShape():
            return shape.name
        case ListShape():
            return f"[]{render_type(shape.item)}"
        case MapShape():
            return f"map[string]{render_type(shape.value)}"
        case ScalarShape():
            return shape.type_name
        case CustomShape():
            return shape.type.__name__
        case RawShape():
            return "RawExtension"
        case _:
            return repr(shape)


def render_field(field: FieldShape) -> str:
    """Type and declared facts, in the words of the table."""
    words, facts = [render_type(field.shape)], field.facts
    if facts.get("required"):
        words.append("required")
    if "list" in facts:
        words.append(facts["list"] + (f"({','.join(facts['keys'])})" if "keys" in facts else ""))
    if "patch" in facts:
        words.append(f"patch={facts['patch']}({facts['merge_key']})")
    if "enum" in facts:
        words.append(f"enum={'|'.join(sorted(facts['enum']))}")
    return " ".join(words)


@pytest.mark.parametrize(
    ("version", "recorded"),
    [
        pytest.param(version, recorded, id=f"{version}-{recorded['type']}")
        for recorded in RECORDED
        for version in recorded["versions"]
    ],
)
def test_type_has_the_recorded_fields(version: str, recorded: dict[str, Any]) -> None:
    fields = SHAPES[version][recorded["type"]].fields

    assert {name: render_field(field) for name, field in fields.items()} == recorded["fields"]


@pytest.mark.parametrize("version", SHAPES)
def test_no_type_is_made_up(version: str) -> None:
    assert SHAPES[version].keys() == {each["type"] for each in RECORDED if version in each["versions"]}


@pytest.mark.parametrize("version", SHAPES)
def test_types_and_fields_are_described(version: str) -> None:
    shapes = SHAPES[version]

    assert [name for name, shape in shapes.items() if not shape.struct.__doc__] == []
    assert [
        f"{name}.{field}"
        for name, shape in shapes.items()
        for field, one in shape.fields.items()
        if not one.description
    ] == []

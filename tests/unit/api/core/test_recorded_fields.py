"""Every Struct has the fields, and the types, that the API server publishes."""

import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from dray.api.struct import ApiStruct

RECORDED: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("recorded_fields.json").read_text())
GROUPS = ("authentication", "coordination", "core", "events", "policy", "rbac", "scheduling")


def structs_of(group: str) -> Iterator[tuple[str, type[ApiStruct]]]:
    package = importlib.import_module(f"dray.api.{group}")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for name, member in vars(importlib.import_module(module.name)).items():
            if isinstance(member, type) and issubclass(member, ApiStruct) and member.__module__ == module.name:
                yield f"{group}.v1.{name}", member


STRUCTS = {name: struct for group in GROUPS for name, struct in structs_of(group)}


def render_type(hint: Any) -> str:
    if get_origin(hint) is Annotated:
        inner, *metas = get_args(hint)
        limits = {meta.le for meta in metas if isinstance(meta, msgspec.Meta)}
        return "Int32" if 2**31 - 1 in limits else "Int64" if 2**63 - 1 in limits else render_type(inner)
    arguments = [each for each in get_args(hint) if each is not NoneType]
    if NoneType in get_args(hint) and len(arguments) == 1:
        return render_type(arguments[0])
    if set(arguments) == {int, str}:
        return "IntOrString"
    if get_origin(hint) is tuple:
        return f"tuple[{render_type(arguments[0])}, ...]"
    if get_origin(hint) is Mapping:
        return f"Mapping[str, {render_type(arguments[1])}]"
    assert get_origin(hint) is not Union, hint
    return str(hint.__name__)


def declared_fields(struct: type[ApiStruct]) -> dict[str, str]:
    hints = get_type_hints(struct, include_extras=True)
    return {field.encode_name: render_type(hints[field.name]) for field in msgspec.structs.fields(struct)}


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_struct_has_the_recorded_fields(name: str) -> None:
    assert declared_fields(STRUCTS[name]) == RECORDED[name]


def describes(hint: Any) -> bool:
    return any(isinstance(meta, msgspec.Meta) and meta.description for meta in get_args(hint)[1:])


@pytest.mark.parametrize("name", sorted(STRUCTS))
def test_every_field_has_a_description(name: str) -> None:
    hints = get_type_hints(STRUCTS[name], include_extras=True)
    own = {field.name: hints[field.name] for field in msgspec.structs.fields(STRUCTS[name])}
    assert [field for field, hint in own.items() if not describes(hint)] == []

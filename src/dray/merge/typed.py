"""What a value is by its schema: whether it fits, which step leads to an item of a list, which fields it has."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from dray.merge.elements import Path, field_step, format_step, key_step, value_step
from dray.merge.fieldsets import FieldSet
from dray.merge.gotext import format_plain, format_source, format_type
from dray.merge.schema import ANYTHING, SCALAR, Anything, ListSchema, ListType, ObjectSchema, Scalar, Schema
from dray.values.quoting import quote

__all__ = [
    "JsonObject",
    "TypeFault",
    "add_parents",
    "check_value",
    "collect_fields",
    "is_granular",
    "is_same",
    "list_steps",
    "resolve",
]

JsonObject = dict[str, Any]

_ANY_OBJECT: Final = ObjectSchema(element=ANYTHING)
_ANY_LIST: Final = ListSchema(ANYTHING)
_canonical = msgspec.json.Encoder(order="sorted").encode


class TypeFault(ValueError):
    """A value that does not fit its schema."""


def is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; unlike in Python, true is not 1."""
    if one is other or not bool(one == other):
        return one is other
    return type(one) is type(other) is str or bool(_canonical(one) == _canonical(other))


def resolve(schema: Schema, value: Any) -> Scalar | ListSchema | ObjectSchema:
    """The schema of a value of undeclared type follows from the value."""
    if not isinstance(schema, Anything):
        return schema
    if isinstance(value, dict):
        return _ANY_OBJECT
    return _ANY_LIST if isinstance(value, list) else SCALAR


def is_granular(schema: ListSchema) -> bool:
    """Whether each item of the list has an owner of its own."""
    return schema.type is not ListType.ATOMIC


def list_steps(schema: ListSchema, items: list[Any]) -> list[str]:
    """The steps to the items of a granular list, in order. Raises `TypeFault` for an item without identity."""
    return [_item_step(schema, index, item) for index, item in enumerate(items)]


def _item_step(schema: ListSchema, index: int, item: Any) -> str:
    fault = _find_keyed_fault(schema, item) if schema.keys else _find_set_fault(item)
    if fault:
        raise TypeFault(f"element {index}: {fault}")
    return key_step(_keys_of(schema, item)) if schema.keys else value_step(item)


def _keys_of(schema: ListSchema, item: JsonObject) -> JsonObject:
    """The keys an item has; a declared default stands for one that is absent."""
    fields = schema.item.fields if isinstance(schema.item, ObjectSchema) else {}
    keys: JsonObject = {}
    for key in schema.keys:
        declared = fields.get(key)
        if key in item:
            keys[key] = item[key]
        elif declared is not None and declared.default is not None:
            keys[key] = declared.default
    return keys


def _find_keyed_fault(schema: ListSchema, item: Any) -> str:
    if item is None:
        return "associative list with keys may not have a null element"
    if not isinstance(item, dict):
        return "associative list with keys may not have non-map elements"
    if _keys_of(schema, item):
        return ""
    names = " ".join(map(quote, schema.keys))
    return (
        f"associative list with keys has an element that omits all key fields [{names}] "
        "(and doesn't have default values for any key fields)"
    )


def _find_set_fault(item: Any) -> str:
    if isinstance(item, dict):
        return "associative list without keys has an element that's a map type"
    if isinstance(item, list):
        return "not supported: associative list with lists as elements"
    return "associative list without keys has an element that's an explicit null" if item is None else ""


def check_value(schema: Schema, value: Any) -> list[str]:
    """Everything that keeps a value from fitting its schema, each with its path, in the API server's words."""
    return [f"{path}: {detail}" if path else detail for path, detail in _check(schema, value)]


_Faults = Sequence[tuple[str, str]]
"""Paths and what is wrong there. No generators: nearly always there is nothing wrong, and that is quickly said."""


def _check(schema: Schema, value: Any) -> _Faults:
    resolved = resolve(schema, value)
    if value is None:
        return ()
    if isinstance(resolved, Scalar):
        fault = _find_scalar_fault(resolved, value)
        return [("", fault)] if fault else ()
    if isinstance(resolved, ListSchema):
        if isinstance(value, list):
            return _check_items(resolved, value)
        return [("", f"expected list, got &{{{format_plain(value)}}}")]
    if isinstance(value, dict):
        return _check_fields(resolved, value)
    return [("", f"expected map, got &{{{format_plain(value)}}}")]


def _check_fields(schema: ObjectSchema, value: JsonObject) -> _Faults:
    faults: list[tuple[str, str]] = []
    for name, each in value.items():
        if schema.element is None and name not in schema.fields:
            faults.append((f".{name}", "field not declared in schema"))
            break
        faults += [(f".{name}{path}", detail) for path, detail in _check(schema.schema_of(name), each)]
    return faults


def _check_items(schema: ListSchema, items: list[Any]) -> _Faults:
    faults: list[tuple[str, str]] = []
    seen: set[str] = set()
    for index, item in enumerate(items):
        step = f"i:{index}"
        if is_granular(schema):
            try:
                step = _item_step(schema, index, item)
            except TypeFault as fault:
                faults.append(("", str(fault)))
                break
            if step in seen:
                faults.append(("", f"duplicate entries for key {format_step(step)}"))
            seen.add(step)
        faults += [(f"{format_step(step)}{path}", detail) for path, detail in _check(schema.item, item)]
    return faults


def _find_scalar_fault(scalar: Scalar, value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if scalar is Scalar.NUMBER:
        return "" if is_number else f"expected numeric (int or float), got {format_type(value)}"
    if scalar is Scalar.TEXT:
        got = f"&value.valueUnstructured{{Value:{format_source(value)}}}"
        return "" if isinstance(value, str) else f"expected string, got {got}"
    if scalar is Scalar.BOOLEAN:
        return "" if isinstance(value, bool) else f"expected boolean, got &{{{format_plain(value)}}}"
    is_scalar = not isinstance(value, dict | list)
    return "" if is_scalar else f"expected any scalar, got &{{{format_plain(value)}}}"


def collect_fields(schema: Schema, value: Any) -> FieldSet:
    """The fields that whoever applies this value owns: its leaves, the items of its lists and the keys of its maps."""
    paths: list[Path] = []
    _collect(schema, value, (), paths)
    return frozenset(filter(None, paths))  # nobody owns the object as a whole


def add_parents(schema: Schema, fields: FieldSet) -> FieldSet:
    """The fields, and every declared field on the way to one of them. Keys of maps and items of lists join nothing."""
    schemas: dict[Path, Schema] = {(): schema}
    joined = set(fields)
    for path in fields:
        for length in range(1, len(path)):
            above, step = path[: length - 1], path[length - 1]
            parent = schemas[above]
            if path[:length] not in schemas:
                schemas[path[:length]] = _descend(parent, step)
            if isinstance(parent, ObjectSchema) and step[2:] in parent.fields and step.startswith("f:"):
                joined.add(path[:length])
    return frozenset(joined)


def _descend(schema: Schema, step: str) -> Schema:
    """The type of what a step leads to, as far as declared."""
    if isinstance(schema, ObjectSchema) and step.startswith("f:"):
        return schema.schema_of(step[2:])
    return schema.item if isinstance(schema, ListSchema) and step.startswith("k:") else ANYTHING


def _collect(schema: Schema, value: Any, path: Path, paths: list[Path]) -> None:
    resolved = resolve(schema, value)
    if isinstance(resolved, ObjectSchema) and not resolved.is_atomic:
        if isinstance(value, dict):
            _collect_members(resolved, value, path, paths)
    elif isinstance(resolved, ListSchema) and is_granular(resolved):
        if isinstance(value, list):
            _collect_items(resolved, value, path, paths)
    else:
        paths.append(path)


def _collect_members(schema: ObjectSchema, value: JsonObject, path: Path, paths: list[Path]) -> None:
    for name, each in value.items():
        below = (*path, field_step(name))
        _collect(schema.schema_of(name), each, below, paths)
        if each is None or each == {} or name not in schema.fields:
            paths.append(below)


def _collect_items(schema: ListSchema, items: list[Any], path: Path, paths: list[Path]) -> None:
    steps = list_steps(schema, items)
    counts = Counter(steps)
    for step, item in zip(steps, items, strict=True):
        below = (*path, step)
        paths.append(below)
        if counts[step] == 1:
            _collect(schema.item, item, below, paths)

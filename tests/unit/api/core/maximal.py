"""Objects with every field set to something that is not its zero, made from the types themselves."""

from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from dray.api.struct import ApiStruct
from dray.values.quantity import Quantity, parse_quantity
from dray.values.times import MicroTime, Time, parse_micro_time, parse_time

_SAMPLES: dict[Any, Any] = {
    str: "text",
    int: 7,
    bool: True,
    bytes: b"\x00\xff",
    Quantity: parse_quantity("1500m"),
    Time: parse_time("2026-01-02T03:04:05Z"),
    MicroTime: parse_micro_time("2026-01-02T03:04:05.678901Z"),
    msgspec.Raw: msgspec.Raw(b'{"f:spec":{}}'),
}


def make_sample(hint: Any) -> Any:
    """A value of that type which is written."""
    if get_origin(hint) is Annotated:
        return make_sample(get_args(hint)[0])
    arguments = [each for each in get_args(hint) if each is not NoneType]
    if get_origin(hint) is tuple:
        return (make_sample(arguments[0]),)
    if get_origin(hint) is Mapping:
        return {"key": make_sample(arguments[1])}
    if arguments:
        return make_sample(arguments[-1])
    return make_maximal(hint) if issubclass(hint, ApiStruct) else _SAMPLES[hint]


def make_maximal(struct: type[Any]) -> Any:
    """An object in which no field is left at its default."""
    hints = get_type_hints(struct, include_extras=True)
    fields = msgspec.structs.fields(struct)
    return struct(**{field.name: make_sample(hints[field.name]) for field in fields})


def wire_paths(struct: type[Any], path: str = "") -> Iterator[str]:
    """The wire path of every field, however deep."""
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        at = f"{path}.{field.encode_name}" if path else field.encode_name
        yield at
        inner = _struct_in(hints[field.name])
        if inner is not None:
            yield from wire_paths(inner, at)


def _struct_in(hint: Any) -> type[Any] | None:
    if isinstance(hint, type) and issubclass(hint, ApiStruct):
        return hint
    arguments = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    return next((found for each in arguments if (found := _struct_in(each)) is not None), None)


def written_paths(tree: Any, path: str = "") -> Iterator[str]:
    """The path of every key of a JSON object, list indexes and map keys aside."""
    if isinstance(tree, list):
        for item in tree:
            yield from written_paths(item, path)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key in ("key", "f:spec") and not isinstance(value, str):
                yield from written_paths(value, path)
                continue
            at = f"{path}.{key}" if path else key
            yield at
            yield from written_paths(value, at)

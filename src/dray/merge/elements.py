"""Steps of a path to a field, in the spelling of FieldsV1.

`f:name` is a field of an object or a key of a map, `k:{"name":"c"}` an item of a list told apart by keys, `v:"x"` an
item of a set, `i:0` a place in a list. The spelling is canonical: equal steps are equal strings.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from dray.merge.gotext import encode_json, format_plain
from dray.values.quoting import quote

__all__ = ["Path", "canonical_step", "field_step", "format_path", "format_step", "key_step", "order_of", "value_step"]

Path = tuple[str, ...]
"""Steps from the object down to a field."""

_CACHED: Final = 4096
_KINDS: Final = {"f": 0, "k": 1, "v": 2, "i": 3}


def field_step(name: str) -> str:
    """The step to a field or to a key of a map."""
    return "f:" + name


def key_step(keys: Mapping[str, Any]) -> str:
    """The step to the item of a list that has these keys."""
    items = tuple(sorted(keys.items()))
    return _text_key_step(items) if all(type(value) is str for _, value in items) else _key_step(items)


def value_step(value: Any) -> str:
    """The step to this item of a set."""
    return _text_step(value) if type(value) is str else "v:" + encode_json(value)


def _key_step(items: tuple[tuple[str, Any], ...]) -> str:
    return "k:" + encode_json(dict(items))


_text_key_step = lru_cache(maxsize=_CACHED)(_key_step)
"""For texts alone: numbers and truth values are equal where their spellings are not."""


@lru_cache(maxsize=_CACHED)
def _text_step(text: str) -> str:
    return "v:" + encode_json(text)


def canonical_step(text: str) -> str | None:
    """Bring a step that a client wrote into canonical spelling. None for a kind of step that nobody knows.

    Raises ValueError where it is no step at all.
    """
    kind, content = text[:2], text[2:]
    if len(kind) < 2 or kind[1] != ":":
        raise ValueError(f"missing colon: {text}" if len(text) >= 2 else "key must be 2 characters long:")
    if kind == "f:":
        return text
    if kind == "k:":
        keys = json.loads(content)
        if not isinstance(keys, dict):
            raise ValueError(f"not an object: {content}")
        return key_step(keys)
    if kind == "v:":
        return value_step(json.loads(content))
    return f"i:{int(content)}" if kind == "i:" else None


def format_step(step: str) -> str:
    """A step as error texts show it: `.spec`, `[name="c"]`, `[="x"]`, `[0]`."""
    kind, content = step[0], step[2:]
    if kind == "f":
        return "." + content
    if kind == "k":
        return f"[{','.join(f'{name}={_show(value)}' for name, value in json.loads(content).items())}]"
    return f"[={_show(json.loads(content))}]" if kind == "v" else f"[{content}]"


def format_path(path: Path) -> str:
    """A path as error texts show it: `.spec.containers[name="c"].image`."""
    return "".join(map(format_step, path))


def _show(value: Any) -> str:
    if value is None:
        return "null"
    return quote(value) if isinstance(value, str) else format_plain(value)


@lru_cache(maxsize=_CACHED)
def order_of(step: str) -> tuple[Any, ...]:
    """The key by which steps are sorted: fields by name, then items by keys, then by value; numbers as numbers."""
    kind, content = step[0], step[2:]
    if kind == "f":
        return (0, content)
    if kind == "k":
        return (1, *((name, _rank(value)) for name, value in json.loads(content).items()))
    return (2, _rank(json.loads(content))) if kind == "v" else (3, int(content))


def _rank(value: Any) -> tuple[int, Any]:
    """Numbers before texts before booleans before the rest."""
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, int | float):
        return (0, value)
    return (1, value) if isinstance(value, str) else (3, encode_json(value))

"""JSON patches (RFC 6902) as the API server applies them.

No library is used: the API server departs from the RFC (a `replace` of a missing name adds it, a missing name equals
null, negative places count from the end), limits what copies may add up to, and its refusals are all one text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from dray.errors import BadRequest
from dray.merge.comparing import ABSENT
from dray.merge.documents import copy_value, describe_kind, read_patch
from dray.merge.faults import PatchRefused, TooManyOperations, refusing_depth
from dray.merge.typed import JsonObject, is_same
from dray.values.quoting import quote

__all__ = ["MAX_COPIED_BYTES", "MAX_OPERATIONS", "JsonPatch", "apply_json_patch", "decode_json_patch"]

MAX_OPERATIONS: Final = 10_000
"""Operations in one patch; more are answered with 413."""
MAX_COPIED_BYTES: Final = 3 * 1024 * 1024
"""What all `copy` operations of a patch may add up to: without a limit a short patch doubles the object at will."""

_TYPE: Final = "handlers.jsonPatchOp"
_MEMBERS: Final = ("op", "path", "from")
_INDEX: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class JsonPatch:
    """A patch whose operations have the right shape, though they need not apply."""

    operations: tuple[JsonObject, ...]
    strict_faults: tuple[str, ...] = ()
    """What strict field validation refuses: unknown and repeated members of operations."""


def decode_json_patch(text: bytes) -> JsonPatch:
    """Read a JSON patch. Raises BadRequest for what is none, `TooManyOperations` for one that is too long."""
    read = read_patch(text)
    if read.value is not None and not isinstance(read.value, list):
        raise _unreadable(f"{describe_kind(read.value)} into Go value of type []{_TYPE}")
    operations = [each if each is not None else {} for each in read.value or ()]
    faults = list(read.strict_faults)
    for index, each in enumerate(operations):
        if not isinstance(each, dict):
            raise _unreadable(f"{describe_kind(each)} into Go value of type {_TYPE}")
        for name in _MEMBERS:
            if not isinstance(each.get(name, ""), str | None):
                raise _unreadable(f"{describe_kind(each[name])} into Go struct field jsonPatchOp.{name} of type string")
        faults += [f"unknown field {quote(f'[{index}].{name}')}" for name in each if name not in (*_MEMBERS, "value")]
    if len(operations) > MAX_OPERATIONS:
        raise TooManyOperations(len(operations), MAX_OPERATIONS)
    return JsonPatch(tuple(operations), tuple(f"json patch {each}" for each in faults))


def _unreadable(what: str) -> BadRequest:
    return BadRequest(f"error decoding patch: json: cannot unmarshal {what}")


@refusing_depth
def apply_json_patch(document: JsonObject, patch: JsonPatch) -> Any:
    """The patched document, which need not be an object any more. Raises `PatchRefused` where the patch does not apply.

    Objects that a path leads through come out sorted by name, as in the API server's error texts.
    """
    target = _Target(copy_value(document))
    for index, operation in enumerate(patch.operations):
        try:
            target.perform(operation)
        except _Refusal as fault:
            raise PatchRefused(f"operation {index} does not apply: {fault}") from fault
    return target.finish()


class _Refusal(Exception):
    """Why an operation does not apply."""


class _Target:
    """A document that is being patched in place."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._visited: dict[int, JsonObject] = {}
        self._copied_bytes = 0
        self._acts: dict[str, Callable[[JsonObject], None]] = {
            "add": self._add,
            "remove": self._remove,
            "replace": self._replace,
            "move": self._move,
            "copy": self._copy,
            "test": self._test,
        }

    def perform(self, operation: JsonObject) -> None:
        act = self._acts.get(operation.get("op") or "")
        if act is None:
            raise _Refusal(f"unknown op {operation.get('op')!r}")
        act(operation)

    def finish(self) -> Any:
        """Sort what was visited, and give the document away."""
        for each in self._visited.values():
            items = sorted(each.items())
            each.clear()
            each.update(items)
        return self._document

    def _add(self, operation: JsonObject) -> None:
        self._insert(_member(operation, "path"), copy_value(operation.get("value")))

    def _remove(self, operation: JsonObject) -> None:
        self._take(_member(operation, "path"))

    def _replace(self, operation: JsonObject) -> None:
        path, value = _member(operation, "path"), copy_value(operation.get("value"))
        if path == "":
            if not isinstance(value, dict | list):
                raise _Refusal("only an object can stand for the whole document")
            self._document = value
            return
        parent, key = self._find(path)
        if isinstance(parent, dict):
            parent[key] = value
        else:
            parent[_place(key, len(parent))] = value

    def _move(self, operation: JsonObject) -> None:
        value = self._take(_member(operation, "from"))
        self._insert(_member(operation, "path"), value)

    def _copy(self, operation: JsonObject) -> None:
        value = self._get(_member(operation, "from"))
        self._copied_bytes += len(msgspec.json.encode(value))
        if self._copied_bytes > MAX_COPIED_BYTES:
            raise _Refusal("copies add up to too much")
        self._insert(_member(operation, "path"), copy_value(value))

    def _test(self, operation: JsonObject) -> None:
        path = _member(operation, "path")
        found = self._document if path == "" else self._get(path)
        wanted = operation.get("value", ABSENT)
        if wanted is ABSENT and found is None:
            return
        if wanted is ABSENT or not is_same(found, wanted):
            raise _Refusal(f"the test of {path} fails")

    def _get(self, path: str) -> Any:
        parent, key = self._find(path)
        return parent.get(key) if isinstance(parent, dict) else parent[_place(key, len(parent))]

    def _take(self, path: str) -> Any:
        parent, key = self._find(path)
        if isinstance(parent, list):
            return parent.pop(_place(key, len(parent)))
        if key not in parent:
            raise _Refusal(f"there is no {path}")
        return parent.pop(key)

    def _insert(self, path: str, value: Any) -> None:
        parent, key = self._find(path)
        if isinstance(parent, dict):
            parent[key] = value
        else:
            parent.insert(len(parent) if key == "-" else _place(key, len(parent) + 1), value)

    def _find(self, path: str) -> tuple[Any, str]:
        """The object or list that holds the end of a path, and the last step."""
        steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]
        if len(steps) < 2:
            raise _Refusal(f"there is nothing around {path or 'the whole document'}")
        holder = self._visit(self._document, path)
        for step in steps[1:-1]:
            if isinstance(holder, list):
                holder = self._visit(holder[_place(step, len(holder))], path)
            else:
                holder = self._visit(holder.get(step), path)
        return holder, steps[-1]

    def _visit(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            self._visited[id(value)] = value
        elif not isinstance(value, list):
            raise _Refusal(f"there is nothing on the way to {path}")
        return value


def _member(operation: JsonObject, name: str) -> str:
    text = operation.get(name)
    if not isinstance(text, str):
        raise _Refusal(f"it has no {name}")
    return text


def _place(key: str, length: int) -> int:
    """The place in a list that a step names; negative ones count from the end."""
    if _INDEX.fullmatch(key) is None or len(key) > len(str(length)) + 8:
        raise _Refusal(f"{key} is no place in a list")
    place = int(key)
    if not -length <= place < length:
        raise _Refusal(f"there is no place {key}")
    return place % length if length else 0

"""What one call costs while running: by function, and by overload where cel-go looks at that.

The counts bound the work of an evaluation; they need not be those of the estimate, which assumes the worst. They look
at the arguments alone, so that a call is paid for before it is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TypeAlias

from dray.cel.callcost import REGEX_FACTOR, STRING_FACTOR
from dray.cel.library.formats import Format
from dray.cel.library.lists import MAX_RANGE
from dray.cel.library.network import Address, Network
from dray.cel.values import LibraryObject, MapValue, Optional, Sum, Value
from dray.values.quantity import Quantity
from dray.values.semver import Semver

__all__ = ["RunCost", "hidden_work", "run_cost"]

Args: TypeAlias = tuple[Value, ...]
RunCost: TypeAlias = Callable[[Args], int]
_LIST_COST = 10


def size(value: Value) -> int:
    """How large a value counts: its length if it has one, else 1."""
    if isinstance(value, str | bytes | tuple | MapValue | Address | Network):
        return len(value)
    if isinstance(value, Optional) and value.is_present:
        return size(value.value)
    return 1


def _scan(at: int, factor: float = STRING_FACTOR) -> RunCost:
    """Going over one argument."""
    return lambda args: math.ceil(size(args[at]) * factor)


def _one(_: Args) -> int:
    return 1


_HOLDERS = (tuple, MapValue, Optional)
"""Values that hold others."""

_Known: TypeAlias = dict[int, int]
"""What parts were found to weigh, by `id`: one list may stand in another often, and that one in a third."""


def _sum_parts(value: Value, weigh: Callable[[Value, _Known], int], known: _Known) -> int:
    """What the parts of a list, map or optional weigh, each as often as it is there but looked at once."""
    found = known.get(id(value))
    if found is None:
        found = known[id(value)] = sum(weigh(each, known) for each in _parts(value))
    return found


def _parts(value: Value) -> Iterable[Value]:
    if isinstance(value, tuple):
        return value
    if isinstance(value, MapValue):
        return chain.from_iterable(value.items())
    return (value.value,) if isinstance(value, Optional) else ()


def _traversal(value: Value, known: _Known) -> int:
    """Going over a value and all it holds."""
    if isinstance(value, str | bytes):
        length = len(value.encode()) if isinstance(value, str) else len(value)
        return int(length * STRING_FACTOR)
    return _sum_parts(value, _traversal, known) if isinstance(value, tuple | MapValue) else 1


def _traverse(args: Args) -> int:
    return _traversal(args[0], {})


def _search(args: Args) -> int:
    """A pattern over a text."""
    return math.ceil((1.0 + size(args[0])) * STRING_FACTOR) * math.ceil(size(args[1]) * REGEX_FACTOR)


def _contains(args: Args) -> int:
    return math.ceil(size(args[0]) * STRING_FACTOR) * math.ceil(size(args[1]) * STRING_FACTOR)


def _compare(args: Args) -> int:
    return math.ceil(min(size(args[0]), size(args[1])) * STRING_FACTOR)


def _equality(args: Args) -> int:
    if isinstance(args[0], Quantity | Sum | Semver | LibraryObject):
        return 1
    return _compare(args)


def _join_texts(args: Args) -> int:
    return math.ceil((size(args[0]) + size(args[1])) * STRING_FACTOR)


def _contains_ip(args: Args) -> int:
    cost = math.ceil(2 * size(args[0]) * STRING_FACTOR)
    return cost + math.ceil(size(args[1]) * STRING_FACTOR) if isinstance(args[1], str) else cost


def _contains_cidr(args: Args) -> int:
    return _contains_ip(args) + math.ceil(size(args[0]) * STRING_FACTOR) + 1


def _validate(args: Args) -> int:
    pattern = args[0].pattern_size if isinstance(args[0], Format) else 1
    return math.ceil((1.0 + size(args[1])) * STRING_FACTOR) * math.ceil(pattern * REGEX_FACTOR)


def _allocating(factor: float, count: int) -> int:
    return int(count * factor) + 1 + _LIST_COST


def _slice(args: Args) -> int:
    start, end = args[1], args[2]
    assert isinstance(start, int)
    assert isinstance(end, int)
    return _allocating(1, min(max(end - start, 0), size(args[0])))


def _range(args: Args) -> int:
    (count,) = args
    return _allocating(1, count if isinstance(count, int) and 0 < count <= MAX_RANGE else 0)


def _reverse(args: Args) -> int:
    return _allocating(1, size(args[0]))


def _join(args: Args) -> int:
    parts = args[0] if isinstance(args[0], tuple) else ()
    separators = size(args[1]) * max(len(parts) - 1, 0) if len(args) > 1 else 0
    return math.ceil((sum(map(size, parts)) + separators) * 2 * STRING_FACTOR)


def _flatten(args: Args) -> int:
    depth = args[1] if len(args) == 2 and isinstance(args[1], int) else 1
    return _allocating(float(depth) if depth >= 0 else 1.0, size(args[0]))


def _self_compare(at: int) -> RunCost:
    def cost(args: Args) -> int:
        values = args[at]
        first = values[0] if isinstance(values, tuple) and values else None
        factor = 2 + STRING_FACTOR if isinstance(first, str | bytes) else 2
        return _allocating(factor, size(values) ** 2)

    return cost


def _sets(factor: int) -> RunCost:
    return lambda args: 1 + size(args[0]) * size(args[1]) * factor


_BY_FUNCTION: dict[str, RunCost] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _traverse),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _scan(0)),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _scan(0)),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _scan(0, 2 * STRING_FACTOR)),
    **dict.fromkeys(("find", "findAll", "matches"), _search),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _one),
    "join": _join,
    "ip": lambda args: 1 if isinstance(args[0], Network) else math.ceil(size(args[0]) * STRING_FACTOR),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "_==_": _equality,
    "_!=_": _compare,
}

_BY_OVERLOAD: dict[str, RunCost] = {
    "list_slice": _slice,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": _self_compare(0),
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    "starts_with_string": _scan(1),
    "ends_with_string": _scan(1),
    "string_to_bytes": _scan(0),
    "bytes_to_string": _scan(0),
    "strings_quote": _scan(0),
    "string_format": _scan(0),
    "in_list": lambda args: size(args[1]),
    "contains_string": _contains,
    "add_string": _join_texts,
    "add_bytes": _join_texts,
    **{
        f"{verb}_{kind}": _compare
        for verb in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
}


def run_cost(function: str, overload_id: str) -> RunCost:
    """How to price a call; `overload_id` is empty where several overloads may be meant."""
    if overload_id.endswith("_sortByAssociatedKeys"):
        return _self_compare(1)
    if overload_id.endswith("_sort"):
        return _self_compare(0)
    return _BY_OVERLOAD.get(overload_id) or _BY_FUNCTION.get(function, _one)


_COMPARING = frozenset({"_==_", "_!=_", "@in", "indexOf", "lastIndexOf", "includes"})
_COMPARING_PAIRS = frozenset({"distinct", "sets.contains", "sets.equivalent", "sets.intersects"})
_ELEMENT_WORK = 5
"""Copies that take as long as looking at one element."""


def hidden_work(function: str) -> RunCost | None:
    """The work of a function that goes into what lists hold, in copies; None for functions that do not.

    Kubernetes counts a list as its length, whatever it holds, and equality at a tenth of that.
    """
    if function in _COMPARING:
        return lambda args: _ELEMENT_WORK * sum(map(_count, args))
    if function in _COMPARING_PAIRS:
        return lambda args: _ELEMENT_WORK * _count(args[-1]) * max(size(args[0]), 1)
    if function == "flatten":
        return lambda args: _ELEMENT_WORK * _count(args[0])
    if function == "format":
        return lambda args: _extent(args[1:], {})
    return None


def _count(value: Value, known: _Known | None = None) -> int:
    """How many values there are in it, at any depth, itself among them."""
    if not isinstance(value, _HOLDERS):
        return 1
    return 1 + _sum_parts(value, _count, {} if known is None else known)


def _extent(value: Value, known: _Known) -> int:
    """How long the text of a value gets, roughly."""
    if isinstance(value, str | bytes):
        return 1 + len(value)
    return 1 + _sum_parts(value, _extent, known) if isinstance(value, _HOLDERS) else 1

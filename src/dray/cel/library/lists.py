"""Functions on lists, on lists as sets, and `includes`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from itertools import pairwise

from dray.cel.errors import EvaluationError, no_such_overload
from dray.cel.functions import Implementation, Overload, Signature, declare
from dray.cel.operators import add, compare, contains, equal_or_false
from dray.cel.values import Duration, Uint, Value, type_name

__all__ = ["LISTS", "MAX_RANGE", "MORE_LISTS", "SETS"]

List = tuple[Value, ...]

_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMABLE: dict[str, Value] = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}
_RUNTIME_NAMES = {"duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp"}
_COMPARABLE_AT_RUN_TIME = frozenset(_RUNTIME_NAMES.get(name, name) for name in _COMPARABLE)
MAX_RANGE = 1_000_000
"""Numbers that `lists.range` makes at most."""


def _comparison(one: Value, other: Value) -> int:
    """How two elements compare; 0 if they can be compared, but not with each other."""
    if type_name(other) not in _COMPARABLE_AT_RUN_TIME:
        raise no_such_overload()
    try:
        return compare(one, other)
    except EvaluationError:
        return 0


def _is_sorted(values: List) -> bool:
    return all(_comparison(one, other) <= 0 for one, other in pairwise(values))


def _sum_from(zero: Value) -> Callable[[List], Value]:
    def total(values: List) -> Value:
        result = zero
        for each in values:
            result = add(result, each)
        return result

    return total


def _extreme(name: str, sign: int) -> Callable[[List], Value]:
    def find(values: List) -> Value:
        if not values:
            raise EvaluationError(f"{name} called on empty list")
        best = values[0]
        for each in values[1:]:
            if _comparison(best, each) * sign > 0:
                best = each
        return best

    return find


def _index_of(values: List, wanted: Value) -> int:
    return next((at for at, each in enumerate(values) if equal_or_false(each, wanted)), -1)


def _last_index_of(values: List, wanted: Value) -> int:
    return next((at for at in range(len(values) - 1, -1, -1) if equal_or_false(values[at], wanted)), -1)


def _includes(target: Value, wanted: Value) -> bool:
    if isinstance(target, tuple):
        return any(equal_or_false(each, wanted) for each in target)
    return equal_or_false(target, wanted)


def _slice(values: List, start: int, end: int) -> List:
    call = f"cannot slice({start}, {end}), "
    if start < 0 or end < 0:
        raise EvaluationError(call + "negative indexes not supported")
    if start > end:
        raise EvaluationError(call + "start index must be less than or equal to end index")
    if len(values) < end:
        raise EvaluationError(call + f"list is length {len(values)}")
    return values[start:end]


def _flatten(values: Value, depth: Value = 1) -> List:
    if not isinstance(values, tuple) or type(depth) is not int:
        raise EvaluationError(f"no such overload: {type_name(values)}.flatten({type_name(depth)})")
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Value] = []
    for each in values:
        if isinstance(each, tuple) and depth > 0:
            flat.extend(_flatten(each, depth - 1))
        else:
            flat.append(each)
    return tuple(flat)


def _sort(values: Value) -> List:
    return _sort_by_keys(values, values)


def _sort_by_keys(values: Value, keys: Value) -> List:
    if not isinstance(values, tuple) or not isinstance(keys, tuple):
        raise no_such_overload()
    if len(values) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(values)} and {len(keys)} elements respectively"
        )
    if not values:
        return values
    kind = type_name(keys[0])
    if kind not in _COMPARABLE_AT_RUN_TIME:
        raise EvaluationError("list elements must be comparable")
    if any(type_name(key) != kind for key in keys):
        raise EvaluationError("list elements must have the same type")
    order = sorted(range(len(values)), key=cmp_to_key(_order(keys)))
    return tuple(values[at] for at in order)


def _order(keys: List) -> Callable[[int, int], int]:
    """How the elements at two positions compare."""
    return lambda one, other: compare(keys[one], keys[other])


def _distinct(values: List) -> List:
    unique: list[Value] = []
    for each in values:
        if not any(equal_or_false(each, other) for other in unique):
            unique.append(each)
    return tuple(unique)


def _range(size: int) -> List:
    if size < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {size}")
    if size > MAX_RANGE:
        raise EvaluationError(f"lists.range: size {size} exceeds maximum allowed ({MAX_RANGE})")
    return tuple(range(size))


def _contains_all(values: List, wanted: List) -> bool:
    return all(contains(each, values) for each in wanted)


def _per_kind(pattern: str, implement: Callable[[str], Implementation], kinds: Iterable[str]) -> list[Signature]:
    return [(pattern.replace("T", kind).replace("N", kind), implement(kind)) for kind in kinds]


def _sorting(pattern: str, implement: Implementation) -> list[Signature]:
    """Overloads whose ids carry the name a type has at run time."""
    return [
        (pattern.replace("T", kind).replace("N", _RUNTIME_NAMES.get(kind, kind)), implement) for kind in _COMPARABLE
    ]


LISTS: list[Overload] = declare(
    *_per_kind("list_N_is_sorted_bool: list(T)::isSorted() -> bool", lambda _: _is_sorted, _COMPARABLE),
    *_per_kind("list_N_sum_N: list(T)::sum() -> T", lambda kind: _sum_from(_SUMMABLE[kind]), _SUMMABLE),
    *_per_kind("list_N_max_N: list(T)::max() -> T", lambda _: _extreme("max", -1), _COMPARABLE),
    *_per_kind("list_N_min_N: list(T)::min() -> T", lambda _: _extreme("min", 1), _COMPARABLE),
    ("list_a_index_of_int: list(A)::indexOf(A) -> int", _index_of),
    ("list_a_last_index_of_int: list(A)::lastIndexOf(A) -> int", _last_index_of),
    ("list_includes_dyn_dyn: dyn::includes(dyn) -> bool", _includes),
)

MORE_LISTS: list[Overload] = declare(
    ("list_slice: list(T)::slice(int, int) -> list(T)", _slice),
    ("list_flatten: list(list(T))::flatten() -> list(T)", _flatten),
    ("list_flatten_int: list(dyn)::flatten(int) -> list(dyn)", _flatten),
    *_sorting("list_N_sort: list(T)::sort() -> list(T)", _sort),
    *_sorting("list_N_sortByAssociatedKeys: list(A)::@sortByAssociatedKeys(list(T)) -> list(A)", _sort_by_keys),
    ("lists_range: lists.range(int) -> list(int)", _range),
    ("list_reverse: list(T)::reverse() -> list(T)", lambda values: values[::-1]),
    ("list_distinct: list(T)::distinct() -> list(T)", _distinct),
)

SETS: list[Overload] = declare(
    ("list_sets_contains_list: sets.contains(list(T), list(T)) -> bool", _contains_all),
    (
        "list_sets_equivalent_list: sets.equivalent(list(T), list(T)) -> bool",
        lambda one, other: _contains_all(one, other) and _contains_all(other, one),
    ),
    (
        "list_sets_intersects_list: sets.intersects(list(T), list(T)) -> bool",
        lambda one, other: any(contains(each, other) for each in one),
    ),
)

"""What one call costs before it runs: a table by function, and by overload where Kubernetes looks at that.

An estimate is the cost of the call with its arguments (not its receiver) and, for what has a size, the size of its
result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from dray.cel.library.formats import MAX_PATTERN_SIZE
from dray.cel.sizes import UNKNOWN, UNLIMITED, Range, fixed, scale
from dray.cel.syntax import Expr, Literal
from dray.cel.types import Kind, Type

__all__ = ["REGEX_FACTOR", "STRING_FACTOR", "CallCost", "Estimate", "Operand", "Sizing", "estimate_call"]

STRING_FACTOR = 0.1
"""Cost of going over one character."""
REGEX_FACTOR = 0.25
"""Cost of one character of a pattern: a guess of four characters a step."""
_LIST_COST = fixed(10)
_MAX_FORMAT_NAME = 64


@dataclass(frozen=True, slots=True)
class Operand:
    """A receiver or argument as far as its cost goes."""

    node: Expr
    type: Type
    path: tuple[str, ...]
    known_size: Range | None

    @property
    def size(self) -> Range:
        """Its size, unlimited if unknown."""
        return UNKNOWN if self.known_size is None else self.known_size

    def number(self, default: int) -> int:
        """Its value if it is an integer literal, held at 0 from below."""
        value = self.node.value if isinstance(self.node, Literal) else None
        return max(value, 0) if type(value) is int else default


class Sizing(Protocol):
    """What else an estimate may ask."""

    def size_of_items(self, operand: Operand) -> Range:
        """The size of the elements of a list."""
        ...


@dataclass(frozen=True, slots=True)
class CallCost:
    """A call to estimate."""

    function: str
    target: Operand | None
    args: list[Operand]
    arg_costs: list[Range]


Estimate: TypeAlias = tuple[Range, Range | None]
_Estimator: TypeAlias = Callable[[CallCost, str, Sizing], Estimate | None]


def estimate_call(call: CallCost, overload_id: str, sizing: Sizing) -> Estimate:
    """The cost of one overload, arguments included, and the size of what it returns."""
    arguments = fixed(0)
    for each in call.arg_costs:
        arguments = arguments.plus(each)
    by_overload = _BY_OVERLOAD.get(overload_id)
    found = by_overload(call, overload_id, sizing) if by_overload else None
    if found is None:
        by_function = _BY_FUNCTION.get(call.function)
        found = by_function(call, overload_id, sizing) if by_function else None
    if found is None:
        return _estimate_core(call, overload_id, arguments)
    return found[0].plus(arguments), found[1]


# Functions of Kubernetes' libraries


def _traversal(call: CallCost, _: str, sizing: Sizing) -> Estimate | None:
    """`sum`, `indexOf`, `includes`...: one for each element, and more for elements that are text."""
    target = call.target
    if target is None:
        return None
    if target.type.parameters:
        each = fixed(1)
        if target.type.parameters[0].kind in (Kind.STRING, Kind.BYTES):
            each = each.plus(sizing.size_of_items(target).scaled(STRING_FACTOR))
        return target.size.times(each), None
    if call.function == "includes":
        return target.size, None
    return target.size.scaled(STRING_FACTOR), None


def _text_of_same_size(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    subject = call.target or (call.args[0] if len(call.args) == 1 else None)
    return None if subject is None else (subject.size.scaled(STRING_FACTOR), subject.size)


def _replace(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    if call.target is None or len(call.args) < 2:
        return None
    size, old, new = call.target.size, call.args[0].size, call.args[1].size
    greatest = _most_replaced(size.greatest, old.least, new.greatest)
    least = _least_replaced(size.least, old.greatest, new.least)
    return size.scaled(2 * STRING_FACTOR), Range(least, greatest)


def _most_replaced(size: int, shortest_old: int, longest_new: int) -> int:
    if shortest_old == 0:
        return min(min(size + 1, UNLIMITED) * longest_new + size, UNLIMITED)
    if longest_new <= shortest_old:
        return size
    return min(scale(size, 1 / shortest_old) * longest_new, UNLIMITED)


def _least_replaced(size: int, longest_old: int, shortest_new: int) -> int:
    if longest_old == 0:
        return min(min(size + 1, UNLIMITED) * shortest_new + size, UNLIMITED)
    if longest_old <= shortest_new:
        return size
    return min(scale(size, 1 / longest_old) * shortest_new, UNLIMITED)


def _split(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    if call.target is None:
        return None
    size = call.target.size
    most = size.greatest
    if len(call.args) > 1:
        limit = call.args[1].node
        if isinstance(limit, Literal) and type(limit.value) is int:
            most = limit.value if limit.value >= 0 else limit.value + _WRAP
    return size.scaled(2 * STRING_FACTOR), Range(0, most)


def _join(call: CallCost, _: str, sizing: Sizing) -> Estimate | None:
    if call.target is None:
        return None
    count = call.target.size
    size = fixed(0)
    if call.target.type.parameters:
        size = count.times(sizing.size_of_items(call.target))
    if call.args:
        separators = Range(max(count.least - 1, 0), max(count.greatest - 1, 0))
        size = size.plus(call.args[0].size.times(separators))
    return size.scaled(STRING_FACTOR), size


def _find(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    if call.target is None or not call.args:
        return None
    size = call.target.size
    cost = size.plus(fixed(1)).scaled(STRING_FACTOR).times(call.args[0].size.scaled(REGEX_FACTOR))
    return cost, Range(0, size.greatest)


def _parse(factor: float) -> _Estimator:
    """Reading a value from text."""

    def estimate(call: CallCost, _: str, __: Sizing) -> Estimate | None:
        return (call.args[0].size.scaled(factor), None) if call.args else None

    return estimate


def _ip(call: CallCost, overload_id: str, sizing: Sizing) -> Estimate | None:
    return (fixed(1), None) if overload_id == "cidr_ip" else _parse(STRING_FACTOR)(call, overload_id, sizing)


_ADDRESS_SIZE = Range(4, 16)


def _contains_ip(call: CallCost, overload_id: str, _: Sizing) -> Estimate | None:
    if not call.args:
        return None
    cost = _ADDRESS_SIZE.plus(_ADDRESS_SIZE).scaled(STRING_FACTOR)
    if overload_id == "cidr_contains_ip_string":
        cost = cost.plus(call.args[0].size.scaled(STRING_FACTOR))
    return cost, None


def _contains_cidr(call: CallCost, overload_id: str, _: Sizing) -> Estimate | None:
    if not call.args:
        return None
    cost = _ADDRESS_SIZE.plus(_ADDRESS_SIZE).scaled(STRING_FACTOR)
    cost = cost.plus(_ADDRESS_SIZE.scaled(STRING_FACTOR)).plus(fixed(1))
    if overload_id == "cidr_contains_cidr_string":
        cost = cost.plus(call.args[0].size.scaled(STRING_FACTOR))
    return cost, None


def _validate(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    if not call.args:
        return None
    return call.args[0].size.scaled(STRING_FACTOR).scaled(MAX_PATTERN_SIZE * REGEX_FACTOR), None


def _one(_: CallCost, __: str, ___: Sizing) -> Estimate | None:
    return fixed(1), None


def _equality(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    """Objects of the libraries compare in one step."""
    if len(call.args) != 2:
        return None
    one, other = call.args
    if one.type != other.type:
        return None
    match one.type.name:
        case "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver":
            return fixed(1), None
        case "kubernetes.NamedFormat":
            return Range(1, _MAX_FORMAT_NAME).scaled(STRING_FACTOR), None
        case "kubernetes.URL":
            size = other.known_size or fixed(1)
            return Range(1, size.greatest).scaled(STRING_FACTOR), None
        case _ if one.type.name.startswith("kubernetes.authorization."):
            return fixed(1), None
        case _:
            return None


_ONES = (
    "serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength "
    "family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign "
    "asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme "
    "getHostname getHost getPort getEscapedPath getQuery"
)

_BY_FUNCTION: dict[str, _Estimator] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _traversal),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _text_of_same_size),
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _parse(STRING_FACTOR)),
    **dict.fromkeys(_ONES.split(), _one),
    "ip.isCanonical": _parse(2 * STRING_FACTOR),
    "replace": _replace,
    "split": _split,
    "join": _join,
    "ip": _ip,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "_==_": _equality,
}


# Functions of cel-go's extensions, which state their costs by overload


def _allocating(factor: float, size: Range) -> Estimate:
    return size.scaled(factor).plus(fixed(1)).plus(_LIST_COST), size


def _slice(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    if call.target is None or len(call.args) != 2:
        return None
    start, end = call.args[0].number(0), call.args[1].number(call.target.size.greatest)
    return _allocating(1, fixed((end - start) % _WRAP))


def _range(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    return _allocating(1, fixed(call.args[0].number(UNLIMITED)))


def _reverse(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    return None if call.target is None else _allocating(1, call.target.size)


def _flatten(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    if call.target is None:
        return None
    depth = call.args[0].number(UNLIMITED) if call.args else 1
    return _allocating(float(depth), call.target.size)


def _distinct(call: CallCost, _: str, __: Sizing) -> Estimate | None:
    return None if call.target is None else _allocating(2, call.target.size.times(call.target.size))


def _sort(call: CallCost, overload_id: str, _: Sizing) -> Estimate | None:
    subject = call.args[0] if call.args else call.target
    if subject is None:
        return None
    is_text = overload_id.startswith(("list_string_", "list_bytes_"))
    return _allocating(2 + STRING_FACTOR if is_text else 2, subject.size.times(subject.size))


def _sets(factor: float) -> _Estimator:
    def estimate(call: CallCost, _: str, __: Sizing) -> Estimate | None:
        one, other = call.args
        return one.size.times(other.size).scaled(factor).plus(fixed(1)), None

    return estimate


_SORTED_KINDS = (
    "int",
    "uint",
    "double",
    "bool",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "string",
    "bytes",
)

_BY_OVERLOAD: dict[str, _Estimator] = {
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_distinct": _distinct,
    **{f"list_{kind}_sort": _sort for kind in _SORTED_KINDS},
    **{f"list_{kind}_sortByAssociatedKeys": _sort for kind in _SORTED_KINDS},
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}


# Functions of the language


def _estimate_core(call: CallCost, overload_id: str, arguments: Range) -> Estimate:
    if overload_id in {"logical_and", "logical_or"}:
        one, other = call.arg_costs
        return Range(one.least, one.plus(other).greatest), None
    if overload_id == "conditional":
        condition, if_true, if_false = call.arg_costs
        size = call.args[1].size.union(call.args[2].size)
        return condition.plus(if_true.union(if_false)), size
    cost, size_or_none = _core_cost(call, overload_id)
    return cost.plus(arguments), size_or_none


def _core_cost(call: CallCost, overload_id: str) -> Estimate:
    sizes = [each.size for each in (call.args if call.target is None else [call.target, *call.args])]
    if overload_id in _COMPARISONS:
        shorter = min(sizes[0].greatest, sizes[1].greatest)
        return Range(1 if shorter else 0, shorter).scaled(STRING_FACTOR), None
    resize = _RESIZED.get(overload_id)
    if resize is not None:
        return sizes[0].scaled(STRING_FACTOR), resize(sizes[0])
    match overload_id:
        case "string_format":
            return sizes[0].scaled(STRING_FACTOR), None
        case "starts_with_string" | "ends_with_string":
            return sizes[1].scaled(STRING_FACTOR), None
        case "in_list":
            return sizes[1], None
        case "matches" | "matches_string":
            return sizes[0].plus(fixed(1)).scaled(STRING_FACTOR).times(sizes[1].scaled(REGEX_FACTOR)), None
        case "contains_string":
            return sizes[0].scaled(STRING_FACTOR).times(sizes[1].scaled(STRING_FACTOR)), None
        case "add_list" | "add_string" | "add_bytes":
            size = sizes[0].plus(sizes[1])
            return fixed(1) if overload_id == "add_list" else size.scaled(STRING_FACTOR), size
        case _:
            return fixed(1), None


_WRAP = UNLIMITED + 1
"""Where the unsigned integers of upstream begin again."""

_RESIZED: dict[str, Callable[[Range], Range]] = {
    "string_to_bytes": lambda size: Range(size.least, size.greatest * 4 % _WRAP),
    "bytes_to_string": lambda size: Range(size.least // 4, size.greatest),
    "strings_quote": lambda size: Range(size.least + 2, (size.greatest * 2 + 2) % _WRAP),
}
"""Functions that go over a text once: the size of what they make of it."""

_COMPARISONS = frozenset(
    {"equals", "not_equals"}
    | {
        f"{verb}_{kind}"
        for verb in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    }
)

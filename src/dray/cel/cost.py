"""The worst an expression can cost, from its checked tree, as the API server estimates it at admission.

Sizes flow along: a literal knows its own, an attribute has the limit of the API, a concatenation adds up. Where nothing
is known a size is unlimited, and so becomes the cost.
"""

from __future__ import annotations

from dataclasses import dataclass

from dray.cel.callcost import CallCost, Operand, Sizing, estimate_call
from dray.cel.checker import Checked
from dray.cel.environment import DEVICE_VARIABLE
from dray.cel.macros import ACCUMULATOR
from dray.cel.sizes import EMPTY, UNKNOWN, Range, fixed
from dray.cel.syntax import (
    Call,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    MessageLiteral,
    Select,
)
from dray.cel.types import DYN, Kind, Type

__all__ = ["COST_LIMIT", "estimate_cost"]

COST_LIMIT = 1_000_000
"""The most an expression may cost, estimated at admission and counted while running."""

_IDENT_COST = fixed(1)
_LIST_COST, _MAP_COST, _MESSAGE_COST = fixed(10), fixed(30), fixed(40)
_SCALARS = frozenset({Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT})

Path = tuple[str, ...]


def estimate_cost(checked: Checked) -> int:
    """The greatest cost of one evaluation on any device the API admits."""
    return _Coster(checked).cost(checked.root).greatest


@dataclass(frozen=True, slots=True)
class _Shape:
    """Limits of a value below `device`: its own size, and what it holds."""

    size: int
    fields: dict[str, _Shape] | None = None
    key: _Shape | None = None
    value: _Shape | None = None
    is_uniform: bool = False
    """Whether every field, whatever its name, is a `value`: so it is with attributes, but not with capacities."""


_MAX_VALUE, _MAX_DOMAIN, _MAX_ID, _MAX_NAMES = 64, 63, 32, 32
_DOMAIN, _ID = _Shape(_MAX_DOMAIN), _Shape(_MAX_ID)
_ATTRIBUTES = _Shape(
    _MAX_NAMES, key=_DOMAIN, value=_Shape(_MAX_NAMES, key=_ID, value=_Shape(_MAX_VALUE), is_uniform=True)
)
_CAPACITY = _Shape(_MAX_NAMES, key=_DOMAIN, value=_Shape(_MAX_NAMES, key=_ID, value=_Shape(0)))
_DEVICE = _Shape(
    0,
    fields={
        "driver": _Shape(63),
        "attributes": _ATTRIBUTES,
        "capacity": _CAPACITY,
        "allowMultipleAllocations": _Shape(1),
    },
)


def _size_at(path: Path) -> Range | None:
    """The size of what lies at a path from the variable, if the API limits it."""
    if not path or path[0] != DEVICE_VARIABLE:
        return None
    shape: _Shape | None = _DEVICE
    for step in path[1:]:
        if shape is None:
            return None
        shape = _step(shape, step)
    return None if shape is None else Range(0, shape.size)


def _step(shape: _Shape, step: str) -> _Shape | None:
    if step in {"@items", "@values"}:
        return shape.value
    if step == "@keys":
        return shape.key
    found = (shape.fields or {}).get(step)
    if found is None and shape.is_uniform:
        return shape.value
    return found


@dataclass(frozen=True, slots=True)
class _Entries:
    """Sizes of what a list or map holds."""

    container: Kind
    key: Range
    value: Range

    def union(self, other: _Entries) -> _Entries:
        return _Entries(self.container, self.key.union(other.key), self.value.union(other.value))


@dataclass(frozen=True, slots=True)
class _Local:
    """A variable of a comprehension or binding."""

    path: Path
    size: Range | None
    entries: _Entries | None


class _Coster(Sizing):
    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Expr) -> Range:
        """The cost of evaluating a node."""
        match node:
            case Literal():
                return fixed(0)
            case Ident():
                return self._cost_ident(node)
            case Select():
                return self._cost_select(node)
            case Call():
                return self._cost_call(node)
            case ListLiteral():
                return self._cost_list(node)
            case MapLiteral():
                return self._cost_map(node)
            case MessageLiteral():
                return _MESSAGE_COST
            case Comprehension():
                is_binding = node.is_binding and node.accumulator != ACCUMULATOR
                return self._cost_binding(node) if is_binding else self._cost_comprehension(node)

    # What is known of a node

    def _type(self, node: Expr) -> Type:
        return self._checked.types.get(node.id, DYN)

    def _local(self, node: Expr) -> _Local | None:
        stack = self._locals.get(node.name) if isinstance(node, Ident) else None
        return stack[-1] if stack else None

    def _path(self, node: Expr) -> Path:
        local = self._local(node)
        return local.path if local is not None else self._paths.get(node.id, ())

    def _size(self, node: Expr) -> Range | None:
        known = self._sizes.get(node.id) or _literal_size(node)
        if known is not None:
            return known
        limited = _size_at(self._path(node))
        if limited is not None:
            self._sizes[node.id] = limited
            return limited
        if _is_scalar(self._type(node)):
            return fixed(1)
        local = self._local(node)
        return None if local is None else local.size

    def _size_or_unknown(self, node: Expr) -> Range:
        size = self._size(node)
        return UNKNOWN if size is None else size

    def _entries_of(self, node: Expr) -> _Entries | None:
        known = self._entries.get(node.id)
        if known is not None:
            return known
        local = self._local(node)
        return None if local is None else local.entries

    def _operand(self, node: Expr) -> Operand:
        path = self._path(node)
        if path[:1] == (ACCUMULATOR,):
            path = ()
        return Operand(node, self._type(node), path, self._size(node))

    def size_of_items(self, operand: Operand) -> Range:
        """The size of the elements of a list."""
        return _size_at((*operand.path, "@items")) or UNKNOWN

    # Costs

    def _cost_ident(self, node: Ident) -> Range:
        local = self._local(node)
        self._paths[node.id] = (node.name,) if local is None else local.path
        return _IDENT_COST

    def _cost_select(self, node: Select) -> Range:
        cost = self.cost(node.operand)
        if node.is_test:
            return cost
        if self._type(node.operand).kind in (Kind.MAP, Kind.OBJECT, Kind.PARAMETER):
            cost = cost.plus(_IDENT_COST)
        self._paths[node.id] = (*self._path(node.operand), node.field)
        return cost

    def _cost_call(self, node: Call) -> Range:
        if node.function == "dyn":
            (argument,) = node.args
            cost = self.cost(argument).plus(fixed(1))
            self._copy_sizes(node, argument)
            return cost
        arg_costs = [self.cost(arg) for arg in node.args]
        args = [self._operand(arg) for arg in node.args]
        overloads = self._checked.overloads.get(node.id, ())
        if not overloads:
            return fixed(0)
        cost = fixed(0)
        target: Operand | None = None
        if node.target is not None:
            cost = self.cost(node.target)
            target = self._operand(node.target)
        call = CallCost(node.function, target, args, arg_costs)
        worst = EMPTY
        size: Range | None = None
        for overload in overloads:
            own_cost, result_size = estimate_call(call, overload.id, self)
            worst = worst.union(own_cost)
            if result_size is not None:
                size = result_size if size is None else size.union(result_size)
            size = self._note_result(node, overload.id, size)
        if size is not None:
            self._sizes[node.id] = size
        return cost.plus(worst)

    def _note_result(self, node: Call, overload_id: str, size: Range | None) -> Range | None:
        """Track paths and entries through the calls that hand on a part of, or all of, their arguments."""
        args = node.args
        if overload_id in {"index_list", "index_map"} and args:
            entries = self._entries_of(args[0])
            size = None if entries is None else entries.value
            step = "@items" if overload_id == "index_list" else "@values"
            self._paths[node.id] = (*self._path(args[0]), step)
        elif overload_id in {"add_list", "add_string", "add_bytes"} or overload_id == "conditional":
            one, other = self._entries_of(args[-2]), self._entries_of(args[-1])
            if one is not None and other is not None:
                self._entries[node.id] = one.union(other)
        return self._size(node) if size is None else size

    def _copy_sizes(self, to: Expr, source: Expr) -> None:
        size, entries = self._size(source), self._entries_of(source)
        if size is not None:
            self._sizes[to.id] = size
        if entries is not None:
            self._entries[to.id] = entries

    def _cost_list(self, node: ListLiteral) -> Range:
        cost = _LIST_COST
        item = fixed(0) if not node.elements else EMPTY
        for element in node.elements:
            cost = cost.plus(self.cost(element))
            item = item.union(self._size_or_unknown(element))
        self._entries[node.id] = _Entries(Kind.LIST, fixed(1), item)
        return cost

    def _cost_map(self, node: MapLiteral) -> Range:
        cost = _MAP_COST
        key = value = fixed(0) if not node.entries else EMPTY
        for entry in node.entries:
            cost = cost.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            key = key.union(self._size_or_unknown(entry.key))
            value = value.union(self._size_or_unknown(entry.value))
        self._entries[node.id] = _Entries(Kind.MAP, key, value)
        return cost

    def _cost_binding(self, node: Comprehension) -> Range:
        cost = self.cost(node.range).plus(self.cost(node.start))
        self._push(node.accumulator, self._named(node.start))
        cost = cost.plus(self.cost(node.result))
        self._locals[node.accumulator].pop()
        self._copy_sizes(node, node.result)
        return cost

    def _cost_comprehension(self, node: Comprehension) -> Range:
        cost = self.cost(node.range).plus(self.cost(node.start))
        self._push(node.accumulator, self._named(node.start))
        variables = self._push_iteration(node)
        each = self.cost(node.condition).plus(self.cost(node.step))
        for name in variables:
            self._locals[name].pop()
        cost = cost.plus(self.cost(node.result))
        self._locals[node.accumulator].pop()
        count = self._size_or_unknown(node.range)
        self._size_gathered(node, count)
        return cost.plus(count.times(each))

    def _size_gathered(self, node: Comprehension, count: Range) -> None:
        if isinstance(node.start, Literal):
            size = self._size(node.start)
            if size is not None:
                self._sizes[node.id] = size
        elif isinstance(node.start, ListLiteral | MapLiteral):
            self._sizes[node.id] = count
            entries = self._entries_of(node.step)
            if entries is not None:
                self._entries[node.id] = entries

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _named(self, node: Expr) -> _Local:
        return _Local(self._path(node), self._size(node), self._entries_of(node))

    def _push_iteration(self, node: Comprehension) -> list[str]:
        entries = self._entries_of(node.range)
        path = self._path(node.range)
        container = self._type(node.range).kind if entries is None else entries.container
        is_list = container is Kind.LIST
        key = None if entries is None else entries.key
        value = None if entries is None else entries.value
        values = _Local((*path, "@items" if is_list else "@values"), value, None)
        if node.second_variable:
            self._push(node.variable, _Local((*path, "@indices" if is_list else "@keys"), key, None))
            self._push(node.second_variable, values)
            return [node.variable, node.second_variable]
        self._push(node.variable, values if is_list else _Local((*path, "@keys"), key, None))
        return [node.variable]


def _literal_size(node: Expr) -> Range | None:
    match node:
        case Literal(value=str() | bytes() as text):
            return fixed(len(text))
        case Literal():
            return fixed(1)
        case ListLiteral(elements=elements):
            return fixed(len(elements))
        case MapLiteral(entries=entries):
            return fixed(len(entries))
        case _:
            return None


def _is_scalar(each: Type) -> bool:
    return each.kind in _SCALARS or (each.is_optional and _is_scalar(each.parameters[0]))

"""Macros: calls that stand for a larger tree, such as `list.all(x, p)`.

Expanded bottom up on the parsed tree. A node a macro makes stands where the macro's call stands, so that a fault in it
points at something its author wrote. The library expands `optMap` and `optFlatMap` itself, the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from dray.cel.parsing import Parsed
from dray.cel.source import SourceFault
from dray.cel.syntax import (
    Call,
    Comprehension,
    Constant,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    MessageLiteral,
    Select,
)

__all__ = ["ACCUMULATOR", "MAP_INSERT", "NOT_STRICTLY_FALSE", "SORT_BY_KEYS", "expand_macros"]

ACCUMULATOR = "@result"
"""What a fold gathers into; no expression can spell it."""

MAP_INSERT = "cel.@mapInsert"
SORT_BY_KEYS = "@sortByAssociatedKeys"
NOT_STRICTLY_FALSE = "@not_strictly_false"

_OLD_ACCUMULATOR = "__result__"
_SORT_INPUT = "@__sortBy_input__"
_UNUSED = "#unused"


class _MacroFault(Exception):
    """The arguments do not fit the macro."""

    def __init__(self, node_id: int, message: str) -> None:
        super().__init__(message)
        self.node_id = node_id
        self.message = message


def expand_macros(parsed: Parsed) -> Expr | None:
    """Return the tree without macros, or None after adding to `parsed.faults`."""
    if parsed.root is None:
        return None
    expander = _Expander(parsed)
    root = expander.expand(parsed.root)
    return None if parsed.faults else root


class _Expander:
    """Makes nodes and remembers where they stand."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self._next_id = max(parsed.offsets, default=0) + 1
        self._call_id = 0

    def expand(self, node: Expr) -> Expr:
        """Expand everything below a node, then the node."""
        match node:
            case Select():
                return replace(node, operand=self.expand(node.operand))
            case ListLiteral():
                return replace(node, elements=tuple(map(self.expand, node.elements)))
            case MapLiteral() | MessageLiteral():
                entries = tuple(replace(e, key=self.expand(e.key), value=self.expand(e.value)) for e in node.entries)
                return replace(node, entries=entries)
            case Comprehension():
                return replace(
                    node, range=self.expand(node.range), start=self.expand(node.start), result=self.expand(node.result)
                )
            case Call():
                target = None if node.target is None else self.expand(node.target)
                return self._expand_call(replace(node, target=target, args=tuple(map(self.expand, node.args))))
            case _:
                return node

    def _expand_call(self, call: Call) -> Expr:
        macro = _MACROS.get((call.function, len(call.args), call.target is not None))
        if macro is None:
            return call
        self._call_id = call.id
        try:
            return macro(self, call) or call
        except _MacroFault as fault:
            place = self._parsed.source.place(self._parsed.offsets.get(fault.node_id))
            self._parsed.faults.append(SourceFault(place, fault.message))
            # Nothing takes the macro's place: one around it finds fault with that in turn.
            self._call_id = fault.node_id
            return self.literal(value=None)

    def new_id(self) -> int:
        node_id = self._next_id
        self._next_id += 1
        offset = self._parsed.offsets.get(self._call_id)
        if offset is not None:
            self._parsed.offsets[node_id] = offset
        return node_id

    def literal(self, value: Constant) -> Expr:
        return Literal(self.new_id(), value)

    def ident(self, name: str) -> Expr:
        return Ident(self.new_id(), name)

    def accumulator(self) -> Expr:
        return self.ident(ACCUMULATOR)

    def call(self, function: str, *args: Expr) -> Expr:
        return Call(self.new_id(), function, None, args)

    def append(self, element: Expr) -> Expr:
        """`@result + [element]`."""
        return self.call("_+_", self.accumulator(), ListLiteral(self.new_id(), (element,)))

    def only_if(self, condition: Expr | None, step: Expr) -> Expr:
        """`step` where the condition holds, else what was gathered so far."""
        return step if condition is None else self.call("_?_:_", condition, step, self.accumulator())

    def fold(
        self, over: Expr, variables: tuple[str, str], start: Expr, step: Expr, until: Expr | None = None
    ) -> Comprehension:
        """A comprehension whose result is what it gathered."""
        first, second = variables
        condition = self.literal(value=True) if until is None else until
        return Comprehension(
            self.new_id(), first, second, over, ACCUMULATOR, start, condition, step, self.accumulator()
        )

    def bind(self, name: str, value: Expr, body: Expr) -> Expr:
        """`body` in which `name` stands for `value`, evaluated when first needed."""
        return Comprehension(
            self.new_id(),
            _UNUSED,
            "",
            ListLiteral(self.new_id(), ()),
            name,
            value,
            self.literal(value=False),
            self.ident(name),
            body,
        )


def _has(_: _Expander, call: Call) -> Expr:
    argument = call.args[0]
    if not isinstance(argument, Select) or argument.is_test:
        raise _MacroFault(argument.id, "invalid argument to has() macro")
    return Select(call.id, argument.operand, argument.field, is_test=True)


def _simple_name(node: Expr, message: str = "argument must be a simple name") -> str:
    if not isinstance(node, Ident):
        raise _MacroFault(node.id, message)
    return node.name


def _variables(call: Call) -> tuple[str, str]:
    """The iteration variables, one or two, by the number of arguments before the body."""
    message = (
        "argument is not an identifier"
        if call.function in {"map", "filter", "sortBy"}
        else "argument must be a simple name"
    )
    names = [_simple_name(node, message) for node in call.args[: _VARIABLE_COUNT[call.function, len(call.args)]]]
    if len(names) == 2 and names[0] == names[1]:
        raise _MacroFault(call.args[1].id, f"duplicate variable name: {names[0]}")
    for node, name in zip(call.args, names, strict=False):
        if name in {ACCUMULATOR, _OLD_ACCUMULATOR}:
            raise _MacroFault(node.id, "iteration variable overwrites accumulator variable")
    return names[0], names[1] if len(names) == 2 else ""


def _range(call: Call) -> Expr:
    assert call.target is not None
    return call.target


def _all(make: _Expander, call: Call) -> Expr:
    variables = _variables(call)
    until = make.call(NOT_STRICTLY_FALSE, make.accumulator())
    step = make.call("_&&_", make.accumulator(), call.args[-1])
    return make.fold(_range(call), variables, make.literal(value=True), step, until)


def _exists(make: _Expander, call: Call) -> Expr:
    variables = _variables(call)
    until = make.call(NOT_STRICTLY_FALSE, make.call("!_", make.accumulator()))
    step = make.call("_||_", make.accumulator(), call.args[-1])
    return make.fold(_range(call), variables, make.literal(value=False), step, until)


def _exists_one(make: _Expander, call: Call) -> Expr:
    variables = _variables(call)
    step = make.only_if(call.args[-1], make.call("_+_", make.accumulator(), make.literal(1)))
    fold = make.fold(_range(call), variables, make.literal(0), step)
    fold.result = make.call("_==_", fold.result, make.literal(1))
    return fold


def _transform_list(make: _Expander, call: Call) -> Expr:
    variables = _variables(call)
    names = 2 if variables[1] else 1
    condition = call.args[names] if len(call.args) - names == 2 else None
    step = make.only_if(condition, make.append(call.args[-1]))
    return make.fold(_range(call), variables, ListLiteral(make.new_id(), ()), step)


def _filter(make: _Expander, call: Call) -> Expr:
    variables = _variables(call)
    step = make.only_if(call.args[1], make.append(call.args[0]))
    return make.fold(_range(call), variables, ListLiteral(make.new_id(), ()), step)


def _transform_map(make: _Expander, call: Call) -> Expr:
    variables = _variables(call)
    step = make.call(MAP_INSERT, make.accumulator(), make.ident(variables[0]), call.args[-1])
    condition = call.args[2] if len(call.args) == 4 else None
    return make.fold(_range(call), variables, MapLiteral(make.new_id(), ()), make.only_if(condition, step))


def _transform_map_entry(make: _Expander, call: Call) -> Expr:
    variables = _variables(call)
    step = make.call(MAP_INSERT, make.accumulator(), call.args[-1])
    condition = call.args[2] if len(call.args) == 4 else None
    return make.fold(_range(call), variables, MapLiteral(make.new_id(), ()), make.only_if(condition, step))


def _bind(make: _Expander, call: Call) -> Expr | None:
    if not isinstance(call.target, Ident) or call.target.name != "cel":
        return None
    name = _simple_name(call.args[0], "cel.bind() variable names must be simple identifiers")
    return make.bind(name, call.args[1], call.args[2])


def _sort_by(make: _Expander, call: Call) -> Expr:
    target = _range(call)
    if isinstance(target, Literal | MapLiteral | MessageLiteral):
        message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise _MacroFault(target.id, message)
    keys = _transform_list(make, replace(call, target=make.ident(_SORT_INPUT)))
    sorting = Call(make.new_id(), SORT_BY_KEYS, make.ident(_SORT_INPUT), (keys,))
    return make.bind(_SORT_INPUT, target, sorting)


_Macro: TypeAlias = Callable[[_Expander, Call], Expr | None]

_MACROS: dict[tuple[str, int, bool], _Macro] = {
    ("has", 1, False): _has,
    ("all", 2, True): _all,
    ("all", 3, True): _all,
    ("exists", 2, True): _exists,
    ("exists", 3, True): _exists,
    ("exists_one", 2, True): _exists_one,
    ("exists_one", 3, True): _exists_one,
    ("existsOne", 3, True): _exists_one,
    ("map", 2, True): _transform_list,
    ("map", 3, True): _transform_list,
    ("filter", 2, True): _filter,
    ("transformList", 3, True): _transform_list,
    ("transformList", 4, True): _transform_list,
    ("transformMap", 3, True): _transform_map,
    ("transformMap", 4, True): _transform_map,
    ("transformMapEntry", 3, True): _transform_map_entry,
    ("transformMapEntry", 4, True): _transform_map_entry,
    ("bind", 3, True): _bind,
    ("sortBy", 2, True): _sort_by,
}
"""By name, number of arguments, and whether there is a receiver."""

_TWO_VARIABLES = {"transformList", "transformMap", "transformMapEntry"}
_VARIABLE_COUNT = {
    (name, count): 2 if name in _TWO_VARIABLES or (count == 3 and name != "map") else 1 for name, count, _ in _MACROS
}

"""Type checks a tree as cel-go does, and says what it found out: types, overloads, and faults in its words.

Names are resolved on the way: a qualified type name (`google.protobuf.Duration`) becomes one identifier and a
namespaced function (`sets.contains`) loses its target, so that cost and planning see what the text means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from dray.cel.functions import Function, Overload
from dray.cel.source import Source, SourceFault
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
from dray.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    MAX_SIZE,
    NULL,
    STRING,
    UINT,
    Bindings,
    Kind,
    Type,
    TypesTooComplex,
    format_type,
    join,
    list_of,
    map_of,
    optional_of,
    type_of,
)
from dray.cel.values import Uint

__all__ = ["OPTIONAL_SELECT", "Checked", "Scope", "check"]

OPTIONAL_SELECT = "_?._"
_LOGICAL = frozenset({"_&&_", "_||_"})


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may name."""

    variables: Mapping[str, Type]
    fields: Mapping[str, Mapping[str, Type]]
    """Fields of the object types, by type name."""
    type_names: Mapping[str, Type]
    functions: Mapping[str, Function]


@dataclass(slots=True)
class Checked:
    """A tree with every node's type and, for calls, the overloads that may be meant."""

    root: Expr
    types: dict[int, Type] = field(default_factory=dict)
    overloads: dict[int, tuple[Overload, ...]] = field(default_factory=dict)
    type_idents: dict[int, Type] = field(default_factory=dict)
    """Identifiers that name a type."""
    faults: list[SourceFault] = field(default_factory=list)

    @property
    def result_type(self) -> Type:
        """The type of the whole expression."""
        return self.types[self.root.id]


def check(root: Expr, scope: Scope, source: Source, offsets: Mapping[int, int]) -> Checked:
    """Check a tree without macros. It is sound if `faults` is empty."""
    checker = _Checker(scope, source, offsets)
    try:
        checker.checked.root = checker.check(root)
        for node_id, each in checker.checked.types.items():
            checker.note(node_id, checker.bindings.resolve(each, unbound_to_dyn=True))
    except TypesTooComplex:
        checker.checked.faults.append(SourceFault(source.place(offsets.get(root.id)), "types are too complex"))
    return checker.checked


class _Checker:
    def __init__(self, scope: Scope, source: Source, offsets: Mapping[int, int]) -> None:
        self._scope = scope
        self._source = source
        self._offsets = offsets
        self._locals: dict[str, list[Type]] = {}
        self.bindings = Bindings()
        self.checked = Checked(Literal(0, None))

    def check(self, node: Expr) -> Expr:
        """Check a node and what is below; return the node with names resolved."""
        match node:
            case Literal():
                self.note(node.id, _type_of_constant(node))
                return node
            case Ident():
                return self._check_ident(node)
            case Select():
                return self._check_select(node)
            case Call():
                return self._check_call(node)
            case ListLiteral():
                return self._check_list(node)
            case MapLiteral():
                return self._check_map(node)
            case MessageLiteral():
                self._undeclared(node.id, node.name)
                return node
            case Comprehension():
                return self._check_comprehension(node)

    # What was found out

    def _fault(self, node_id: int, message: str) -> None:
        place = self._source.place(self._offsets.get(node_id))
        self.checked.faults.append(SourceFault(place, message))

    def _undeclared(self, node_id: int, name: str) -> None:
        self.note(node_id, ERROR)
        self._fault(node_id, f"undeclared reference to '{name}' (in container '')")

    def _mismatch(self, node_id: int, expected: Type, found: Type) -> None:
        self._fault(node_id, f"expected type '{format_type(expected)}' but found '{format_type(found)}'")

    def note(self, node_id: int, each: Type) -> None:
        """Note the type of a node."""
        if each.size > MAX_SIZE:
            raise TypesTooComplex
        self.checked.types[node_id] = each

    def _type(self, node: Expr) -> Type:
        return self.checked.types[node.id]

    # Names

    def _find_ident(self, name: str) -> Type | None:
        """The type of a variable or of a type's name."""
        if not name.startswith(".") and self._locals.get(name):
            return self._locals[name][-1]
        name = name.removeprefix(".")
        if name in self._scope.variables:
            return self._scope.variables[name]
        described = self._scope.type_names.get(name)
        return None if described is None else type_of(described)

    def _resolve(self, node_id: int, name: str) -> Expr | None:
        found = self._find_ident(name)
        if found is None:
            return None
        self.note(node_id, found)
        is_local = not name.startswith(".") and bool(self._locals.get(name))
        described = None if is_local else self._scope.type_names.get(name.removeprefix("."))
        if described is not None and found.kind is Kind.TYPE:
            self.checked.type_idents[node_id] = described
        is_hidden = bool(self._locals.get(name.removeprefix(".")))
        return Ident(node_id, name if is_local or is_hidden else name.removeprefix("."))

    def _check_ident(self, node: Ident) -> Expr:
        resolved = self._resolve(node.id, node.name)
        if resolved is None:
            self._undeclared(node.id, node.name)
            return node
        return resolved

    def _check_select(self, node: Select) -> Expr:
        name = _qualified_name(node)
        if name is not None and not self._locals.get(name.partition(".")[0]):
            resolved = self._resolve(node.id, name)
            if resolved is not None:
                return resolved
        operand, result = self._check_field(node.id, node.operand, node.field, is_optional=False)
        self.note(node.id, BOOL if node.is_test else self.bindings.resolve(result))
        return replace(node, operand=operand)

    def _check_field(self, node_id: int, operand: Expr, name: str, *, is_optional: bool) -> tuple[Expr, Type]:
        operand = self.check(operand)
        target = self.bindings.resolve(self._type(operand))
        is_chained = target.is_optional
        if is_chained:
            target = target.parameters[0]
        result = DYN
        if target.kind is Kind.MAP:
            result = target.parameters[1]
        elif target.kind is Kind.OBJECT:
            result = self._find_field(node_id, target, name)
        elif target.kind is Kind.PARAMETER:
            self.bindings.assign([(DYN, target)])
        elif not target.is_dyn and target.kind is not Kind.ERROR:
            self._fault(node_id, f"type '{format_type(target)}' does not support field selection")
        return operand, optional_of(result) if is_chained or is_optional else result

    def _find_field(self, node_id: int, target: Type, name: str) -> Type:
        fields = self._scope.fields.get(target.name)
        if fields is None:
            self._fault(node_id, f"unexpected failed resolution of '{target.name}'")
            return ERROR
        if name not in fields:
            self._fault(node_id, f"undefined field '{name}'")
        return fields.get(name, ERROR)

    # Calls

    def _check_call(self, node: Call) -> Expr:
        if node.function == OPTIONAL_SELECT:
            return self._check_optional_select(node)
        args = tuple(map(self.check, node.args))
        if node.target is None:
            function = self._scope.functions.get(node.function.removeprefix("."))
            if function is None:
                self._undeclared(node.id, node.function)
                return replace(node, args=args)
            self._choose(node.id, function, None, args)
            return replace(node, function=function.name, args=args)
        prefix = _qualified_name(node.target)
        if prefix is not None:
            function = self._scope.functions.get(f"{prefix}.{node.function}".removeprefix("."))
            if function is not None:
                self._choose(node.id, function, None, args)
                return Call(node.id, function.name, None, args)
        target = self.check(node.target)
        function = self._scope.functions.get(node.function)
        if function is None:
            self._undeclared(node.id, node.function)
        else:
            self._choose(node.id, function, target, args)
        return replace(node, target=target, args=args)

    def _check_optional_select(self, node: Call) -> Expr:
        operand, name = node.args
        if not isinstance(name, Literal) or not isinstance(name.value, str):
            self._fault(name.id, "unsupported optional field selection")
            self.note(node.id, ERROR)
            return node
        operand, result = self._check_field(node.id, operand, name.value, is_optional=True)
        self.note(name.id, STRING)
        self.note(node.id, self.bindings.resolve(result))
        function = self._scope.functions[OPTIONAL_SELECT]
        self.checked.overloads[node.id] = tuple(function.overloads)
        return replace(node, args=(operand, name))

    def _choose(self, node_id: int, function: Function, target: Expr | None, args: tuple[Expr, ...]) -> None:
        """Find every overload that fits; the result is `dyn` where their results differ."""
        types = [self._type(each) for each in (args if target is None else (target, *args))]
        chosen: list[Overload] = []
        result: Type | None = None
        for overload in function.overloads:
            if overload.is_method is (target is None):
                continue
            if function.name in _LOGICAL:
                self._choose_logical(node_id, overload, args, types)
                return
            parameters, overload_result = self._instantiate(overload)
            if len(parameters) != len(types) or not self.bindings.assign(zip(types, parameters, strict=True)):
                continue
            chosen.append(overload)
            found = self.bindings.resolve(overload_result)
            if result is None:
                result = found
            elif not result.is_dyn and found != result:
                result = DYN
        if result is None:
            shown = [self.bindings.resolve(each, unbound_to_dyn=True) for each in types]
            signature = _format_signature(shown, is_method=target is not None)
            self._fault(node_id, f"found no matching overload for '{function.name}' applied to '{signature}'")
            self.note(node_id, ERROR)
            return
        self.checked.overloads[node_id] = tuple(chosen)
        self.note(node_id, result)

    def _choose_logical(self, node_id: int, overload: Overload, args: tuple[Expr, ...], types: list[Type]) -> None:
        wrong = [(arg, each) for arg, each in zip(args, types, strict=True) if not self.bindings.assign([(each, BOOL)])]
        for arg, each in wrong:
            self._mismatch(arg.id, BOOL, each)
        self.note(node_id, ERROR if wrong else BOOL)
        if not wrong:
            self.checked.overloads[node_id] = (overload,)

    def _instantiate(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        if not overload.type_parameters:
            return overload.parameters, overload.result
        fresh = {name: self.bindings.fresh() for name in sorted(overload.type_parameters)}
        return tuple(_rename(each, fresh) for each in overload.parameters), _rename(overload.result, fresh)

    # Literals with parts

    def _join(self, before: Type | None, found: Type) -> Type:
        """What parts have in common so far. Mixed parts are found fault with later, if all else is well."""
        if before is None:
            return found
        return join(self.bindings, before, found) or DYN

    def _unwrap(self, node: Expr, *, is_optional: bool) -> Type:
        """The type an element contributes; one marked with `?` must be an optional."""
        found = self._type(node)
        if not is_optional:
            return found
        if found.is_optional:
            return found.parameters[0]
        if not found.is_dyn:
            self._mismatch(node.id, optional_of(found), found)
        return found

    def _check_list(self, node: ListLiteral) -> Expr:
        elements = []
        joined: Type | None = None
        for at, each in enumerate(node.elements):
            element = self.check(each)
            elements.append(element)
            joined = self._join(joined, self._unwrap(element, is_optional=at in node.optional))
        self.note(node.id, list_of(joined or self.bindings.fresh()))
        return replace(node, elements=tuple(elements))

    def _check_map(self, node: MapLiteral) -> Expr:
        entries = []
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            key = self.check(entry.key)
            keys = self._join(keys, self._type(key))
            value = self.check(entry.value)
            values = self._join(values, self._unwrap(value, is_optional=entry.is_optional))
            entries.append(replace(entry, key=key, value=value))
        self.note(node.id, map_of(keys or self.bindings.fresh(), values or self.bindings.fresh()))
        return replace(node, entries=tuple(entries))

    # Comprehensions

    @contextmanager
    def _naming(self, *named: tuple[str, Type]) -> Iterator[None]:
        for name, each in named:
            self._locals.setdefault(name, []).append(each)
        try:
            yield
        finally:
            for name, _ in named:
                self._locals[name].pop()

    def _check_comprehension(self, node: Comprehension) -> Expr:
        over = self.check(node.range)
        start = self.check(node.start)
        first, second = self._iteration_types(over)
        gathered = self._type(start)
        variables = [(node.variable, first)]
        if node.second_variable:
            variables = [(node.variable, second[0]), (node.second_variable, second[1])]
        with self._naming((node.accumulator, gathered)):
            with self._naming(*variables):
                condition = self.check(node.condition)
                self._require(condition, BOOL)
                step = self.check(node.step)
                self._require(step, gathered)
            result = self.check(node.result)
        self.note(node.id, self.bindings.resolve(self._type(result)))
        return replace(node, range=over, start=start, condition=condition, step=step, result=result)

    def _require(self, node: Expr, expected: Type) -> None:
        if not self.bindings.assign([(expected, self._type(node))]):
            self._mismatch(node.id, expected, self._type(node))

    def _iteration_types(self, over: Expr) -> tuple[Type, tuple[Type, Type]]:
        """What one variable sees, and what two see."""
        found = self.bindings.resolve(self._type(over))
        if found.kind is Kind.LIST:
            element = found.parameters[0]
            return element, (INT, element)
        if found.kind is Kind.MAP:
            key, value = found.parameters
            return key, (key, value)
        if found.kind in (Kind.DYN, Kind.ERROR, Kind.PARAMETER):
            self.bindings.assign([(DYN, found)])
            return DYN, (DYN, DYN)
        shown = format_type(found)
        rule = "cannot be range of a comprehension (must be list, map, or dynamic)"
        self._fault(over.id, f"expression of type '{shown}' {rule}")
        return ERROR, (ERROR, ERROR)


def _type_of_constant(node: Literal) -> Type:
    return _CONSTANT_TYPES[type(node.value)]


_CONSTANT_TYPES: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}


def _qualified_name(node: Expr) -> str | None:
    """`a.b.c` as one name, None if it is more than names and dots."""
    parts: list[str] = []
    while isinstance(node, Select) and not node.is_test:
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    return ".".join((node.name, *reversed(parts)))


def _format_signature(types: list[Type], *, is_method: bool) -> str:
    shown = list(map(format_type, types))
    if is_method:
        return f"{shown[0]}.({', '.join(shown[1:])})"
    return f"({', '.join(shown)})"


def _rename(each: Type, names: Mapping[str, Type]) -> Type:
    if each.kind is Kind.PARAMETER:
        return names[each.name]
    if not each.parameters:
        return each
    return Type(each.kind, each.name, tuple(_rename(inner, names) for inner in each.parameters))

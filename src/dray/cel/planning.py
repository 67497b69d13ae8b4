"""A checked tree becomes a tree of closures, each of which evaluates one node and counts what that cost.

Constants are folded, as Kubernetes folds them: a conversion of a constant that fails makes the program unusable even
where it would never run.
"""

from __future__ import annotations

from collections.abc import Mapping

from dray.cel.access import check_key, is_field_present, select_field
from dray.cel.checker import Checked
from dray.cel.errors import EvaluationError
from dray.cel.frames import Frame, Step
from dray.cel.functions import Function
from dray.cel.iterating import Fold, make_append, make_binding, make_fold
from dray.cel.library.regex import PATTERN_FUNCTIONS, BadPattern, compile_pattern
from dray.cel.library.standard import CONVERSIONS
from dray.cel.operations import (
    SPECIAL_OPERATORS,
    plan_conditional,
    plan_invocation,
    plan_pending,
    plan_variable,
    require_text,
)
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
from dray.cel.types import Kind
from dray.cel.values import MapValue, Optional, TypeValue, Value

__all__ = ["Planner", "ProgramFault"]

_LOOKUPS = frozenset({"_[_]", "_[?_]"})


class ProgramFault(Exception):
    """The program cannot be made; the message is Kubernetes'."""


class Planner:
    """Turns nodes into steps."""

    def __init__(self, checked: Checked, functions: Mapping[str, Function]) -> None:
        self._checked = checked
        self._functions = functions
        self.constants: dict[int, Value] = {}
        """Values of the nodes that are constant, by node."""
        self.slots = 0
        """Slots an evaluation needs."""
        self._locals: list[tuple[str, int, bool]] = []
        """Local variables in scope: name, slot, and whether the slot may hold something pending."""

    def plan(self, node: Expr) -> Step:
        """The step that evaluates a node."""
        match node:
            case Literal(value=value):
                return self._constant(node, value)
            case Ident():
                return self._plan_ident(node)
            case Select():
                return self._plan_select(node)
            case Call():
                return self._plan_call(node)
            case ListLiteral():
                return self._plan_list(node)
            case MapLiteral():
                return self._plan_map(node)
            case Comprehension():
                return self._plan_comprehension(node)
            case MessageLiteral():
                raise ProgramFault(f"cannot create {node.name}")

    def _constant(self, node: Expr, value: Value) -> Step:
        self.constants[node.id] = value
        return lambda _: value

    def is_constant(self, node: Expr) -> bool:
        """Whether a planned node always has the same value."""
        return node.id in self.constants

    def _plan_ident(self, node: Ident) -> Step:
        described = self._checked.type_idents.get(node.id)
        if described is not None:
            return self._constant(node, TypeValue(described.name))
        for name, slot, may_pend in reversed(self._locals):
            if name == node.name:
                if self._checked.types[node.id].kind is Kind.TYPE:
                    # Kubernetes takes whatever is of type `type` for the name of one.
                    raise ProgramFault(f"program instantiation failed: reference to undefined type: {name}")
                return plan_pending(slot) if may_pend else plan_variable(slot)

        def device(frame: Frame) -> Value:
            frame.charge(1)
            return frame.device

        return device

    def _new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def _plan_select(self, node: Select) -> Step:
        operand, name = self.plan(node.operand), node.field
        if node.is_test:
            return lambda frame: is_field_present(operand(frame), name)

        def select(frame: Frame) -> Value:
            value = operand(frame)
            frame.charge(1)
            return select_field(value, name)

        return select

    # Calls

    def _plan_call(self, node: Call) -> Step:
        operands = node.args if node.target is None else (node.target, *node.args)
        steps = tuple(map(self.plan, operands))
        special = SPECIAL_OPERATORS.get((node.function, len(steps)))
        if special is not None:
            if node.function in _LOOKUPS and self.is_constant(operands[1]):
                key = self.constants[operands[1].id]
                _fold(lambda _: check_key(key))
            return special(steps)
        if node.function in PATTERN_FUNCTIONS and self._is_constant_pattern(operands[1]):
            steps = (require_text(steps[0]), *steps[1:])
        function = self._functions[node.function]
        overloads = self._checked.overloads.get(node.id, ())
        step = plan_invocation(function, overloads, steps)
        if node.function in CONVERSIONS and len(operands) == 1 and self.is_constant(operands[0]):
            return self._constant(node, _fold(step))
        if node.function == "@in" and len(overloads) == 1 and overloads[0].id == "in_list":
            return self._plan_membership(node, operands, step)
        return step

    def _is_constant_pattern(self, node: Expr) -> bool:
        """A constant pattern is compiled now, and makes the program unusable if it is none."""
        pattern = self.constants.get(node.id)
        if not isinstance(pattern, str):
            return False
        try:
            compile_pattern(pattern)
        except BadPattern as fault:
            raise ProgramFault(f"program instantiation failed: {fault}") from None
        return True

    def _plan_membership(self, node: Call, operands: tuple[Expr, ...], step: Step) -> Step:
        if self.is_constant(operands[1]) and self.constants[operands[1].id] == ():
            return self._constant(node, value=False)
        return step

    # Comprehensions

    def _plan_comprehension(self, node: Comprehension) -> Step:
        over, start = self.plan(node.range), self._plan_start(node.start)
        gathered = self._new_slot()
        self._locals.append((node.accumulator, gathered, True))
        if node.is_binding:
            self.plan(node.step)  # for its faults: a binding never takes the step
            body = self.plan(node.result)
            self._locals.pop()
            return make_binding(start, body, gathered)
        first = self._new_slot()
        second = self._new_slot() if node.second_variable else None
        self._locals.append((node.variable, first, False))
        if second is not None:
            self._locals.append((node.second_variable, second, False))
        condition = self.plan(node.condition)
        always = self.is_constant(node.condition)
        step = self._plan_step(node.step, node, gathered)
        del self._locals[-1 if second is None else -2 :]
        result = self.plan(node.result)
        self._locals.pop()
        return make_fold(Fold(over, start, None if always else condition, step, result, gathered, first, second))

    def _plan_start(self, node: Expr) -> Step:
        """What a fold starts from: a list or map of its own, because it grows in place."""
        if isinstance(node, MapLiteral) and not node.entries:
            return lambda _: MapValue()
        return self.plan(node)

    def _plan_step(self, node: Expr, fold: Comprehension, slot: int) -> Step:
        if not isinstance(fold.start, ListLiteral) or fold.start.elements:
            return self.plan(node)
        match node:
            case Call(
                function="_+_", args=(Ident(name=accumulator), ListLiteral(elements=(element,), optional=optional))
            ) if accumulator == fold.accumulator and not optional:
                step = self.plan(element)
                return make_append(step, slot, is_constant=self.is_constant(element))
            case Call(function="_?_:_", args=(condition, chosen, other)):
                return plan_conditional(
                    (self.plan(condition), self._plan_step(chosen, fold, slot), self._plan_kept(other, slot))
                )
            case _:
                return self.plan(node)

    def _plan_kept(self, node: Expr, slot: int) -> Step:
        """`@result` as the outcome of a step: the very list that grows."""
        read = self.plan(node)

        def keep(frame: Frame) -> Value:
            gathered = frame.slots[slot]
            if isinstance(gathered, list):
                frame.charge(1)
                return gathered
            return read(frame)

        return keep

    # Literals with parts

    def _plan_list(self, node: ListLiteral) -> Step:
        steps = tuple(map(self.plan, node.elements))
        if not node.optional and all(map(self.is_constant, node.elements)):
            return self._constant(node, tuple(self.constants[each.id] for each in node.elements))
        optional = node.optional

        def make(frame: Frame) -> Value:
            made: list[Value] = []
            for at, step in enumerate(steps):
                value = step(frame)
                if at in optional:
                    if not isinstance(value, Optional):
                        raise EvaluationError(
                            f"cannot initialize optional list element from non-optional value {value}"
                        )
                    if not value.is_present:
                        continue
                    value = value.value
                made.append(value)
            frame.charge(10)
            return tuple(made)

        return make

    def _plan_map(self, node: MapLiteral) -> Step:
        steps = [(self.plan(each.key), self.plan(each.value), each.is_optional) for each in node.entries]

        def make(frame: Frame) -> Value:
            made = MapValue()
            for key_step, value_step, is_optional in steps:
                key, value = key_step(frame), value_step(frame)
                if is_optional:
                    if not isinstance(value, Optional):
                        raise EvaluationError(
                            f"cannot initialize optional entry '{key}' from non-optional value {value}"
                        )
                    if not value.is_present:
                        made.drop(key)
                        continue
                    value = value.value
                made.put(key, value)
            frame.charge(30)
            return made

        is_constant = all(
            self.is_constant(e.key) and self.is_constant(e.value) and not e.is_optional for e in node.entries
        )
        return self._constant(node, _fold(make)) if is_constant else make


def _fold(step: Step) -> Value:
    try:
        return step(Frame(None, 0, limit=1 << 62))
    except EvaluationError as fault:
        raise ProgramFault(f"program instantiation failed: {fault.message}") from None

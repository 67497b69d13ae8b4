"""Which facts of a device an expression reads, found in its checked tree.

An expression that names attributes by constants reads just those. One that computes a key, counts or walks a map may
depend on anything in it, and then reads everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from dray.cel.checker import OPTIONAL_SELECT
from dray.cel.environment import DEVICE_VARIABLE
from dray.cel.facts import ALLOW_MULTIPLE_ALLOCATIONS, ATTRIBUTES, CAPACITY, DRIVER, token_name
from dray.cel.syntax import Call, Comprehension, Expr, Ident, Literal, Select, children

__all__ = ["Reads", "find_reads"]

Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Reads:
    """What decides the verdict of an expression. With `everything` the rest says nothing."""

    attributes: frozenset[Name] = frozenset()
    """Domain and id of each attribute read."""
    capacities: frozenset[Name] = frozenset()
    driver: bool = False
    allow_multiple_allocations: bool = False
    everything: bool = False

    def token_names(self) -> tuple[str, ...]:
        """The tokens of a device that decide, in a fixed order."""
        names = [token_name(ATTRIBUTES, *each) for each in sorted(self.attributes)]
        names += [token_name(CAPACITY, *each) for each in sorted(self.capacities)]
        if self.driver:
            names.append(DRIVER)
        if self.allow_multiple_allocations:
            names.append(ALLOW_MULTIPLE_ALLOCATIONS)
        return tuple(names)


EVERYTHING = Reads(everything=True)

_Path = tuple[str, ...]


def find_reads(root: Expr) -> Reads:
    """What an expression reads, at most."""
    finder = _Finder()
    finder.visit(root)
    if finder.reads_everything:
        return EVERYTHING
    return Reads(
        frozenset(finder.names[ATTRIBUTES]),
        frozenset(finder.names[CAPACITY]),
        finder.reads_driver,
        finder.reads_allow_multiple,
    )


class _Finder:
    def __init__(self) -> None:
        self.names: dict[str, set[Name]] = {ATTRIBUTES: set(), CAPACITY: set()}
        self.reads_driver = False
        self.reads_allow_multiple = False
        self.reads_everything = False
        self._bound: dict[str, list[_Path | None]] = {}

    def visit(self, node: Expr) -> None:
        """Note what a node reads, and what is below it."""
        path = self._path(node)
        if path is not None:
            self._note(path)
            return
        if isinstance(node, Comprehension):
            self._visit_comprehension(node)
            return
        if isinstance(node, Select) and node.is_test:
            self._visit_test(node)
            return
        if self._visit_membership(node):
            return
        for child in children(node):
            self.visit(child)

    def _path(self, node: Expr) -> _Path | None:
        """The steps from `device` by constant names, None if it is anything else."""
        match node:
            case Ident(name=name):
                stack = self._bound.get(name)
                if stack:
                    return stack[-1]
                return () if name.removeprefix(".") == DEVICE_VARIABLE else None
            case Select(operand=operand, field=field, is_test=False):
                return _extend(self._path(operand), field)
            case Call(function="_[_]" | "_[?_]", args=(operand, Literal(value=str() as key))):
                return _extend(self._path(operand), key)
            case Call(function=function, args=(operand, Literal(value=str() as key))) if function == OPTIONAL_SELECT:
                return _extend(self._path(operand), key)
            case _:
                return None

    def _note(self, path: _Path) -> None:
        match path:
            case ("driver",):
                self.reads_driver = True
            case ("allowMultipleAllocations",):
                self.reads_allow_multiple = True
            case (("attributes" | "capacity") as kind, domain, name, *_):
                self.names[kind].add((domain, name))
            case _:
                self.reads_everything = True

    def _visit_test(self, node: Select) -> None:
        path = _extend(self._path(node.operand), node.field)
        if path is None:
            self.visit(node.operand)
        elif len(path) > 1:
            if len(path) == 2:
                self.reads_everything = True
            else:
                self._note(path)

    def _visit_membership(self, node: Expr) -> bool:
        """`"id" in device.attributes["domain"]` reads that one attribute."""
        if not isinstance(node, Call) or node.function != "@in":
            return False
        key, container = node.args
        path = self._path(container)
        if path is None or len(path) != 2 or not isinstance(key, Literal) or not isinstance(key.value, str):
            return False
        self._note((*path, key.value))
        return True

    def _visit_comprehension(self, node: Comprehension) -> None:
        if not node.is_binding:
            self.visit(node.range)
        path = self._path(node.start)
        if path is None or not node.is_binding:
            self.visit(node.start)
            path = None
        self._bind(node.accumulator, path)
        if not node.is_binding:
            self._bind(node.variable, None)
            self._bind(node.second_variable, None)
            self.visit(node.condition)
            self.visit(node.step)
            self._bound[node.variable].pop()
            self._bound[node.second_variable].pop()
        self.visit(node.result)
        self._bound[node.accumulator].pop()

    def _bind(self, name: str, path: _Path | None) -> None:
        self._bound.setdefault(name, []).append(path)


def _extend(path: _Path | None, step: str) -> _Path | None:
    return None if path is None else (*path, step)

"""Label selectors: `app=web,tier in (a,b),!legacy,cores>8` as text, and the requirements objects spell out.

Both forms are the same value, a tuple of requirements that must all hold. Text is refused in the words of the API
server. The canonical form is sorted by key, values sorted and unique, so that printing and parsing undo each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from dray.values.names import label_key_faults, label_value_faults
from dray.values.quoting import quote

__all__ = [
    "EVERYTHING",
    "LabelSelector",
    "Operator",
    "Requirement",
    "SelectorError",
    "format_label_selector",
    "parse_label_selector",
    "requirement_of",
    "selector_of",
]


class SelectorError(ValueError):
    """A selector cannot be understood; the message is the API server's."""


class Operator(Enum):
    """What a requirement asks of a label; the value is the name in messages."""

    IN = "in"
    NOT_IN = "notin"
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    GREATER_THAN = "gt"
    LESS_THAN = "lt"
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"


class Requirement(NamedTuple):
    """A condition on one label. `NOT_IN` and `NOT_EQUALS` also hold where the label is absent."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels meet it. Numbers are compared as integers of 64 bits; other text is no match."""
        value = labels.get(self.key)
        match self.operator:
            case Operator.EQUALS | Operator.DOUBLE_EQUALS | Operator.IN:
                return value in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
            case Operator.NOT_IN | Operator.NOT_EQUALS:
                return value not in self.values
            case Operator.GREATER_THAN | Operator.LESS_THAN:
                return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        number = _parse_int64(value)
        bound = _parse_int64(self.values[0]) if len(self.values) == 1 else None
        if number is None or bound is None:
            return False
        return number > bound if self.operator is Operator.GREATER_THAN else number < bound

    def __str__(self) -> str:
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.DOES_NOT_EXIST:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{self.key} {self.operator.value} ({','.join(sorted(self.values))})"
            case _:
                return f"{self.key}{_SYMBOLS.get(self.operator, self.operator.value)}{','.join(self.values)}"


class LabelSelector(NamedTuple):
    """Requirements that must all hold; none at all matches everything."""

    requirements: tuple[Requirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it matches everything because it asks nothing."""
        return not self.requirements

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels meet every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


EVERYTHING: Final = LabelSelector()
"""Asks nothing."""

_SYMBOLS: Final = {Operator.GREATER_THAN: ">", Operator.LESS_THAN: "<"}
_OBJECT_OPERATORS: Final = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
    "Gt": Operator.GREATER_THAN,
    "Lt": Operator.LESS_THAN,
}


def requirement_of(key: str, operator: str, values: Iterable[str] = ()) -> Requirement:
    """A requirement as objects write it: `In`, `NotIn`, `Exists`, `DoesNotExist`, and in node selectors `Gt`, `Lt`.

    Refuses with `SelectorError` what the API server would, so checked objects never raise.
    """
    known = _OBJECT_OPERATORS.get(operator)
    if known is None:
        raise SelectorError(f"{quote(operator)} is not a valid label selector operator")
    return _checked(key, known, tuple(values))


def selector_of(labels: Mapping[str, str], requirements: Iterable[Requirement] = ()) -> LabelSelector:
    """The selector of an object: labels that must be equal, as in `matchLabels`, and further requirements."""
    equalities = (Requirement(key, Operator.EQUALS, (value,)) for key, value in labels.items())
    return _sorted_selector([*equalities, *requirements])


def _sorted_selector(requirements: list[Requirement]) -> LabelSelector:
    return LabelSelector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


@lru_cache(maxsize=1024)
def parse_label_selector(text: str) -> LabelSelector:
    """Read a selector; empty text matches everything. Refuses with `SelectorError`."""
    return _sorted_selector(_Parser(text).parse())


def format_label_selector(selector: LabelSelector) -> str:
    """Print a selector; the inverse of `parse_label_selector`."""
    return str(selector)


_INT64: Final = re.compile("[+-]?[0-9]+")


def _parse_int64(text: str) -> int | None:
    if len(text) > 64 or not _INT64.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _checked(key: str, operator: Operator, values: tuple[str, ...]) -> Requirement:
    """Refuse a requirement whose key, number of values or values are wrong, naming all faults at once."""
    key_faults = label_key_faults(key)
    faults = [f"key: Invalid value: {quote(key)}: {'; '.join(key_faults)}"] if key_faults else []
    faults += _count_faults(operator, values)
    if operator in _SYMBOLS:
        faults += [
            f"values[{index}]: Invalid value: {quote(value)}: for 'Gt', 'Lt' operators, the value must be an integer"
            for index, value in enumerate(values)
            if _parse_int64(value) is None
        ]
    for index, value in enumerate(values):
        if value_faults := label_value_faults(value):
            faults.append(f"values[{index}][{key}]: Invalid value: {quote(value)}: {'; '.join(value_faults)}")
    if faults:
        raise SelectorError(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return Requirement(key, operator, values)


def _count_faults(operator: Operator, values: tuple[str, ...]) -> list[str]:
    match operator:
        case Operator.IN | Operator.NOT_IN:
            is_wrong, rule = not values, "for 'in', 'notin' operators, values set can't be empty"
        case Operator.EXISTS | Operator.DOES_NOT_EXIST:
            is_wrong, rule = bool(values), "values set must be empty for exists and does not exist"
        case Operator.GREATER_THAN | Operator.LESS_THAN:
            is_wrong, rule = len(values) != 1, "for 'Gt', 'Lt' operators, exactly one value is required"
        case _:
            is_wrong, rule = len(values) != 1, "exact-match compatibility requires one single value"
    return [f"values: Invalid value: {json.dumps(values, separators=(',', ':'))}: {rule}"] if is_wrong else []


_TOKEN: Final = re.compile(r"[ \t\r\n]*(==|!=|[=!<>(),]|[^ \t\r\n=!<>(),]+|$)")
_PUNCTUATION: Final = frozenset(["==", "!=", "=", "!", "<", ">", "(", ")", ","])
_TEXT_OPERATORS: Final = {
    "in": Operator.IN,
    "notin": Operator.NOT_IN,
    "=": Operator.EQUALS,
    "==": Operator.DOUBLE_EQUALS,
    "!=": Operator.NOT_EQUALS,
    ">": Operator.GREATER_THAN,
    "<": Operator.LESS_THAN,
}
_BINARY_OPERATORS: Final = "in, notin, =, ==, !=, gt, lt"


class _Parser:
    """Recursive descent over the tokens; the empty token is the end of the text."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [*filter(None, _TOKEN.findall(text)), ""]
        self._position = 0

    def parse(self) -> list[Requirement]:
        requirements: list[Requirement] = []
        while self._next():
            if not (self._at_identifier() or self._next() == "!"):
                raise SelectorError(f"found '{self._next()}', expected: !, identifier, or 'end of string'")
            try:
                requirements.append(self._requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            separator = self._take()
            if not separator:
                break
            if separator != ",":
                raise SelectorError(f"found '{separator}', expected: ',' or 'end of string'")
            if not (self._at_identifier() or self._next() == "!"):
                raise SelectorError(f"found '{self._next()}', expected: identifier after ','")
        return requirements

    def _requirement(self) -> Requirement:
        is_absence = self._next() == "!"
        if is_absence:
            self._take()
        if not self._at_identifier():
            raise SelectorError(f"found '{self._next()}', expected: identifier")
        key = self._take()
        if faults := label_key_faults(key):
            # The API server has no field to name here, and says so.
            raise SelectorError(f"<nil>: Invalid value: {quote(key)}: {'; '.join(faults)}")
        if is_absence:
            return Requirement(key, Operator.DOES_NOT_EXIST)
        if self._next() in {"", ","}:
            return Requirement(key, Operator.EXISTS)
        symbol = self._take()
        operator = _TEXT_OPERATORS.get(symbol)
        if operator is None:
            raise SelectorError(f"found '{symbol}', expected: {_BINARY_OPERATORS}")
        values = self._set() if operator in {Operator.IN, Operator.NOT_IN} else self._exact_value()
        return _checked(key, operator, tuple(sorted(values)))

    def _exact_value(self) -> set[str]:
        if self._next() in {"", ","}:
            return {""}
        if not self._at_identifier():
            raise SelectorError(f"found '{self._next()}', expected: identifier")
        return {self._take()}

    def _set(self) -> set[str]:
        opening = self._take()
        if opening != "(":
            raise SelectorError(f"found '{opening}' expected: '('")
        if not (self._at_identifier() or self._next() in {",", ")"}):
            raise SelectorError(f"found '{self._next()}', expected: ',', ')' or identifier")
        values: set[str] = set()
        while True:
            # A value may be missing before, between and after commas; it is then the empty value.
            if self._at_identifier():
                values.add(self._take())
                if self._next() not in {",", ")"}:
                    raise SelectorError(f"found '{self._next()}', expected: ',' or ')'")
            elif self._next() in {",", ")"}:
                values.add("")
            else:
                raise SelectorError(f"found '{self._next()}', expected: ',', or identifier")
            if self._take() == ")":
                return values

    def _next(self) -> str:
        return self._tokens[self._position]

    def _take(self) -> str:
        token = self._tokens[self._position]
        self._position = min(self._position + 1, len(self._tokens) - 1)
        return token

    def _at_identifier(self) -> bool:
        return bool(self._next()) and self._next() not in _PUNCTUATION

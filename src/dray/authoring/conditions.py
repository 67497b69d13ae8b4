"""What selectors demand taken together: whether any device can meet it, and whether any known one does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from dray.authoring.expressions import Comparison, Place, Token, find_comparison, find_places, tokenize
from dray.values.quantity import QuantityError, parse_quantity

__all__ = ["Condition", "find_contradiction", "list_conditions"]

_OPEN: Final = "([{"
_CLOSE: Final = ")]}"
_LOWER: Final = (">", ">=")
_UPPER: Final = ("<", "<=")


@dataclass(frozen=True, slots=True)
class Condition:
    """One value of a device compared with a constant."""

    names: tuple[str, ...]
    operator: str
    value: str | int | bool
    text: str

    @property
    def number(self) -> int | None:
        """The constant as a number, if it is one."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None


def list_conditions(expression: str) -> Iterator[Condition]:
    """The conditions that an expression demands one and all; what it demands otherwise is left out."""
    tokens = tokenize(expression)
    for part in _split(tokens):
        condition = _read(part, expression)
        if condition is not None:
            yield condition


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    """The operands of `&&`. None if there is a choice among them."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in _OPEN) - (token.text in _CLOSE) if token.kind == "sign" else 0
        if depth == 0 and token.text in ("||", "?") and not _is_optional(parts[-1]):
            return []
        if depth == 0 and token.text == "&&":
            parts.append([])
        else:
            parts[-1].append(token)
    return [inner for part in parts for inner in _unwrap(part)]


def _is_optional(before: Sequence[Token]) -> bool:
    return bool(before) and before[-1].text in (".", "[")


def _unwrap(part: list[Token]) -> list[list[Token]]:
    """The operands within brackets that enclose a whole operand."""
    if len(part) < 2 or part[0].text != "(" or part[-1].text != ")":
        return [part]
    depth = 0
    for index, token in enumerate(part):
        depth += (token.text == "(") - (token.text == ")") if token.kind == "sign" else 0
        if depth == 0 and index < len(part) - 1:
            return [part]
    return _split(part[1:-1])


def _read(part: Sequence[Token], expression: str) -> Condition | None:
    places = list(find_places(part))
    if len(places) != 1 or not part:
        return None
    (place,) = places
    text = expression[part[0].start : part[-1].end]
    comparison = find_comparison(part, place)
    if comparison is not None and comparison.is_flipped and comparison.start == part[0].start:
        return _as_condition(comparison, place, text) if place.end == part[-1].end else None
    if place.start == part[0].start:
        return _compare(part, place, comparison, text)
    if len(part) > 1 and part[0].text == "!" and place.start == part[1].start and place.end == part[-1].end:
        return Condition(place.names, "==", False, text)
    return None


def _compare(part: Sequence[Token], place: Place, comparison: Comparison | None, text: str) -> Condition | None:
    if place.end == part[-1].end and not place.is_call:
        return Condition(place.names, "==", True, text)
    if comparison is None or comparison.end != part[-1].end:
        return None
    return _as_condition(comparison, place, text)


def _as_condition(comparison: Comparison, place: Place, text: str) -> Condition | None:
    value = _value(comparison)
    return None if value is None else Condition(place.names, comparison.operator, value, text)


def _value(comparison: Comparison) -> str | int | bool | None:
    match comparison.kind:
        case "string":
            return comparison.constant
        case "bool":
            return comparison.constant == "true"
        case "number":
            return int(comparison.constant) if comparison.constant.isdecimal() else None
        case "quantity":
            try:
                return parse_quantity(comparison.constant).nanos
            except QuantityError:
                return None
        case _:
            return None


def find_contradiction(conditions: Iterable[Condition]) -> tuple[Condition, Condition] | None:
    """Two conditions that nothing meets together, if that can be told."""
    for one, other in combinations(conditions, 2):
        if one.names == other.names and (_excludes(one, other) or _excludes(other, one)):
            return one, other
    return None


def _excludes(one: Condition, other: Condition) -> bool:
    if one.operator == "==":
        if type(one.value) is not type(other.value):
            return other.operator == "=="
        return not _holds(one.value, other)
    if one.operator in _LOWER and other.operator in _UPPER:
        low, high = one.number, other.number
        if low is None or high is None:
            return False
        return low > high or (low == high and (one.operator, other.operator) != (">=", "<="))
    return False


def _holds(value: str | int | bool, condition: Condition) -> bool:
    """Whether a value meets a condition on values of its type."""
    wanted = condition.value
    match condition.operator:
        case "==":
            return value == wanted
        case "!=":
            return value != wanted
    if isinstance(value, str) or isinstance(wanted, str):
        return True  # an order of texts, about which nothing is claimed
    order = {"<": value < wanted, "<=": value <= wanted, ">": value > wanted, ">=": value >= wanted}
    return order[condition.operator]

"""What can go wrong with an expression: before it runs, while it runs, and what a person may do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from dray.errors import DrayError

__all__ = [
    "COST_LIMIT_EXCEEDED",
    "OPTIONAL_CHAINING_HINT",
    "CompileFault",
    "CostLimitExceeded",
    "EvaluationError",
    "RuntimeFault",
    "no_such_overload",
    "suggest",
    "with_chaining_hint",
]

OPTIONAL_CHAINING_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) "
    "or guarding the check with has() for optional fields"
)
"""What Kubernetes appends to a missing key when a selector fails during allocation."""

COST_LIMIT_EXCEEDED = "operation cancelled: actual cost limit exceeded"


@dataclass(frozen=True, slots=True)
class CompileFault:
    """Why an expression cannot be used; `detail` is the API server's text, `hint` ours.

    An internal fault passed the type checker and failed when its constants were computed.
    """

    detail: str
    hint: str | None = None
    is_internal: bool = False


@dataclass(frozen=True, slots=True)
class RuntimeFault:
    """Why an evaluation gave no value."""

    message: str


class EvaluationError(DrayError):
    """An error value of the language: `&&`, `||`, `all` and `exists` may absorb it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class CostLimitExceeded(DrayError):
    """The evaluation ran too long; nothing absorbs this."""

    def __init__(self) -> None:
        super().__init__(COST_LIMIT_EXCEEDED)


def no_such_overload(function: str = "", *types: str) -> EvaluationError:
    """The operands have no meaning for this function, which is named where Kubernetes names it."""
    if not function:
        return EvaluationError("no such overload")
    return EvaluationError(f"no such overload: {function}({', '.join(types)})")


def with_chaining_hint(message: str) -> str:
    """A runtime message as the allocator reports it: once, a missing key is followed by advice."""
    if "no such key:" in message and OPTIONAL_CHAINING_HINT not in message:
        return message + OPTIONAL_CHAINING_HINT
    return message


_DEVICE_FIELDS = ("driver", "attributes", "capacity", "allowMultipleAllocations")
_UNDEFINED_FIELD = re.compile(r"undefined field '([^']*)'")
_UNDECLARED = re.compile(r"undeclared reference to '([^']*)'")
_ORDERED_OBJECTS = re.compile(r"'_([<>]=?)_' applied to '\([^']*kubernetes\.(Quantity|Semver)[^']*\)'")


def suggest(detail: str, functions: tuple[str, ...] = ()) -> str | None:
    """Advice for a compile fault, or None when there is nothing better to say than the fault itself."""
    if match := _UNDEFINED_FIELD.search(detail):
        near = _closest(match[1], _DEVICE_FIELDS)
        return f"did you mean device.{near}?" if near else f"device has the fields {', '.join(_DEVICE_FIELDS)}"
    if match := _UNDECLARED.search(detail):
        return _suggest_name(match[1], functions)
    if match := _ORDERED_OBJECTS.search(detail):
        return _suggest_comparison(match[1], match[2])
    return next((advice for sign, advice in _ADVICE.items() if sign in detail), None)


def _suggest_name(name: str, functions: tuple[str, ...]) -> str:
    if near := _closest(name, _DEVICE_FIELDS):
        return f"did you mean device.{near}?"
    near = _closest(name, ("device", *functions))
    return f"did you mean {near}?" if near else "the only variable here is device"


def _suggest_comparison(operator: str, kind: str) -> str:
    """Quantities and versions have methods where numbers have operators."""
    literal = kind.lower()
    match operator:
        case "<":
            return f'use .isLessThan({literal}("..."))'
        case ">":
            return f'use .isGreaterThan({literal}("..."))'
        case _:
            return f'use .compareTo({literal}("...")) {operator} 0'


_ADVICE = {
    "'sign' applied to 'kubernetes.Quantity.()'": "sign is a function: sign(quantity)",
    "invalid argument to has() macro": 'has() takes a field, as in has(device.attributes["domain"].name)',
    "expression recursion limit exceeded": (
        "dray's parser goes 32 levels deep, Kubernetes' 250: name parts with cel.bind, or use fewer brackets"
    ),
}


def _closest(name: str, known: tuple[str, ...]) -> str | None:
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return close[0] if close else None

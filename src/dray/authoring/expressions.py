"""Expressions about devices as text: where they read a device, and what those places mean.

No parser: a manifest may hold what does not compile, and that is just what has to be understood. Words, strings and
signs are told apart, and `device.` with the names behind it is a place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = [
    "Comparison",
    "Place",
    "Step",
    "Token",
    "find_comparison",
    "find_places",
    "quote",
    "read_names",
    "tokenize",
]

_COMPARISONS: Final = ("<=", ">=", "==", "!=", "<", ">")
_FLIPPED: Final = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
_METHODS: Final = {"compareTo": "", "isGreaterThan": ">", "isLessThan": "<"}
_CONSTRUCTORS: Final = ("quantity", "semver")

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<string>[rRbB]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<number>\d[\w.]*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<sign>&&|\|\||==|!=|<=|>=|.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word, string, number or sign, and where it is."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the next thing begins."""
        return self.start + len(self.text)

    @property
    def content(self) -> str:
        """What a string says."""
        quote = self.text.lstrip("rRbB")
        return quote[3:-3] if quote.startswith(('"""', "'''")) else quote[1:-1]


@dataclass(frozen=True, slots=True)
class Step:
    """One name behind `device`: `.name`, or `["name"]`."""

    name: str
    start: int
    end: int
    is_index: bool


@dataclass(frozen=True, slots=True)
class Place:
    """What is read of a device: `device.attributes["domain"].name`."""

    start: int
    steps: tuple[Step, ...]
    next: int
    """The token behind it."""
    is_call: bool
    """Whether a method is called on it."""

    @property
    def end(self) -> int:
        """Where the text goes on."""
        return self.steps[-1].end if self.steps else self.start

    @property
    def names(self) -> tuple[str, ...]:
        """The names in order."""
        return tuple(step.name for step in self.steps)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A place compared with a constant, read as if the constant stood behind it."""

    operator: str
    kind: str
    """What it is compared with: string, number, bool, quantity or semver."""
    constant: str
    """The constant: what the string says, or the text of anything else."""
    start: int
    end: int
    """What there is besides the place."""
    is_method: bool = False
    """Whether it is `.compareTo(quantity("...")) >= 0` already, or like it."""
    is_flipped: bool = False
    """Whether the constant stands before the place."""


def tokenize(text: str) -> list[Token]:
    """Everything but space."""
    return [
        Token(str(match.lastgroup), match[0], match.start())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "space"
    ]


def find_places(tokens: Sequence[Token]) -> Iterator[Place]:
    """Every place where a device is read, in order."""
    for index, token in enumerate(tokens):
        if token.text == "device" and (index == 0 or tokens[index - 1].text != "."):
            yield _read_place(tokens, index)


def read_names(text: str) -> Iterator[str]:
    """The attributes and capacities that an expression reads by domain and name: `gpu.example.com/model`."""
    for place in find_places(tokenize(text)):
        if len(place.names) == 3 and place.names[0] in ("attributes", "capacity"):
            yield f"{place.names[1]}/{place.names[2]}"


def _read_place(tokens: Sequence[Token], index: int) -> Place:
    steps: list[Step] = []
    at = index + 1
    is_call = False
    while at + 1 < len(tokens):
        sign, name = tokens[at], tokens[at + 1]
        skipped = 0
        if name.text == "?" and at + 2 < len(tokens):
            name, skipped = tokens[at + 2], 1
        behind = tokens[at + 2 + skipped] if at + 2 + skipped < len(tokens) else None
        if sign.text == "." and name.kind == "word":
            if behind is not None and behind.text == "(":
                is_call = True
                break
            steps.append(Step(name.text, sign.start, name.end, is_index=False))
            at += 2 + skipped
        elif sign.text == "[" and name.kind == "string" and behind is not None and behind.text == "]":
            steps.append(Step(name.content, sign.start, behind.end, is_index=True))
            at += 3 + skipped
        else:
            break
    return Place(tokens[index].start, tuple(steps), at, is_call)


def find_comparison(tokens: Sequence[Token], place: Place) -> Comparison | None:
    """What a place is compared with, None if it is not, or not with a constant."""
    texts = [token.text for token in tokens[place.next : place.next + 3]]
    if texts[:1] == ["."] and texts[2:] == ["("] and texts[1] in _METHODS:
        return _read_method(tokens, place.next)
    if texts and texts[0] in _COMPARISONS:
        operator = tokens[place.next]
        constant = _read_constant(tokens, place.next + 1)
        if constant is None:
            return None
        return Comparison(operator.text, constant.kind, constant.text, operator.start, constant.end)
    return None if place.is_call else _read_flipped(tokens, place)


@dataclass(frozen=True, slots=True)
class _Constant:
    """A constant, as in Comparison, and the tokens that it takes."""

    kind: str
    text: str
    end: int
    tokens: int


def _read_method(tokens: Sequence[Token], at: int) -> Comparison | None:
    """`.compareTo(quantity("80Gi")) >= 0`, or without `quantity`, or `.isGreaterThan(quantity("80Gi"))`."""
    name = tokens[at + 1].text
    constant = _read_constant(tokens, at + 3)
    close = at + 3 + constant.tokens if constant is not None else len(tokens)
    if constant is None or close >= len(tokens) or tokens[close].text != ")":
        return None
    operator, end = _METHODS[name], tokens[close].end
    if not operator:
        behind = tokens[close + 1 : close + 3]
        if len(behind) < 2 or behind[0].text not in _COMPARISONS or behind[1].text != "0":
            return None
        operator, end = behind[0].text, behind[1].end
    return Comparison(
        operator, constant.kind, constant.text, tokens[at].start, end, is_method=constant.kind in _CONSTRUCTORS
    )


def _read_flipped(tokens: Sequence[Token], place: Place) -> Comparison | None:
    """`"16Gi" <= device...`."""
    at = next(index for index, token in enumerate(tokens) if token.start == place.start) - 1
    if at < 1 or tokens[at].text not in _COMPARISONS:
        return None
    for first in (at - 1, at - 4):
        constant = _read_constant(tokens, first) if first >= 0 else None
        if constant is not None and first + constant.tokens == at:
            operator = _FLIPPED.get(tokens[at].text, tokens[at].text)
            start = tokens[first].start
            return Comparison(operator, constant.kind, constant.text, start, place.start, is_flipped=True)
    return None


def _read_constant(tokens: Sequence[Token], at: int) -> _Constant | None:
    if at >= len(tokens):
        return None
    token = tokens[at]
    if token.kind in ("string", "number"):
        return _Constant(token.kind, token.content if token.kind == "string" else token.text, token.end, 1)
    if token.text in ("true", "false"):
        return _Constant("bool", token.text, token.end, 1)
    called = [each.text for each in tokens[at : at + 4]]
    if len(called) == 4 and called[0] in _CONSTRUCTORS and called[1::2] == ["(", ")"]:
        constant = tokens[at + 2]
        if constant.kind == "string":
            return _Constant(called[0], constant.content, tokens[at + 3].end, 4)
    return None


def quote(text: str, like: str) -> str:
    """A string literal with the quotes that another text uses."""
    return f"'{text}'" if "'" in like and '"' not in like and "'" not in text else json.dumps(text)

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

__all__ = ["COMPARISONS", "Comparison", "Place", "Step", "Token", "find_comparison", "find_places", "quote", "tokenize"]

COMPARISONS: Final = ("<=", ">=", "==", "!=", "<", ">")

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
    """A place compared with a constant behind it."""

    operator: str
    kind: str
    """What it is compared with: string, number, bool, quantity or semver."""
    constant: str
    """The constant: what the string says, or the text of anything else."""
    start: int
    end: int
    is_method: bool = False
    """Whether it is `.compareTo(quantity("...")) >= 0` already."""


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
    texts = [token.text for token in tokens[place.next : place.next + 9]]
    if texts[:3] == [".", "compareTo", "("] and len(texts) == 9 and texts[4] == "(" and texts[6:8] == [")", ")"]:
        return _read_method(tokens, place.next)
    if not texts or texts[0] not in COMPARISONS:
        return None
    operator = tokens[place.next]
    return _read_constant(tokens, place.next + 1, operator)


def _read_method(tokens: Sequence[Token], at: int) -> Comparison | None:
    """`.compareTo(quantity("80Gi")) >= 0`."""
    kind, constant, operator = tokens[at + 3], tokens[at + 5], tokens[at + 8]
    zero = tokens[at + 9] if at + 9 < len(tokens) else None
    if operator.text not in COMPARISONS or zero is None or zero.text != "0" or constant.kind != "string":
        return None
    return Comparison(operator.text, kind.text, constant.content, tokens[at].start, zero.end, is_method=True)


def _read_constant(tokens: Sequence[Token], at: int, operator: Token) -> Comparison | None:
    if at >= len(tokens):
        return None
    token = tokens[at]
    if token.kind == "string":
        return Comparison(operator.text, "string", token.content, operator.start, token.end)
    if token.kind == "number":
        return Comparison(operator.text, "number", token.text, operator.start, token.end)
    if token.text in ("true", "false"):
        return Comparison(operator.text, "bool", token.text, operator.start, token.end)
    called = [each.text for each in tokens[at : at + 4]]
    if len(called) == 4 and called[0] in ("quantity", "semver") and called[1::2] == ["(", ")"]:
        constant = tokens[at + 2]
        if constant.kind == "string":
            return Comparison(operator.text, called[0], constant.content, operator.start, tokens[at + 3].end)
    return None


def quote(text: str, like: str) -> str:
    """A string literal with the quotes that another text uses."""
    return f"'{text}'" if "'" in like and '"' not in like and "'" not in text else json.dumps(text)

"""Field selectors: `spec.nodeName=node-1,status.phase!=Running`.

A comma is "and"; a backslash escapes a comma, an equals sign or itself in a value. Which fields a kind offers is its
own affair; an absent field has the empty value. The canonical form is sorted, so that printing and parsing undo each
other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from dray.values.selectors import SelectorError

__all__ = [
    "EVERY_FIELD",
    "FieldRequirement",
    "FieldSelector",
    "format_field_selector",
    "parse_field_selector",
]


class FieldRequirement(NamedTuple):
    """One field that must have a value, or must not."""

    field: str
    value: str
    is_negated: bool = False

    def __str__(self) -> str:
        escaped = _TO_ESCAPE.sub(r"\\\g<0>", self.value)
        return f"{self.field}{'!=' if self.is_negated else '='}{escaped}"


class FieldSelector(NamedTuple):
    """Requirements that must all hold; none at all matches everything."""

    requirements: tuple[FieldRequirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it matches everything because it asks nothing."""
        return not self.requirements

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether these values meet every requirement."""
        return self.matches_by(lambda field: fields.get(field, ""))

    def matches_by(self, value_of: Callable[[str], str]) -> bool:
        """Whether the values a function finds meet every requirement; it is asked only for the fields named."""
        return all((value_of(field) == value) is not is_negated for field, value, is_negated in self.requirements)

    def find_exact_value(self, field: str) -> str | None:
        """The one value the field must have, if the selector says so."""
        for requirement in self.requirements:
            if requirement.field == field and not requirement.is_negated:
                return requirement.value
        return None

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


EVERY_FIELD: Final = FieldSelector()
"""Asks nothing."""

_TO_ESCAPE: Final = re.compile(r"[\\,=]")
_TERM: Final = re.compile(r"(?:[^\\,]|\\.|\\$)+", re.DOTALL)
_OPERATOR: Final = re.compile("!=|==|=")


def parse_field_selector(text: str) -> FieldSelector:
    """Read a selector; empty text and empty terms ask nothing. Refuses with `SelectorError`."""
    requirements = [_parse_term(term, text) for term in sorted(_TERM.findall(text))]
    return FieldSelector(tuple(sorted(requirements, key=str)))


def format_field_selector(selector: FieldSelector) -> str:
    """Print a selector; the inverse of `parse_field_selector`."""
    return str(selector)


def _parse_term(term: str, text: str) -> FieldRequirement:
    operator = _OPERATOR.search(term)
    if operator is None:
        raise SelectorError(f"invalid selector: '{text}'; can't understand '{term}'")
    value = _unescape(term[operator.end() :])
    return FieldRequirement(term[: operator.start()], value, is_negated=operator[0] == "!=")


def _unescape(text: str) -> str:
    value = ""
    characters = iter(text)
    for character in characters:
        if character in ",=":
            # The API server prints the number of the character.
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(character)}")
        if character != "\\":
            value += character
            continue
        escaped = next(characters, "")
        if escaped not in {"\\", ",", "="}:
            raise SelectorError(f"invalid field selector: invalid escape sequence: \\{escaped}")
        value += escaped
    return value

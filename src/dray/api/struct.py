"""The base of every API type.

A Struct is frozen, its fields are keyword-only and camelCased on the wire, and a field at its default is not written. The
default always means *absent*: what the API server fills in is declared apart and made explicit at admission, so a
value that a user wrote is never dropped because it happens to equal a default.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

__all__ = ["ApiStruct", "always", "always_null"]

T = TypeVar("T")


class ApiStruct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Base of all API types: frozen, keyword-only, camelCase, absent means omitted."""


def always(zero: Callable[[], T], *, name: str | None = None) -> Any:
    """Declare a field that is written even when it holds its zero value, such as `generation: 0`.

    Msgspec leaves out a field that *is* its default, but cannot know what a factory would return.
    """
    return msgspec.field(default_factory=zero, name=name)


def _nothing() -> None:
    return None


def always_null(*, name: str | None = None) -> Any:
    """Declare an optional field that is written as null when absent, such as `requests` of an empty claim."""
    return msgspec.field(default_factory=_nothing, name=name)

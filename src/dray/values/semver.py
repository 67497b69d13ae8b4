"""Semantic versions, as device attributes and CEL have them.

Order and equality are those of semver.org 2.0.0, so that build metadata does not count: `1.0.0+a` equals `1.0.0+b`. The
attribute rule is a regular expression of its own and lets numbers of any size through, where parsing stops at 64 bits.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from dray.values.quoting import quote

__all__ = ["Semver", "SemverError", "attribute_version_faults", "format_semver", "parse_semver"]

_MAX_NUMBER: Final = 2**64 - 1


class SemverError(ValueError):
    """Text is not a version; the message is that of Kubernetes' parser."""


class Semver:
    """An immutable version; ordered and hashed by precedence, printed as written."""

    __slots__ = ("_precedence", "_text", "build", "major", "minor", "patch", "prerelease")

    def __init__(
        self,
        numbers: tuple[int, int, int],
        prerelease: tuple[int | str, ...] = (),
        build: tuple[str, ...] = (),
    ) -> None:
        self.major, self.minor, self.patch = numbers
        self.prerelease = prerelease
        self.build = build
        identifiers = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in prerelease)
        # A release comes after all its pre-releases; numbers come before words, and fewer identifiers before more.
        self._precedence = (*numbers, not prerelease, identifiers)
        text = f"{self.major}.{self.minor}.{self.patch}"
        if prerelease:
            text += f"-{'.'.join(map(str, prerelease))}"
        self._text = f"{text}+{'.'.join(build)}" if build else text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self._precedence == other._precedence

    def __lt__(self, other: Semver) -> bool:
        return self._precedence < other._precedence if other.__class__ is Semver else NotImplemented

    def __le__(self, other: Semver) -> bool:
        return self._precedence <= other._precedence if other.__class__ is Semver else NotImplemented

    def __gt__(self, other: Semver) -> bool:
        return self._precedence > other._precedence if other.__class__ is Semver else NotImplemented

    def __ge__(self, other: Semver) -> bool:
        return self._precedence >= other._precedence if other.__class__ is Semver else NotImplemented

    def __hash__(self) -> int:
        return hash(self._precedence)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Semver({self._text!r})"


@lru_cache(maxsize=4096)
def parse_semver(text: str, *, normalise: bool = False) -> Semver:
    """Read a version; refuses with `SemverError`.

    Strictly by default. With `normalise` a leading `v`, leading zeros and missing minor and patch numbers are forgiven.
    """
    if normalise:
        text = _normalise(text)
    if not text:
        raise SemverError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise SemverError("No Major.Minor.Patch elements found")
    major = _parse_number(parts[0], "Major")
    minor = _parse_number(parts[1], "Minor")
    rest, plus, build_text = parts[2].partition("+")
    patch_text, dash, prerelease_text = rest.partition("-")
    patch = _parse_number(patch_text, "Patch")
    prerelease = tuple(map(_parse_prerelease, prerelease_text.split("."))) if dash else ()
    build = tuple(map(_check_build, build_text.split("."))) if plus else ()
    return Semver((major, minor, patch), prerelease, build)


def format_semver(version: Semver) -> str:
    """Print a version, build metadata included; the inverse of strict parsing."""
    return str(version)


def _normalise(text: str) -> str:
    parts = [_strip_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3 and re.search("[+-]", parts[-1]):
        raise SemverError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][: max(len(parts), 3)])


def _strip_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1] in _DIGITS else f"0{stripped}"


_DIGITS: Final = frozenset("0123456789")
_NUMBER: Final = re.compile("[0-9]*")
_WORD: Final = re.compile("[0-9A-Za-z-]*")


def _parse_number(text: str, name: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise SemverError(f"Invalid character(s) found in {name.lower()} number {quote(text)}")
    if _has_leading_zero(text):
        raise SemverError(f"{name} number must not contain leading zeroes {quote(text)}")
    return _to_uint64(text)


def _parse_prerelease(text: str) -> int | str:
    if not text:
        raise SemverError("Prerelease is empty")
    if _NUMBER.fullmatch(text):
        if _has_leading_zero(text):
            raise SemverError(f"Numeric PreRelease version must not contain leading zeroes {quote(text)}")
        return _to_uint64(text)
    if not _WORD.fullmatch(text):
        raise SemverError(f"Invalid character(s) found in prerelease {quote(text)}")
    return text


def _check_build(text: str) -> str:
    if not text:
        raise SemverError("Build meta data is empty")
    if not _WORD.fullmatch(text):
        raise SemverError(f"Invalid character(s) found in build meta data {quote(text)}")
    return text


def _has_leading_zero(text: str) -> bool:
    return len(text) > 1 and text[0] == "0"


def _to_uint64(text: str) -> int:
    if not text:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _MAX_NUMBER:
        raise SemverError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)


_ATTRIBUTE: Final = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)


def attribute_version_faults(text: str) -> tuple[str, ...]:
    """What is wrong with the version of a device attribute, length apart."""
    return () if _ATTRIBUTE.fullmatch(text) else ("must be a string compatible with semver.org spec 2.0.0",)

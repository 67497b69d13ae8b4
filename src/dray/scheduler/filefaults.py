"""Faults that reading a part of a configuration file finds, with their paths in the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from dray.api.strict import StrictProblem, StrictReader
from dray.api.struct import ApiStruct
from dray.errors import FieldError, FieldReason
from dray.values.fieldpath import ROOT, FieldPath

__all__ = ["explain", "strict_faults"]

_PLACE = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)


def explain(error: msgspec.DecodeError, at: FieldPath) -> FieldError:
    """Why text cannot be read as what it should be, which stands at a path of the file."""
    match = _PLACE.fullmatch(str(error))
    detail, place = (match[1], match[2]) if match else (str(error), "")
    return FieldError(FieldReason.TYPE_INVALID, _below(at, place), detail)


def strict_faults(struct: type[ApiStruct], text: bytes, at: FieldPath) -> Iterator[FieldError]:
    """Fields that are unknown, or given twice."""
    for fault in StrictReader(struct).find_faults(text):
        reason = FieldReason.NOT_SUPPORTED if fault.problem is StrictProblem.UNKNOWN else FieldReason.DUPLICATE
        yield FieldError(reason, _below(at, fault.path), fault.problem.value, hint=fault.hint)


def _below(at: FieldPath, place: str) -> FieldPath:
    """`place` is printed already; a path of its own would print the same."""
    return at / place if place else at if at != ROOT else ROOT / "(file)"

"""The whole error tree, and the tables of Kubernetes' reasons and codes.

Faults of input are values (`FieldError`): checks collect them all, and an edge renders them once. What a request can
fail with is an `ApiError`, which carries Kubernetes' reason and HTTP code. Everything dray raises on purpose is a
`DrayError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from dray.values.fieldpath import FieldPath
from dray.values.quoting import quote

__all__ = [
    "AlreadyExists",
    "ApiError",
    "BadRequest",
    "Conflict",
    "DrayError",
    "FieldError",
    "FieldReason",
    "Forbidden",
    "Gone",
    "InternalError",
    "Invalid",
    "MethodNotAllowed",
    "NotFound",
    "ObjectRef",
    "Unauthorized",
    "duplicate",
    "forbidden",
    "internal",
    "invalid",
    "not_found",
    "not_supported",
    "render_value",
    "required",
    "too_long",
    "too_many",
]


class FieldReason(StrEnum):
    """Why a field was refused, in the words of a Status cause."""

    REQUIRED = "FieldValueRequired"
    INVALID = "FieldValueInvalid"
    FORBIDDEN = "FieldValueForbidden"
    NOT_SUPPORTED = "FieldValueNotSupported"
    DUPLICATE = "FieldValueDuplicate"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    TYPE_INVALID = "FieldValueTypeInvalid"
    NOT_FOUND = "FieldValueNotFound"
    INTERNAL = "InternalError"


_PREFIXES = {
    FieldReason.REQUIRED: "Required value",
    FieldReason.INVALID: "Invalid value",
    FieldReason.FORBIDDEN: "Forbidden",
    FieldReason.NOT_SUPPORTED: "Unsupported value",
    FieldReason.DUPLICATE: "Duplicate value",
    FieldReason.TOO_LONG: "Too long",
    FieldReason.TOO_MANY: "Too many",
    FieldReason.TYPE_INVALID: "Invalid value",
    FieldReason.NOT_FOUND: "Not found",
    FieldReason.INTERNAL: "Internal error",
}


_GO_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
"""What Go's JSON encoder escapes for the sake of browsers."""


def render_value(value: object) -> str:
    """Print a refused value as Kubernetes does: strings quoted, numbers and booleans plain, the rest as JSON."""
    if isinstance(value, str):
        return quote(value)
    text = msgspec.json.encode(value, enc_hook=str)
    return msgspec.json.format(text, indent=-1).decode().translate(_GO_ESCAPES)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One fault of one field. `value` is already rendered; None means the reason shows no value."""

    reason: FieldReason
    path: FieldPath
    detail: str = ""
    value: str | None = None
    hint: str | None = None

    @property
    def body(self) -> str:
        """The text of a Status cause: prefix, refused value, detail."""
        text = _PREFIXES[self.reason]
        if self.value is not None:
            text += f": {self.value}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.path}: {self.body}"


def required(path: FieldPath, detail: str = "", *, hint: str | None = None) -> FieldError:
    """A value must be given."""
    return FieldError(FieldReason.REQUIRED, path, detail, None, hint)


def invalid(path: FieldPath, value: object, detail: str, *, hint: str | None = None) -> FieldError:
    """The value breaks a rule, which `detail` states."""
    return FieldError(FieldReason.INVALID, path, detail, render_value(value), hint)


def forbidden(path: FieldPath, detail: str, *, hint: str | None = None) -> FieldError:
    """The field may not be used here."""
    return FieldError(FieldReason.FORBIDDEN, path, detail, None, hint)


def not_supported(path: FieldPath, value: object, supported: Iterable[str], *, hint: str | None = None) -> FieldError:
    """The value is not one of a closed set, which is listed in the order given."""
    listed = ", ".join(quote(each) for each in supported)
    shown = render_value(value).translate(_GO_ESCAPES)  # as a value of an enumeration prints, which is no mere string
    return FieldError(FieldReason.NOT_SUPPORTED, path, f"supported values: {listed}", shown, hint)


def duplicate(path: FieldPath, value: object, *, hint: str | None = None) -> FieldError:
    """The value stands in the list already."""
    return FieldError(FieldReason.DUPLICATE, path, "", render_value(value), hint)


def too_long(path: FieldPath, limit: int, *, unit: str = "bytes", hint: str | None = None) -> FieldError:
    """The text is longer than `limit`."""
    return FieldError(FieldReason.TOO_LONG, path, f"may not be more than {limit} {unit}", None, hint)


def too_many(path: FieldPath, count: int, limit: int, *, hint: str | None = None) -> FieldError:
    """The list or map has more entries than allowed."""
    noun = "item" if limit == 1 else "items"
    return FieldError(FieldReason.TOO_MANY, path, f"must have at most {limit} {noun}", str(count), hint)


def not_found(path: FieldPath, value: object, detail: str = "", *, hint: str | None = None) -> FieldError:
    """The value names something that is not there."""
    return FieldError(FieldReason.NOT_FOUND, path, detail, render_value(value), hint)


def internal(path: FieldPath, detail: str) -> FieldError:
    """The check itself could not be done."""
    return FieldError(FieldReason.INTERNAL, path, detail)


class DrayError(Exception):
    """Root of everything dray raises on purpose."""


class InternalError(DrayError):
    """An invariant is broken: a bug of dray, not of its user."""


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """Which object an error is about, as far as it is known."""

    group: str = ""
    kind: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def qualified_kind(self) -> str:
        """`ResourceClaim.resource.k8s.io`, or the bare kind in the core group."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def qualified_resource(self) -> str:
        """`resourceclaims.resource.k8s.io`, or the bare resource in the core group."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


@dataclass(eq=False)
class ApiError(DrayError):
    """A refused or failed request. Subclasses fix `code` and `reason`; this one is a failure of no known sort."""

    message: str
    about: ObjectRef = field(default_factory=ObjectRef)

    code = 500
    reason = ""

    def __str__(self) -> str:
        return self.message


class BadRequest(ApiError):
    """The request cannot be read. Where fields of an object are to blame, `faults` has all of them in plain words."""

    code = 400
    reason = "BadRequest"

    def __init__(self, message: str, about: ObjectRef | None = None, faults: Sequence[FieldError] = ()) -> None:
        super().__init__(message, about if about is not None else ObjectRef())
        self.faults = tuple(faults)


class Unauthorized(ApiError):
    """Nobody is known by these credentials."""

    code = 401
    reason = "Unauthorized"


class Forbidden(ApiError):
    """The caller may not do this."""

    code = 403
    reason = "Forbidden"


class NotFound(ApiError):
    """No such object or path."""

    code = 404
    reason = "NotFound"


class MethodNotAllowed(ApiError):
    """The path exists, the method does not."""

    code = 405
    reason = "MethodNotAllowed"


class AlreadyExists(ApiError):
    """An object of that name is there."""

    code = 409
    reason = "AlreadyExists"


class Conflict(ApiError):
    """The object was changed by someone else since it was read."""

    code = 409
    reason = "Conflict"


class Gone(ApiError):
    """The version asked for is no longer kept: list again."""

    code = 410
    reason = "Expired"


class Invalid(ApiError):
    """The object was read but breaks rules; `faults` has every one of them, in order."""

    code = 422
    reason = "Invalid"

    def __init__(self, about: ObjectRef, faults: Sequence[FieldError]) -> None:
        self.faults = tuple(faults)
        texts = list(dict.fromkeys(str(fault) for fault in self.faults))
        joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        super().__init__(f"{about.qualified_kind} {quote(about.name)} is invalid: {joined}", about)

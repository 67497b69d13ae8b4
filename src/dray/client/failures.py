"""What an API server, or something in front of it, says when it refuses, turned into our errors.

A Status body keeps its message to the letter, and its causes become `FieldError`s where they name fields. Pages of
proxies and load balancers become errors that show the first line of what they say.
"""

import json
import re
from http import HTTPStatus
from typing import Final

import msgspec

from dray.api.meta import Status, StatusCause
from dray.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    FieldError,
    FieldReason,
    Forbidden,
    Gone,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ObjectRef,
    Unauthorized,
)
from dray.values.fieldpath import ROOT, FieldPath, key

__all__ = ["decode_failure", "describe_status", "parse_cause", "refuse_answer"]

_CLASSES: Final[dict[str, type[ApiError]]] = {
    "BadRequest": BadRequest,
    "Unauthorized": Unauthorized,
    "Forbidden": Forbidden,
    "NotFound": NotFound,
    "MethodNotAllowed": MethodNotAllowed,
    "AlreadyExists": AlreadyExists,
    "Conflict": Conflict,
    "Expired": Gone,
    "Gone": Gone,
}
_REASONS: Final = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""What a code means where no reason is given."""
_KIND_REASONS: Final = frozenset({"Invalid"})
"""Reasons whose details name the Kind; all others name the resource."""
_EXCERPT_CHARACTERS: Final = 200
_STATUS: Final = msgspec.json.Decoder(Status)
_TAG: Final = re.compile(r"<(style|script|title)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_JSON: Final = json.JSONDecoder()
_SEGMENT: Final = re.compile(r"\[(\d+)\]|\[([^\]]*)\]|\.?([^.\[]+)")


def decode_failure(code: int, body: bytes, *, retry_after_seconds: int = 0) -> ApiError:
    """The error behind an answer of 400 or more; `retry_after_seconds` is what its headers ask for."""
    try:
        status = _STATUS.decode(body)
    except msgspec.DecodeError:
        return refuse_answer(code, body, retry_after_seconds)
    if status.kind != "Status" or not (status.message or status.reason):
        return refuse_answer(code, body, retry_after_seconds)
    return describe_status(status, code=code, retry_after_seconds=retry_after_seconds)


def describe_status(status: Status, *, code: int = 0, retry_after_seconds: int = 0) -> ApiError:
    """The error that a Status tells; `code` is that of the answer, in case the Status has none."""
    code = status.code or code or 500
    reason = status.reason or _REASONS.get(code, "")
    details = status.details
    causes = details.causes if details else ()
    about = ObjectRef()
    if details:
        names_kind = reason in _KIND_REASONS
        about = ObjectRef(
            group=details.group,
            kind=details.kind if names_kind else "",
            resource="" if names_kind else details.kind,
            name=details.name,
        )
        retry_after_seconds = max(retry_after_seconds, details.retry_after_seconds)
    return _make_error(status.message or reason, about, (code, reason), causes, retry_after_seconds)


def refuse_answer(code: int, body: bytes, retry_after_seconds: int = 0) -> ApiError:
    """The error behind an answer that is no Status: a page of a proxy, or nothing at all."""
    text = " ".join(_TAG.sub(" ", body[:8192].decode(errors="replace")).split())
    if len(text) > _EXCERPT_CHARACTERS:
        text = f"{text[:_EXCERPT_CHARACTERS]} ..."
    phrase = HTTPStatus(code).phrase if code in HTTPStatus._value2member_map_ else ""
    message = f"the server answered {code} {phrase}".rstrip()
    message = f"{message}: {text}" if text else message
    return _make_error(message, ObjectRef(), (code, _REASONS.get(code, "")), (), retry_after_seconds)


def _make_error(
    message: str, about: ObjectRef, sort: tuple[int, str], causes: tuple[StatusCause, ...], retry_after_seconds: int
) -> ApiError:
    code, reason = sort
    error: ApiError
    if reason == "Invalid":
        error = Invalid(about, [parse_cause(cause) for cause in causes])
        error.message = message
    else:
        error = _CLASSES.get(reason, ApiError)(message, about)
    error.code, error.reason = code, reason
    # Read by `get_retry_after_seconds`, and by servers that hand an error on.
    error.__dict__.update(causes=causes, retry_after_seconds=retry_after_seconds)
    return error


def parse_cause(cause: StatusCause) -> FieldError:
    """The fault that a cause tells. Its `body` is the cause's message wherever the reason is one of Kubernetes'."""
    path = _parse_path(cause.field)
    try:
        reason = FieldReason(cause.reason)
    except ValueError:
        return FieldError(FieldReason.INVALID, path, cause.message)
    prefix = FieldError(reason, path).body
    if cause.message == prefix:
        return FieldError(reason, path)
    rest = cause.message.removeprefix(f"{prefix}: ")
    value, detail = _split_value(rest)
    return FieldError(reason, path, detail, value)


def _split_value(text: str) -> tuple[str | None, str]:
    """The refused value as it is printed, and the detail after it."""
    try:
        _, end = _JSON.raw_decode(text)
    except ValueError:
        return None, text
    if end == len(text):
        return text, ""
    return (text[:end], text[end + 2 :]) if text.startswith(": ", end) else (None, text)


def _parse_path(text: str) -> FieldPath:
    """The path that prints so."""
    path = ROOT
    for index, map_key, name in _SEGMENT.findall(text):
        path = path / (int(index) if index else name or key(map_key))
    return path

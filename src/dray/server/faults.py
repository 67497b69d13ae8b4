"""Failures that only a server can have, and what it says of all others."""

from typing import Final

from msgspec.structs import replace

from dray.api.meta import ListMeta, Status, StatusCause, StatusDetails
from dray.errors import ApiError, Gone, Invalid, MethodNotAllowed, NotFound, ObjectRef
from dray.merge.faults import ApplyConflict, PatchRefused
from dray.server.admission.refusals import TooManyRequests
from dray.store.port import StoreBusy

__all__ = [
    "MAX_BODY_BYTES",
    "BodyTooLarge",
    "ExpiredPage",
    "NotAcceptable",
    "UnknownResource",
    "UnsupportedMediaType",
    "VersionTooLarge",
    "describe_failure",
    "describe_store_busy",
    "method_not_allowed",
]

MAX_BODY_BYTES: Final = 3 * 1024 * 1024
"""What a request may carry: the API server's limit."""


class UnknownResource(NotFound):
    """A group version has no such resource."""

    def __init__(self) -> None:
        super().__init__("the server could not find the requested resource")


class UnsupportedMediaType(ApiError):
    """The body is in no form that is understood."""

    code = 415
    reason = "UnsupportedMediaType"

    def __init__(self, message: str, *, has_details: bool = False) -> None:
        super().__init__(message)
        self.has_details = has_details


class NotAcceptable(ApiError):
    """The client takes no form that the answer has."""

    code = 406
    reason = "NotAcceptable"

    def __init__(self, message: str, *, has_details: bool = False) -> None:
        super().__init__(message)
        self.has_details = has_details


class BodyTooLarge(ApiError):
    """The body is longer than requests may be."""

    code = 413
    reason = "RequestEntityTooLarge"

    def __init__(self) -> None:
        super().__init__(f"Request entity too large: limit is {MAX_BODY_BYTES}")


class VersionTooLarge(ApiError):
    """A version that this server has not reached."""

    code = 504
    reason = "Timeout"

    def __init__(self, asked: int, current: int) -> None:
        super().__init__(f"Timeout: Too large resource version: {asked}, current: {current}")
        self.causes = (StatusCause(reason="ResourceVersionTooLarge", message="Too large resource version"),)
        self.retry_after_seconds = 1


class ExpiredPage(Gone):
    """The state that a list began with is forgotten; `token` continues with the present one."""

    def __init__(self, message: str, token: str) -> None:
        super().__init__(message)
        self.token = token


def method_not_allowed() -> MethodNotAllowed:
    """The path is there, the method is not."""
    return MethodNotAllowed("the server does not allow this method on the requested resource")


def describe_store_busy(fault: StoreBusy) -> TooManyRequests:
    """What a client is told when too many writes wait."""
    return TooManyRequests("Too many requests, please try again later.", retry_after_seconds=1)


def describe_failure(error: ApiError) -> Status:
    """The Status for a failure, in Kubernetes' shape."""
    status = Status(
        status="Failure",
        message=error.message,
        reason=error.reason,
        details=_details(error),
        code=error.code,
    )
    if isinstance(error, ExpiredPage):
        status = replace(status, metadata=ListMeta(continue_=error.token))
    return status


def _details(error: ApiError) -> StatusDetails | None:
    about = error.about
    if isinstance(error, Invalid):
        causes = tuple(
            StatusCause(reason=fault.reason, message=fault.body, field=str(fault.path)) for fault in error.faults
        )
        return StatusDetails(name=about.name, group=about.group, kind=about.kind, causes=causes)
    if isinstance(error, ApplyConflict):
        conflicts = tuple(
            StatusCause(reason=each.reason, message=each.message, field=each.field) for each in error.causes
        )
        return StatusDetails(causes=conflicts)
    causes = getattr(error, "causes", ())
    retry_after: int = getattr(error, "retry_after_seconds", 0)
    if error.code in (403, 404, 409) and about.resource:
        return StatusDetails(name=about.name, group=about.group, kind=about.resource, causes=causes)
    if causes or retry_after:
        return StatusDetails(causes=causes, retry_after_seconds=retry_after)
    return StatusDetails() if _has_empty_details(error) else None


def _has_empty_details(error: ApiError) -> bool:
    if isinstance(error, UnsupportedMediaType | NotAcceptable):
        return error.has_details
    known = isinstance(error, UnknownResource | MethodNotAllowed | PatchRefused)
    return known or (error.code == 403 and error.about == ObjectRef())

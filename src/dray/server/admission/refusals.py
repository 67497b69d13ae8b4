"""Refusals that tell clients their causes. `causes` go into the details of the Status as they are."""

from dray.api.meta import StatusCause
from dray.errors import ApiError, Forbidden, ObjectRef

__all__ = ["AccountPending", "NamespaceTerminating", "TooManyRequests"]


class NamespaceTerminating(Forbidden):
    """Nothing new is made in a namespace that is going. Clients test for the cause."""

    def __init__(self, message: str, about: ObjectRef) -> None:
        super().__init__(message, about)
        text = f"namespace {about.namespace} is being terminated"
        self.causes = (StatusCause(reason="NamespaceTerminating", message=text, field="metadata.namespace"),)


class AccountPending(Forbidden):
    """The namespace has no `default` service account yet. It soon has: worth a second look before refusing."""


class TooManyRequests(ApiError):
    """Not now. `retry_after_seconds` is 0 where nobody knows when."""

    code = 429
    reason = "TooManyRequests"

    def __init__(self, message: str, causes: tuple[StatusCause, ...] = (), *, retry_after_seconds: int = 0) -> None:
        super().__init__(message)
        self.causes = causes
        self.retry_after_seconds = retry_after_seconds

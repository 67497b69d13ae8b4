"""What patches and applied configurations fail with, beyond the errors every request knows.

The API server answers a patch that does not fit with 500 and no reason in several places where 4xx would be right;
clients see these codes, so they are kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

from dray.api.jsonsyntax import TOO_DEEP
from dray.errors import ApiError, BadRequest, Conflict

P = ParamSpec("P")
T = TypeVar("T")

__all__ = ["ApplyConflict", "FieldConflict", "PatchFailed", "PatchRefused", "TooManyOperations", "refusing_depth"]


def refusing_depth(work: Callable[P, T]) -> Callable[P, T]:
    """Have a function answer with BadRequest where values are nested more deeply than we can follow."""

    @wraps(work)
    def guarded(*args: P.args, **options: P.kwargs) -> T:
        try:
            return work(*args, **options)
        except RecursionError as fault:
            raise BadRequest(TOO_DEEP) from fault

    return guarded


class PatchFailed(ApiError):
    """The patch cannot be applied to this type. Sent without a reason."""

    code = 500
    reason = ""


class PatchRefused(ApiError):
    """The patch does not apply to this object. The API server does not say why, with empty details."""

    code = 422
    reason = "Invalid"

    def __init__(self, detail: str = "") -> None:
        super().__init__("the server rejected our request due to an error in our request")
        self.detail = detail
        """What was wrong, for a hint: no part of the message."""


class TooManyOperations(ApiError):
    """A JSON patch has more operations than allowed."""

    code = 413
    reason = "RequestEntityTooLarge"

    def __init__(self, count: int, limit: int) -> None:
        detail = f"The allowed maximum operations in a JSON patch is {limit}, got {count}"
        super().__init__(f"Request entity too large: {detail}")


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """One field that another manager owns with another value: a cause of the Status."""

    manager: str
    """The other manager, as the message shows it: `"kubectl" using v1`."""
    field: str

    reason = "FieldManagerConflict"

    @property
    def message(self) -> str:
        """The text of the cause."""
        return f"conflict with {self.manager}"


class ApplyConflict(Conflict):
    """An applied configuration would change fields of other managers."""

    def __init__(self, causes: Sequence[FieldConflict]) -> None:
        self.causes = tuple(causes)
        super().__init__(f"Apply failed with {_list_conflicts(self.causes)}")


def _list_conflicts(causes: Sequence[FieldConflict]) -> str:
    if len(causes) == 1:
        return f"1 conflict: {causes[0].message}: {causes[0].field}"
    fields_by_manager: dict[str, list[str]] = {}
    for each in causes:
        fields_by_manager.setdefault(each.manager, []).append(each.field)
    lines = [
        f"conflicts with {manager}:" + "".join(f"\n- {field}" for field in fields)
        for manager, fields in fields_by_manager.items()
    ]
    return f"{len(causes)} conflicts: " + "\n".join(lines)

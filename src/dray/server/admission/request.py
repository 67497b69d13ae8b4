"""What admission is asked, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from dray.api.core.resourcequota import ResourceQuota
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.errors import Forbidden, ObjectRef
from dray.server.ports import Authorizer, User, View
from dray.values.times import Time

__all__ = ["Act", "AdmissionRequest", "Admitted", "AnyRequest", "Approved", "Checker", "Filler", "get_target", "refuse"]

K = TypeVar("K", bound=ApiObject)


class Act(StrEnum):
    """What is done to an object. Patches are updates, or creations where applying creates."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class AdmissionRequest(Struct, Generic[K], frozen=True, kw_only=True):
    """One write. `kind` is that of the path: for `pods/eviction` it is Pod, and `new` an Eviction."""

    act: Act
    kind: Kind[Any]
    user: User
    now: Time
    namespace: str = ""
    name: str = ""
    """The name in the path; empty for a creation that has none there."""
    subresource: str = ""
    is_dry_run: bool = False
    new: K | None = None
    """What is to be stored: defaulted, in its namespace, with its uid. None for a deletion."""
    old: K | None = None
    """What is stored. None for a creation."""

    authorizer: Authorizer | None = None
    """Whom to ask whether a driver may write slices of other nodes; without one, every driver may."""

    def with_new(self, new: K) -> "AdmissionRequest[K]":
        """The same request for a changed object."""
        return replace(self, new=new)


AnyRequest = AdmissionRequest[Any]

Filler = Callable[[AnyRequest, View], AnyRequest]
"""Completes a write and gives the request back, or raises ApiError."""
Checker = Callable[[AnyRequest, View], None]
"""Raises ApiError for a write that may not be."""


@dataclass(frozen=True, slots=True)
class Admitted(Generic[K]):
    """The object to check next, complete, and what the client should be told. None for a deletion."""

    thing: K | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Approved:
    """What must be written together with the object, or not at all.

    Each quota carries the resourceVersion it was read at and its new status; whoever commits expects that version, and
    asks again if it is no longer the stored one. Empty for a dry run.
    """

    quota_charges: tuple[ResourceQuota, ...] = ()
    warnings: tuple[str, ...] = ()


def get_target(request: AnyRequest) -> ObjectRef:
    """Which object a refusal names: by its name, or the prefix from which a name will be made."""
    name = request.name
    if not name and request.new is not None:
        meta = request.new.metadata
        name = meta.name or meta.generate_name
    kind = request.kind
    return ObjectRef(kind.group, kind.name, kind.plural, request.namespace, name or "Unknown")


def refuse(request: AnyRequest, reason: str) -> Forbidden:
    """The refusal of a write, in the words in which Kubernetes' admission refuses."""
    about = get_target(request)
    return Forbidden(f'{about.qualified_resource} "{about.name}" is forbidden: {reason}', about)

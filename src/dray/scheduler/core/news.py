"""What the scheduler hears: changes of objects, and how its own orders ended."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import msgspec

from dray.api.meta import ApiObject
from dray.api.resource.claim import ResourceClaim

__all__ = ["Bound", "Changed", "ClaimSeen", "ClaimsReserved", "Evicted", "NotBound"]

K = TypeVar("K", bound=ApiObject)


class Changed(msgspec.Struct, Generic[K], frozen=True):
    """An object came (`old` is None), changed, or went (`new` is None)."""

    old: K | None
    new: K | None

    @property
    def latest(self) -> K:
        """The last state that is known."""
        thing = self.new if self.new is not None else self.old
        assert thing is not None, "something changed"
        return thing


class ClaimsReserved(NamedTuple):
    """The claims of a pod are written as the server returned them; devices have yet to get ready."""

    pod_uid: str
    claims: tuple[ResourceClaim, ...]


class Bound(NamedTuple):
    """The pod is on its node, its claims are written."""

    pod_uid: str
    claims: tuple[ResourceClaim, ...]


class NotBound(NamedTuple):
    """Binding failed and what it left was cleaned up. `claims` are the latest states that the server told."""

    pod_uid: str
    message: str
    claims: tuple[ResourceClaim, ...]


class ClaimSeen(NamedTuple):
    """The server returned this state of a claim to a write that no pod waits for."""

    claim: ResourceClaim


class Evicted(NamedTuple):
    """The requests to evict pods for the sake of this one were made; `is_complete` if all of them are leaving."""

    pod_uid: str
    is_complete: bool

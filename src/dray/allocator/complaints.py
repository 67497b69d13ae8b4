"""What is wrong with the input, said without names, so that claims and nodes of one shape can share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dray.allocator.ids import claim_ref
from dray.allocator.outcome import Failed, FailureCode
from dray.allocator.view import NodeView
from dray.api.resource.claim import ResourceClaim

__all__ = ["Complaint"]


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something wrong with claims, classes or devices, which ends an attempt that comes across it.

    The message is `claim <ref>` if `claim` is given, then `before`, then the device at `place` if that is given, then
    `after`. `is_brief` leaves driver and pool out of the name of the device.
    """

    code: FailureCode
    before: str
    claim: int | None = None
    place: int | None = None
    after: str = ""
    is_brief: bool = False

    def failure(self, claims: Sequence[ResourceClaim], view: NodeView) -> Failed:
        """The complaint about these claims on this node, in Kubernetes' words."""
        subject = "" if self.claim is None else f"claim {claim_ref(claims[self.claim])}"
        device = ""
        if self.place is not None:
            device_id = view.device_id(self.place)
            device = device_id.name if self.is_brief else str(device_id)
        return Failed(self.code, f"{subject}{self.before}{device}{self.after}")

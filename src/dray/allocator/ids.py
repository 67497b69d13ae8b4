"""Names of things that allocation talks about: small, hashable, ordered as Kubernetes sorts them.

Python compares text by code point, which is the order of the UTF-8 bytes that Kubernetes compares.
"""

from __future__ import annotations

from typing import NamedTuple, NewType

from dray.api.resource.claim import ResourceClaim

__all__ = ["ClaimUid", "DeviceId", "PoolId", "claim_ref", "claim_uid"]

ClaimUid = NewType("ClaimUid", str)


class PoolId(NamedTuple):
    """A pool is named by its driver and its own name; equal names of two drivers are two pools."""

    driver: str
    name: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


class DeviceId(NamedTuple):
    """A device, unique in the cluster."""

    driver: str
    pool: str
    name: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.name}"

    @property
    def pool_id(self) -> PoolId:
        """The pool the device belongs to."""
        return PoolId(self.driver, self.pool)


def claim_ref(claim: ResourceClaim) -> str:
    """Name a claim as messages do: `namespace/name`, or the bare name without a namespace."""
    metadata = claim.metadata
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


def claim_uid(claim: ResourceClaim) -> ClaimUid:
    """What the ledger knows a claim by: its UID, or its reference while it has none."""
    return ClaimUid(claim.metadata.uid or claim_ref(claim))

"""Which kinds the group had in which version, and since when no server has them."""

from typing import Final

from msgspec import Struct

__all__ = ["CLASSIC_KINDS", "FormerKind", "find_former_kind"]


class FormerKind(Struct, frozen=True):
    """A kind in a version that is gone. `until` is the first release of Kubernetes without it."""

    api_version: str
    kind: str
    until: str


_GROUP: Final = "resource.k8s.io"
_CLAIMS: Final = ("ResourceClaim", "ResourceClaimTemplate")

_FORMER: Final = {
    ("v1alpha1", "1.27"): (*_CLAIMS, "ResourceClass", "PodScheduling"),
    ("v1alpha2", "1.31"): (
        *_CLAIMS,
        "ResourceClass",
        "PodSchedulingContext",
        "ResourceSlice",
        "ResourceClaimParameters",
        "ResourceClassParameters",
    ),
    ("v1alpha3", "1.34"): (*_CLAIMS, "DeviceClass", "ResourceSlice"),
    ("v1alpha3", "1.32"): ("PodSchedulingContext",),
}
_BY_NAME: Final = {
    (f"{_GROUP}/{version}", kind): FormerKind(f"{_GROUP}/{version}", kind, until)
    for (version, until), kinds in _FORMER.items()
    for kind in kinds
}

CLASSIC_KINDS: Final = frozenset(
    {"ResourceClass", "PodScheduling", "PodSchedulingContext", "ResourceClaimParameters", "ResourceClassParameters"}
)
"""Kinds of which nothing is left."""


def find_former_kind(api_version: str, kind: str) -> FormerKind | None:
    """The kind that a manifest names, if it was served once and is no longer."""
    return _BY_NAME.get((api_version, kind))

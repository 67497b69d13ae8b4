"""`Lease`: a claim to something that ends unless it is renewed."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.struct import ApiStruct, Int32, always
from dray.values.times import MicroTime

__all__ = ["Lease", "LeaseSpec"]


class LeaseSpec(ApiStruct):
    """Who holds the lease, and until when."""

    holder_identity: Annotated[str | None, Meta(description="Who holds it.")] = None
    lease_duration_seconds: Annotated[
        Int32 | None, Meta(description="Seconds after the last renewal until others may take it.")
    ] = None
    acquire_time: Annotated[MicroTime | None, Meta(description="When the holder got it.")] = None
    renew_time: Annotated[MicroTime | None, Meta(description="When the holder last renewed it.")] = None
    lease_transitions: Annotated[Int32 | None, Meta(description="How often it has changed hands.")] = None
    strategy: Annotated[str | None, Meta(description="How the next holder is chosen.")] = None
    preferred_holder: Annotated[str | None, Meta(description="Who the holder should hand it to.")] = None


class Lease(ApiObject):
    """A claim to something, such as leading a group of instances or being a living node."""

    spec: Annotated[LeaseSpec, Meta(description="Who holds it, and until when.")] = always(LeaseSpec)

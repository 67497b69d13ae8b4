"""`TokenRequest`: asks for a token of a service account. It is answered, never stored."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int64, always, always_null
from dray.values.times import Time

__all__ = ["BoundObjectReference", "TokenRequest", "TokenRequestSpec", "TokenRequestStatus"]


class BoundObjectReference(ApiStruct):
    """The object a token lives as long as."""

    kind: Annotated[str, Meta(description="Pod, Node or Secret.")] = ""
    api_version: Annotated[str, Meta(description="API version of the object.")] = ""
    name: Annotated[str, Meta(description="Name of the object.")] = ""
    uid: Annotated[str, Meta(description="Uid of the object.")] = ""


class TokenRequestSpec(ApiStruct):
    """What the token is to be like."""

    audiences: Annotated[
        tuple[str, ...],
        Meta(description="Who the token is meant for; empty is the API server.", extra=REQUIRED | ATOMIC),
    ] = always(lambda: ())
    expiration_seconds: Annotated[
        Int64 | None, Meta(description="How long it is valid; absent is an hour, ten minutes is the least.")
    ] = always_null()
    bound_object_ref: Annotated[BoundObjectReference | None, Meta(description="The token ends with this object.")] = (
        always_null()
    )
    attestations: Annotated[
        Mapping[str, tuple[str, ...]], Meta(description="What the token is to say besides, by key.")
    ] = {}


class TokenRequestStatus(ApiStruct):
    """The token."""

    token: Annotated[str, Meta(description="The token.", extra=REQUIRED)] = always(str)
    expiration_timestamp: Annotated[Time | None, Meta(description="When it ends.", extra=REQUIRED)] = always_null()


class TokenRequest(ApiObject):
    """Asks for a token of the service account whose subresource it is sent to."""

    spec: Annotated[TokenRequestSpec, Meta(description="What it is to be like.", extra=REQUIRED)] = always(
        TokenRequestSpec
    )
    status: Annotated[TokenRequestStatus, Meta(description="The token.")] = always(TokenRequestStatus)

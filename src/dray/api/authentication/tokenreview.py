"""`TokenReview`: asks whose token this is. It is answered, never stored."""

from typing import Annotated

from msgspec import Meta

from dray.api.authentication.user import UserInfo
from dray.api.meta import ApiObject
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always

__all__ = ["TokenReview", "TokenReviewSpec", "TokenReviewStatus"]


class TokenReviewSpec(ApiStruct):
    """The question."""

    token: Annotated[str, Meta(description="The token.")] = ""
    audiences: Annotated[
        tuple[str, ...], Meta(description="Who the token must be meant for; absent is the API server.", extra=ATOMIC)
    ] = ()


class TokenReviewStatus(ApiStruct):
    """The answer."""

    authenticated: Annotated[bool, Meta(description="Whether the token is good.")] = False
    user: Annotated[UserInfo, Meta(description="Whose token it is.")] = always(UserInfo)
    audiences: Annotated[
        tuple[str, ...], Meta(description="Which of the audiences the token is meant for.", extra=ATOMIC)
    ] = ()
    error: Annotated[str, Meta(description="Why the token is not good.")] = ""


class TokenReview(ApiObject):
    """Asks whose token this is."""

    spec: Annotated[TokenReviewSpec, Meta(description="The question.", extra=REQUIRED)] = always(TokenReviewSpec)
    status: Annotated[TokenReviewStatus, Meta(description="The answer.")] = always(TokenReviewStatus)

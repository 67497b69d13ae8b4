"""Reviews of identity: who am I, and whose token is this."""

from msgspec.structs import replace

from dray.api.authentication.selfreview import SelfSubjectReview, SelfSubjectReviewStatus
from dray.api.authentication.tokenreview import TokenReview, TokenReviewStatus
from dray.api.authentication.user import UserInfo
from dray.errors import BadRequest
from dray.server.identity.accounts import InvalidToken
from dray.server.identity.authenticator import Authenticator
from dray.server.ports import User
from dray.values.times import Time

__all__ = ["review_self", "review_token"]

_NOT_OURS = "invalid bearer token"


def review_self(user: User, review: SelfSubjectReview, now: Time) -> SelfSubjectReview:
    """Who the caller is, or acts as."""
    metadata = replace(review.metadata, creation_timestamp=now)
    return replace(review, metadata=metadata, status=SelfSubjectReviewStatus(user_info=_describe(user)))


def review_token(review: TokenReview, authenticator: Authenticator) -> TokenReview:
    """Whose token it is, or why it is nobody's."""
    if not review.spec.token:
        raise BadRequest("token is required for TokenReview in authentication")
    return replace(review, status=_answer(review, authenticator))


def _answer(review: TokenReview, authenticator: Authenticator) -> TokenReviewStatus:
    try:
        owner = authenticator.find_owner(review.spec.token, review.spec.audiences)
    except InvalidToken as error:
        return TokenReviewStatus(error=f"[{_NOT_OURS}, {error}]")
    if owner is None:
        return TokenReviewStatus(error=_NOT_OURS)
    return TokenReviewStatus(authenticated=True, user=_describe(owner.user), audiences=owner.audiences)


def _describe(user: User) -> UserInfo:
    return UserInfo(username=user.name, uid=user.uid, groups=user.groups, extra=user.extra)

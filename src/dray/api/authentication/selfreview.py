"""`SelfSubjectReview`: asks who one is. It is answered, never stored."""

from typing import Annotated

from msgspec import Meta

from dray.api.authentication.user import UserInfo
from dray.api.meta import ApiObject
from dray.api.struct import ApiStruct, always

__all__ = ["SelfSubjectReview", "SelfSubjectReviewStatus"]


class SelfSubjectReviewStatus(ApiStruct):
    """The answer."""

    user_info: Annotated[UserInfo, Meta(description="Who the caller is.")] = always(UserInfo)


class SelfSubjectReview(ApiObject):
    """Asks who the caller is."""

    status: Annotated[SelfSubjectReviewStatus, Meta(description="The answer.")] = always(SelfSubjectReviewStatus)

"""`UserInfo`: who a caller is."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.struct import ATOMIC, ApiStruct

__all__ = ["UserInfo"]


class UserInfo(ApiStruct):
    """Who a caller is."""

    username: Annotated[str, Meta(description="Unique name.")] = ""
    uid: Annotated[str, Meta(description="Identity that is never used twice.")] = ""
    groups: Annotated[tuple[str, ...], Meta(description="Groups the user is in.", extra=ATOMIC)] = ()
    extra: Annotated[Mapping[str, tuple[str, ...]], Meta(description="What else the authenticator knows, by key.")] = {}

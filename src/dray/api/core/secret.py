"""`Secret`: what pods need to know and nobody else should."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject

__all__ = ["Secret"]


class Secret(ApiObject):
    """Confidential data, at most 1 MiB. `string_data` is for writing only: admission moves it into `data`."""

    immutable: Annotated[bool | None, Meta(description="Whether the data can never change again.")] = None
    data: Annotated[Mapping[str, bytes], Meta(description="Bytes by key, in base64.")] = {}
    string_data: Annotated[Mapping[str, str], Meta(description="Texts to add to the data; never returned.")] = {}
    type: Annotated[str, Meta(description="What the data is for; some types demand certain keys.")] = ""

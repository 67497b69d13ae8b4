"""`ConfigMap`: settings for pods, by key."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject

__all__ = ["ConfigMap"]


class ConfigMap(ApiObject):
    """Settings for pods. No key stands in both `data` and `binary_data`; together they have at most 1 MiB."""

    immutable: Annotated[bool | None, Meta(description="Whether the data can never change again.")] = None
    data: Annotated[Mapping[str, str], Meta(description="Texts by key.")] = {}
    binary_data: Annotated[Mapping[str, bytes], Meta(description="Bytes by key, in base64.")] = {}

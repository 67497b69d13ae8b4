"""Whole lists, fetched page by page so that no single answer is large."""

from typing import TypeVar

from msgspec.structs import replace

from dray.api.codec import ApiList
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.client.port import ALL, Client, ListOptions
from dray.errors import Gone

__all__ = ["PAGE_SIZE", "list_all"]

K = TypeVar("K", bound=ApiObject)

PAGE_SIZE = 500
"""Objects asked for at a time, as kubectl does."""


async def list_all(client: Client, kind: Kind[K], options: ListOptions = ALL) -> ApiList[K]:
    """Every object that `options` select, as they were at one revision, which the list's metadata names.

    `options.limit` is the size of pages. Where a page has expired, because changes were quicker than we, everything is
    fetched anew in one piece.
    """
    options = replace(options, limit=options.limit or PAGE_SIZE)
    page = first = await client.list(kind, options)
    things = list(first.items)
    while page.metadata.continue_:
        following = replace(
            options, continue_token=page.metadata.continue_, resource_version="", resource_version_match=""
        )
        try:
            page = await client.list(kind, following)
        except Gone:
            return await client.list(kind, replace(options, limit=0))
        things += page.items
    whole = replace(first.metadata, continue_="", remaining_item_count=None)
    return replace(first, metadata=whole, items=tuple(things))

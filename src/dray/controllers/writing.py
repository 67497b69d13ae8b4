"""Small writes that controllers share."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.client.port import Client, ObjectName, Patch, PatchType
from dray.errors import NotFound

__all__ = ["find_stored", "patch_metadata"]

K = TypeVar("K", bound=ApiObject)


async def find_stored(client: Client, kind: Kind[K], name: ObjectName) -> K | None:
    """The object as the server has it now."""
    try:
        return await client.get(kind, name)
    except NotFound:
        return None


async def patch_metadata(client: Client, kind: Kind[K], thing: K, changes: Mapping[str, Sequence[object]]) -> None:
    """Replace lists in the metadata of exactly this state of an object. Raises Conflict if it has changed.

    That it is gone by now is as good.
    """
    meta = thing.metadata
    body = {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, **changes}}
    try:
        name = ObjectName(meta.name, meta.namespace)
        await client.patch(kind, name, Patch(PatchType.MERGE, msgspec.json.encode(body)))
    except NotFound:
        return

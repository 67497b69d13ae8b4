"""`Eviction`: the request to delete a pod if its budget allows. It is acted upon, never stored."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject, DeleteOptions

__all__ = ["Eviction"]


class Eviction(ApiObject):
    """Deletes the pod that its metadata names, unless a disruption budget forbids it."""

    delete_options: Annotated[DeleteOptions | None, Meta(description="How to delete it.")] = None

"""`Binding`: the request that puts a pod on a node. It is acted upon, never stored."""

from typing import Annotated

from msgspec import Meta

from dray.api.core.references import ObjectReference
from dray.api.meta import ApiObject
from dray.api.struct import REQUIRED, always

__all__ = ["Binding"]


class Binding(ApiObject):
    """Puts the pod that its metadata names on the node that `target` names."""

    target: Annotated[ObjectReference, Meta(description="The node.", extra=REQUIRED)] = always(ObjectReference)

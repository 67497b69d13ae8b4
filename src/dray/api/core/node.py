"""`Node`: a machine that runs pods."""

from typing import Annotated

from msgspec import Meta

from dray.api.core.nodespec import NodeSpec
from dray.api.core.nodestatus import NodeStatus
from dray.api.meta import ApiObject
from dray.api.struct import always

__all__ = ["Node"]


class Node(ApiObject):
    """A machine that runs pods, registered by its node agent."""

    spec: Annotated[NodeSpec, Meta(description="What is wanted of the node.")] = always(NodeSpec)
    status: Annotated[NodeStatus, Meta(description="What the node agent says about it.")] = always(NodeStatus)

"""`Pod`: containers that run together on one node."""

from typing import Annotated

from msgspec import Meta

from dray.api.core.podspec import PodSpec
from dray.api.core.podstatus import PodStatus
from dray.api.meta import ApiObject
from dray.api.struct import always

__all__ = ["Pod"]


class Pod(ApiObject):
    """Containers that share a node, a network and volumes, and start and end together."""

    spec: Annotated[PodSpec, Meta(description="What the pod is to be.")] = always(PodSpec)
    status: Annotated[PodStatus, Meta(description="What has become of it.")] = always(PodStatus)

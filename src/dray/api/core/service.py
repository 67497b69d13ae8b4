"""`Service`: a stable address in front of pods. Dray stores services; nothing in it routes traffic."""

from typing import Annotated

from msgspec import Meta

from dray.api.core.servicespec import ServiceSpec, ServiceStatus
from dray.api.meta import ApiObject
from dray.api.struct import always

__all__ = ["Service"]


class Service(ApiObject):
    """A stable address in front of the pods it selects."""

    spec: Annotated[ServiceSpec, Meta(description="Which pods, and how they are reached.")] = always(ServiceSpec)
    status: Annotated[ServiceStatus, Meta(description="State of the load balancer.")] = always(ServiceStatus)

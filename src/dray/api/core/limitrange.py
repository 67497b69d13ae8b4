"""`LimitRange`: what one pod or container of a namespace may ask for, and what it gets if it asks for nothing."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always
from dray.values.quantity import Quantity

__all__ = ["LimitRange", "LimitRangeItem", "LimitRangeSpec"]


class LimitRangeItem(ApiStruct):
    """Limits for one sort of thing, by resource."""

    type: Annotated[str, Meta(description="Pod, Container or PersistentVolumeClaim.", extra=REQUIRED)] = always(str)
    max: Annotated[Mapping[str, Quantity], Meta(description="The most one may ask for.")] = {}
    min: Annotated[Mapping[str, Quantity], Meta(description="The least one may ask for.")] = {}
    default: Annotated[Mapping[str, Quantity], Meta(description="Limit where none is given.")] = {}
    default_request: Annotated[Mapping[str, Quantity], Meta(description="Request where none is given.")] = {}
    max_limit_request_ratio: Annotated[
        Mapping[str, Quantity], Meta(description="How many times the request the limit may be.")
    ] = {}


class LimitRangeSpec(ApiStruct):
    """All limits of the range."""

    limits: Annotated[
        tuple[LimitRangeItem, ...], Meta(description="Limits, by sort of thing.", extra=REQUIRED | ATOMIC)
    ] = always(lambda: ())


class LimitRange(ApiObject):
    """What one pod or container may ask for."""

    spec: Annotated[LimitRangeSpec, Meta(description="The limits.")] = always(LimitRangeSpec)

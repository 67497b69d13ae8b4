"""`Event`: something that happened to an object, told to people. Events last an hour."""

from typing import Annotated

from msgspec import Meta

from dray.api.core.references import ObjectReference
from dray.api.meta import ApiObject, ObjectMeta
from dray.api.struct import REQUIRED, ApiStruct, Int32, always, always_null
from dray.values.times import MicroTime, Time

__all__ = ["Event", "EventSeries", "EventSource"]


class EventSource(ApiStruct):
    """Who tells an event, in the older form."""

    component: Annotated[str, Meta(description="The component.")] = ""
    host: Annotated[str, Meta(description="The node it runs on.")] = ""


class EventSeries(ApiStruct):
    """Repetitions of one event."""

    count: Annotated[Int32, Meta(description="How often it has been seen.")] = 0
    last_observed_time: Annotated[MicroTime | None, Meta(description="When it was last seen.")] = always_null()


class Event(ApiObject):
    """Something that happened to an object. The same event can be read and written as `events.k8s.io/v1`."""

    metadata: Annotated[ObjectMeta, Meta(description="Name and namespace of the event.", extra=REQUIRED)] = always(
        ObjectMeta
    )
    involved_object: Annotated[
        ObjectReference, Meta(description="What it happened to; in the event's own namespace.", extra=REQUIRED)
    ] = always(ObjectReference)
    reason: Annotated[str, Meta(description="Why, as one word for programs.")] = ""
    message: Annotated[str, Meta(description="What happened, in a sentence.")] = ""
    source: Annotated[EventSource, Meta(description="Who tells it, in the older form.")] = always(EventSource)
    first_timestamp: Annotated[Time | None, Meta(description="When it was first seen.")] = always_null()
    last_timestamp: Annotated[Time | None, Meta(description="When it was last seen.")] = always_null()
    count: Annotated[Int32, Meta(description="How often it has been seen.")] = 0
    type: Annotated[str, Meta(description="Normal or Warning.")] = ""
    event_time: Annotated[MicroTime | None, Meta(description="When it was first seen, in the newer form.")] = (
        always_null()
    )
    series: Annotated[EventSeries | None, Meta(description="Repetitions; absent for a single event.")] = None
    action: Annotated[str, Meta(description="What was done or not done about it.")] = ""
    related: Annotated[ObjectReference | None, Meta(description="Another object it is about.")] = None
    reporting_component: Annotated[str, Meta(description="Who tells it, such as kubernetes.io/kubelet.")] = always(str)
    reporting_instance: Annotated[str, Meta(description="Which instance of the component.")] = always(str)

"""`Event` of events.k8s.io/v1: the newer names for the events of the core group, of which there is one store."""

from typing import Annotated

from msgspec import Meta

from dray.api.core import event as core
from dray.api.core.event import EventSource
from dray.api.core.references import ObjectReference
from dray.api.meta import ApiObject
from dray.api.struct import REQUIRED, ApiStruct, Int32, always, always_null
from dray.values.times import MicroTime, Time

__all__ = ["Event", "EventSeries", "from_core_event", "to_core_event"]


class EventSeries(ApiStruct):
    """Repetitions of one event."""

    count: Annotated[Int32, Meta(description="How often it has been seen.", extra=REQUIRED)] = always(int)
    last_observed_time: Annotated[MicroTime | None, Meta(description="When it was last seen.", extra=REQUIRED)] = (
        always_null()
    )


class Event(ApiObject):
    """Something that happened to an object."""

    event_time: Annotated[MicroTime | None, Meta(description="When it was first seen.", extra=REQUIRED)] = always_null()
    series: Annotated[EventSeries | None, Meta(description="Repetitions; absent for a single event.")] = None
    reporting_controller: Annotated[str, Meta(description="Who tells it, such as kubernetes.io/kubelet.")] = ""
    reporting_instance: Annotated[str, Meta(description="Which instance of the controller.")] = ""
    action: Annotated[str, Meta(description="What was done or not done about it.")] = ""
    reason: Annotated[str, Meta(description="Why, as one word for programs.")] = ""
    regarding: Annotated[ObjectReference, Meta(description="What it happened to.")] = always(ObjectReference)
    related: Annotated[ObjectReference | None, Meta(description="Another object it is about.")] = None
    note: Annotated[str, Meta(description="What happened, in a sentence.")] = ""
    type: Annotated[str, Meta(description="Normal or Warning.")] = ""
    deprecated_source: Annotated[EventSource, Meta(description="Who told it, in the older form.")] = always(EventSource)
    deprecated_first_timestamp: Annotated[
        Time | None, Meta(description="When it was first seen, in the older form.")
    ] = always_null()
    deprecated_last_timestamp: Annotated[Time | None, Meta(description="When it was last seen, in the older form.")] = (
        always_null()
    )
    deprecated_count: Annotated[Int32, Meta(description="How often it has been seen, in the older form.")] = 0


def to_core_event(event: Event) -> core.Event:
    """The same event by its older names, which are the stored ones."""
    series = event.series
    return core.Event(
        kind="Event",
        api_version="v1",
        metadata=event.metadata,
        involved_object=event.regarding,
        reason=event.reason,
        message=event.note,
        source=event.deprecated_source,
        first_timestamp=event.deprecated_first_timestamp,
        last_timestamp=event.deprecated_last_timestamp,
        count=event.deprecated_count,
        type=event.type,
        event_time=event.event_time,
        series=core.EventSeries(count=series.count, last_observed_time=series.last_observed_time) if series else None,
        action=event.action,
        related=event.related,
        reporting_component=event.reporting_controller,
        reporting_instance=event.reporting_instance,
    )


def from_core_event(event: core.Event) -> Event:
    """The same event by its newer names."""
    series = event.series
    return Event(
        kind="Event",
        api_version="events.k8s.io/v1",
        metadata=event.metadata,
        event_time=event.event_time,
        series=EventSeries(count=series.count, last_observed_time=series.last_observed_time) if series else None,
        reporting_controller=event.reporting_component,
        reporting_instance=event.reporting_instance,
        action=event.action,
        reason=event.reason,
        regarding=event.involved_object,
        related=event.related,
        note=event.message,
        type=event.type,
        deprecated_source=event.source,
        deprecated_first_timestamp=event.first_timestamp,
        deprecated_last_timestamp=event.last_timestamp,
        deprecated_count=event.count,
    )

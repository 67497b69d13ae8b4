"""What the API server refuses in events of the newer form."""

from collections.abc import Iterator

from dray.api.checks import CheckContext
from dray.api.core.checks.events import event_faults
from dray.api.core.event import EventSource
from dray.api.core.references import ObjectReference
from dray.api.events.event import Event, to_core_event
from dray.errors import FieldError, invalid, required
from dray.values.fieldpath import ROOT

__all__ = ["check_event_create", "check_event_update"]

_UNSET = "needs to be unset"


def check_event_create(new: Event, old: Event | None, context: CheckContext) -> list[FieldError]:
    """A new event says when, who and what, and leaves the older fields alone."""
    return [*event_faults(to_core_event(new), "reportingController"), *_new_form_faults(new)]


def _new_form_faults(event: Event) -> Iterator[FieldError]:
    yield from _series_faults(event)
    if event.event_time is None or event.event_time.is_zero:
        yield required(ROOT / "eventTime")
    if event.type not in ("Normal", "Warning"):
        yield invalid(ROOT / "type", "", f"has invalid value: {event.type}", hint="use Normal or Warning")
    if event.deprecated_first_timestamp is not None:
        yield invalid(ROOT / "firstTimestamp", "", _UNSET)
    if event.deprecated_last_timestamp is not None:
        yield invalid(ROOT / "lastTimestamp", "", _UNSET)
    if event.deprecated_count:
        yield invalid(ROOT / "count", "", _UNSET)
    if event.deprecated_source != EventSource():
        yield invalid(ROOT / "source", "", _UNSET)


def _series_faults(event: Event) -> Iterator[FieldError]:
    series = event.series
    if series is None:
        return
    if series.count < 2:
        yield invalid(ROOT / "series" / "count", "", "should be at least 2")
    if series.last_observed_time is None:
        yield required(ROOT / "series" / "lastObservedTime")


def check_event_update(new: Event, old: Event | None, context: CheckContext) -> list[FieldError]:
    """Only the series of an event goes on, and what holds of every event holds on."""
    faults = [*event_faults(to_core_event(new), "reportingController"), *_series_faults(new)]
    if old is None:
        return faults
    changed: dict[str, tuple[object, object]] = {
        "involvedObject": (_show(new.regarding), _show(old.regarding)),
        "reason": (new.reason, old.reason),
        "message": (new.note, old.note),
        "source": (new.deprecated_source, old.deprecated_source),
        "firstTimestamp": (new.deprecated_first_timestamp, old.deprecated_first_timestamp),
        "lastTimestamp": (new.deprecated_last_timestamp, old.deprecated_last_timestamp),
        "count": (new.deprecated_count, old.deprecated_count),
        "type": (new.type, old.type),
        "eventTime": (new.event_time, old.event_time),
        "action": (new.action, old.action),
        "related": (_show(new.related), _show(old.related)),
        "reportingController": (new.reporting_controller, old.reporting_controller),
        "reportingInstance": (new.reporting_instance, old.reporting_instance),
    }
    faults += [
        invalid(ROOT / name, after, "field is immutable")
        for name, (after, before) in changed.items()
        if after != before
    ]
    return faults


def _show(reference: ObjectReference | None) -> dict[str, str] | None:
    """A reference as the API server shows it here: its own type, not that of the version."""
    if reference is None:
        return None
    return {
        "Kind": reference.kind,
        "Namespace": reference.namespace,
        "Name": reference.name,
        "UID": reference.uid,
        "APIVersion": reference.api_version,
        "ResourceVersion": reference.resource_version,
        "FieldPath": reference.field_path,
    }

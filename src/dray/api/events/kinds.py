"""The kinds of `events.k8s.io`, and what belongs to each."""

from collections.abc import Callable

from dray.api.columns import Column
from dray.api.core.columns import EVENT_COLUMNS
from dray.api.core.event import Event as CoreEvent
from dray.api.core.kinds import reference_selectors
from dray.api.events.checks import check_event_create, check_event_update
from dray.api.events.event import Event, to_core_event
from dray.api.kind import Kind, Scope, ServedVersion

__all__ = ["EVENT", "GROUP", "KINDS"]

GROUP = "events.k8s.io"


def _seen_from_here(column: Column[CoreEvent]) -> Column[Event]:
    return Column(
        column.name,
        lambda event, now: column.cell(to_core_event(event), now),
        type=column.type,
        format=column.format,
        description=column.description,
        priority=column.priority,
    )


def _selected_from_here(select: Callable[[CoreEvent], str]) -> Callable[[Event], str]:
    return lambda event: select(to_core_event(event))


EVENT: Kind[Event] = Kind(
    struct=Event,
    group=GROUP,
    plural="events",
    singular="event",
    scope=Scope.NAMESPACED,
    versions=(ServedVersion("v1", delete_returns_object=False),),
    storage_version="v1",
    storage_group="",
    short_names=("ev",),
    create_checks=(check_event_create,),
    update_checks=(check_event_update,),
    columns=tuple(map(_seen_from_here, EVENT_COLUMNS)),
    field_selectors={
        **{
            name: _selected_from_here(select)
            for name, select in reference_selectors("regarding", lambda event: event.involved_object).items()
        },
        "reason": lambda event: event.reason,
        "reportingController": lambda event: event.reporting_controller,
        "type": lambda event: event.type,
    },
)

KINDS = (EVENT,)
"""All kinds of the group, in the order in which discovery lists them."""

"""Events, in the older and the newer form, which have one set of rules seen from two sides."""

from collections.abc import Iterator

from dray.api.checks import CheckContext
from dray.api.core.checks.naming import key_faults
from dray.api.core.event import Event
from dray.errors import FieldError, invalid, required
from dray.values.fieldpath import ROOT
from dray.values.names import byte_length

__all__ = ["check_event", "event_faults"]

_NAMESPACE = ROOT / "involvedObject" / "namespace"
_MISMATCH = "does not match event.namespace"
_MAX_WORD = 128
_MAX_MESSAGE = 1024


def check_event(new: Event, old: Event | None, context: CheckContext) -> list[FieldError]:
    """What holds of events that are written in the older form."""
    return list(event_faults(new, "reportingComponent"))


def event_faults(event: Event, component_name: str) -> Iterator[FieldError]:
    """What holds of every event. Those with an `eventTime` say who tells them; `component_name` is that field's."""
    home, subject = event.metadata.namespace, event.involved_object.namespace
    if event.event_time is None or event.event_time.is_zero:
        is_at_home = subject == home if subject else home in ("", "default")
        if not is_at_home:
            hint = "an event lives in the namespace of its subject; cluster-wide subjects have theirs in default"
            yield invalid(_NAMESPACE, subject, _MISMATCH, hint=hint)
        return
    if not subject and home not in ("default", "kube-system"):
        yield invalid(_NAMESPACE, subject, _MISMATCH)
    if not event.reporting_component:
        yield required(ROOT / component_name)
    yield from key_faults(event.reporting_component, ROOT / component_name)
    words = (
        ("reportingInstance", event.reporting_instance),
        ("action", event.action),
        ("reason", event.reason),
    )
    for name, text in words:
        if not text:
            yield required(ROOT / name)
        if byte_length(text) > _MAX_WORD:
            yield invalid(ROOT / name, "", f"can have at most {_MAX_WORD} characters")
    if byte_length(event.message) > _MAX_MESSAGE:
        yield invalid(ROOT / "message", "", f"can have at most {_MAX_MESSAGE} characters")

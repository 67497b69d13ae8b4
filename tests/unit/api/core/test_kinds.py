"""The kinds around pods, as others find them."""

import json
from typing import Any

import msgspec
import pytest

from dray.api.codec import decode, encode_value
from dray.api.core import event as core_event
from dray.api.core.kinds import EVENT, NODE, POD, SECRET
from dray.api.events.event import Event, from_core_event, to_core_event
from dray.api.events.kinds import EVENT as NEW_EVENT
from dray.api.kind import Kind
from tests.unit.api.core.maximal import make_maximal


def select(kind: Kind[Any], thing: dict[str, Any]) -> dict[str, str]:
    decoded = decode(kind, kind.declared_version, json.dumps(thing).encode())
    return {name: value for name, read in kind.field_selectors.items() if (value := read(decoded))}


@pytest.mark.parametrize(
    ("kind", "thing", "want"),
    [
        (
            POD,
            {
                "spec": {"nodeName": "n", "restartPolicy": "Never", "schedulerName": "s", "serviceAccountName": "a"},
                "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}], "nominatedNodeName": "m"},
            },
            {
                "spec.nodeName": "n",
                "spec.host": "n",
                "spec.restartPolicy": "Never",
                "spec.schedulerName": "s",
                "spec.serviceAccountName": "a",
                "spec.hostNetwork": "false",
                "status.phase": "Running",
                "status.podIP": "10.0.0.1",
                "status.podIPs": "10.0.0.1",
                "status.nominatedNodeName": "m",
            },
        ),
        (NODE, {"spec": {"unschedulable": True}}, {"spec.unschedulable": "true"}),
        (SECRET, {"type": "Opaque"}, {"type": "Opaque"}),
        (
            EVENT,
            {"involvedObject": {"kind": "Pod", "fieldPath": "f"}, "reason": "R", "source": {"component": "c"}},
            {"involvedObject.kind": "Pod", "involvedObject.fieldPath": "f", "reason": "R", "source": "c"},
        ),
        (
            NEW_EVENT,
            {"regarding": {"kind": "Pod", "uid": "u"}, "type": "Normal", "reportingController": "c"},
            {"regarding.kind": "Pod", "regarding.uid": "u", "type": "Normal", "reportingController": "c"},
        ),
    ],
    ids=["pods", "nodes", "secrets", "events", "new events"],
)
def test_field_selectors(kind: Kind[Any], thing: dict[str, Any], want: dict[str, str]) -> None:
    assert select(kind, thing) == want


def test_events_are_one_thing_with_two_sets_of_names() -> None:
    older = make_maximal(core_event.Event)
    newer = from_core_event(older)
    again = to_core_event(newer)
    assert msgspec.structs.replace(again, kind=older.kind, api_version=older.api_version) == older
    assert from_core_event(again) == newer
    empty = decode(NEW_EVENT, "v1", b"{}")
    assert isinstance(empty, Event)
    assert msgspec.json.decode(encode_value(to_core_event(empty)))["eventTime"] is None

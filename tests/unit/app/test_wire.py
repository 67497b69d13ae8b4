import io

from dray.api.checks import AccessQuestion
from dray.app.settings import Settings
from dray.app.wire import wire_clock, wire_log, wire_offline_context, wire_registry
from dray.effects.clock import FakeClock, SystemClock


def test_clock_is_that_of_the_machine() -> None:
    assert isinstance(wire_clock(), SystemClock)


def test_log_goes_to_the_stream_it_is_given() -> None:
    stream = io.StringIO()
    wire_log(Settings(), stream, FakeClock()).info("up")
    assert "up" in stream.getvalue()


def test_registry_has_the_kinds_of_dra() -> None:
    assert wire_registry().find_kind("resource.k8s.io/v1", "ResourceClaim") is not None


def test_offline_nothing_is_denied() -> None:
    context = wire_offline_context(FakeClock())
    assert context.deny(AccessQuestion("update", "resource.k8s.io", "resourceclaims")) is None
    assert context.caller_node is None
    assert str(context.now) == "2026-01-01T00:00:00Z"

"""What is known of devices, for how long, and what pods show of it."""

from typing import Any

import pytest

from dray.driver.claims import ClaimRef
from dray.node.core.health import (
    DeviceName,
    HealthBook,
    HealthReport,
    decode_health,
    encode_health,
    render_health,
    trim_message,
)
from dray.node.core.prepared_claims import ClaimRecord, DriverState, PreparedClaims, ReadyDevice
from dray.values.times import Time, parse_time
from tests.unit.node.core.things import make_pod

NOW = parse_time("2026-01-01T00:00:00Z")
DRIVER = "drv.example.com"


def name(device: str) -> DeviceName:
    return DeviceName(DRIVER, "n", device)


def report(device: str, health: str = "Healthy", message: str = "", lease: int = 0) -> HealthReport:
    return HealthReport("n", device, health, message, lease)


def book(*reports: HealthReport) -> HealthBook:
    made = HealthBook()
    made.note(DRIVER, reports, NOW)
    return made


def test_what_is_new_is_told_and_what_is_not_is_not() -> None:
    known = book(report("a"), report("b"))
    assert known.note(DRIVER, [report("a"), report("b", "Unhealthy")], NOW) == [name("b")]
    assert known.note(DRIVER, [report("a"), report("b", "Unhealthy", "hot")], NOW) == [name("b")]
    assert known.note(DRIVER, [report("a", lease=60), report("b", "Unhealthy", "hot")], NOW) == [name("a")]
    assert known.note(DRIVER, [report("a", lease=60), report("b", "Unhealthy", "hot")], NOW) == []


@pytest.mark.parametrize(("lease", "holds"), [(0, 30), (-1, 30), (5, 5), (60, 60)])
def test_a_report_holds_as_long_as_its_lease(lease: int, holds: int) -> None:
    known = book(report("a", "Unhealthy", "hot", lease))
    assert known.find(name("a"), NOW.plus_seconds(holds)) == ("Unhealthy", "hot")
    assert known.find(name("a"), NOW.plus_seconds(holds + 1)) == ("Unknown", "")


def test_a_device_that_is_left_out_is_forgotten_when_its_lease_has_ended() -> None:
    known = book(report("a"), report("b", "Unknown"))
    assert known.note(DRIVER, [], NOW.plus_seconds(30)) == []
    assert known.note(DRIVER, [], NOW.plus_seconds(31)) == [name("a")]
    assert known.drivers() == {DRIVER: {}}


def test_a_driver_that_is_lost_takes_its_reports_with_it() -> None:
    known = book(report("a"), report("b"))
    assert known.forget(DRIVER) == [name("a"), name("b")]
    assert known.forget(DRIVER) == []
    assert known.find(name("a"), NOW) == ("Unknown", "")


def test_a_driver_that_makes_devices_up_is_heard_so_far_and_no_further() -> None:
    known = book(*(report(str(number)) for number in range(16_384)))
    assert known.note(DRIVER, [report("one more"), report("7", "Unhealthy")], NOW) == [name("7")]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("x" * 1024, "x" * 1024),
        ("x" * 1025, "x" * 1021 + "..."),
        ("x" * 1020 + "üü", "x" * 1020 + "üü"),
        ("x" * 1020 + "üüü", "x" * 1020 + "..."),
    ],
)
def test_messages_are_cut_between_letters(text: str, want: str) -> None:
    assert trim_message(text) == want


def test_the_file_is_that_of_a_kubelet() -> None:
    text = encode_health(book(report("a", "Unhealthy", "hot", 5)))
    assert text.decode() == (
        '{"drv.example.com":{"Devices":{"n/a":{"PoolName":"n","DeviceName":"a","Health":"Unhealthy",'
        '"LastUpdated":"2026-01-01T00:00:00Z","HealthCheckTimeout":5000000000,"Message":"hot"}}}}'
    )
    assert decode_health(text).find(name("a"), NOW) == ("Unhealthy", "hot")


@pytest.mark.parametrize("text", [b"", b"[]", b'{"d":{"Devices":{"n/a":{"PoolName":"n"}}}}'])
def test_a_file_that_says_something_else_is_no_health(text: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode_health(text)


def rendered(entries: list[dict[str, str]], *devices: ReadyDevice, now: Time = NOW) -> Any:
    container = {"name": "main", "image": "a", "resources": {"claims": entries}}
    pod = make_pod({"containers": [container], "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]})
    ref = ClaimRef(namespace="ns", name="c", uid="c1")
    claims = PreparedClaims([ClaimRecord(ref, frozenset({"u"}), {DRIVER: DriverState(devices)})])
    found = render_health(pod, claims, book(report("a", "Unhealthy", "hot"), report("b")), now)
    return {
        each.name: [(one.resource_id, one.health, one.message) for one in each.resources]
        for each in found.get("main", ())
    }


A = ReadyDevice("n", "a", ("large",), ("v/c=a", "v/c=common"))
B = ReadyDevice("n", "b", ("little",))


@pytest.mark.parametrize(
    ("entries", "want"),
    [
        (
            [{"name": "gpu"}],
            {"claim:gpu": [("v/c=a", "Unhealthy", "hot"), ("drv.example.com/n/b", "Healthy", None)]},
        ),
        ([{"name": "gpu", "request": "large"}], {"claim:gpu/large": [("v/c=a", "Unhealthy", "hot")]}),
        ([{"name": "gpu", "request": "large/x"}], {"claim:gpu/large/x": [("v/c=a", "Unhealthy", "hot")]}),
        ([{"name": "gpu", "request": "none"}], {}),
    ],
)
def test_a_pod_shows_the_devices_of_the_claims_it_lists(entries: list[dict[str, str]], want: Any) -> None:
    assert rendered(entries, A, B) == want


def test_shares_of_one_device_are_shown_once_and_old_reports_as_unknown() -> None:
    shares = [ReadyDevice("n", "b", (), (), share) for share in ("s1", "s2")]
    assert rendered([{"name": "gpu"}], *shares) == {"claim:gpu": [("drv.example.com/n/b", "Healthy", None)]}
    later = NOW.plus_seconds(31)
    assert rendered([{"name": "gpu"}], A, now=later) == {"claim:gpu": [("v/c=a", "Unknown", None)]}

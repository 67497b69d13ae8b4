import pytest
from msgspec import Raw

from dray.api.resource.device import Device, DeviceAttribute, DeviceCapacity
from dray.api.resource.equality import is_same
from dray.api.resource.request import OpaqueDeviceConfiguration
from dray.values.quantity import parse_quantity


def memory(text: str) -> Device:
    return Device(capacity={"memory": DeviceCapacity(value=parse_quantity(text))})


def opaque(text: bytes) -> OpaqueDeviceConfiguration:
    return OpaqueDeviceConfiguration(driver="d", parameters=Raw(text))


@pytest.mark.parametrize(
    ("one", "other", "want"),
    [
        pytest.param(memory("1Gi"), memory("1073741824"), True, id="quantities by value"),
        pytest.param(memory("1Gi"), memory("1G"), False, id="other quantities"),
        pytest.param(memory("1Gi"), Device(), False, id="other keys"),
        pytest.param(opaque(b'{"a":1,"b":[]}'), opaque(b'{ "b": [], "a": 1 }'), True, id="raw JSON by meaning"),
        pytest.param(opaque(b'{"a":1}'), opaque(b'{"a":2}'), False, id="other raw JSON"),
        pytest.param(opaque(b"{"), opaque(b"{"), True, id="the same broken JSON"),
        pytest.param(opaque(b"{"), opaque(b"[1"), False, id="other broken JSON"),
        pytest.param((opaque(b"{}"),), (opaque(b"{ }"),), True, id="lists item by item"),
        pytest.param((opaque(b"{}"),), (opaque(b"{ }"), opaque(b"{}")), False, id="lists of other length"),
        pytest.param(None, opaque(b"{}"), False, id="absent and present"),
        pytest.param(DeviceAttribute(string=""), DeviceAttribute(), False, id="empty text and absent text"),
    ],
)
def test_is_same(one: object, other: object, want: bool) -> None:
    assert is_same(one, other) is want
    assert is_same(other, one) is want

"""Selectors held against what is known. The driver `npu.example` publishes an attribute of each type, and memory."""

import pytest

from dray.api.resource.device import Device, DeviceAttribute, DeviceCapacity
from dray.authoring.knowledge import Knowledge
from dray.authoring.selecting import mend_expression
from dray.values.quantity import parse_quantity

D = 'device.attributes["npu.example"]'
C = 'device.capacity["npu.example"]'


@pytest.fixture
def knowledge() -> Knowledge:
    attributes = {
        "model": DeviceAttribute(string="A1"),
        "index": DeviceAttribute(int=1),
        "ready": DeviceAttribute(bool=True),
        "firmware": DeviceAttribute(version="1.2.3"),
        "resource.kubernetes.io/pcieRoot": DeviceAttribute(string="pci0000:00"),
    }
    capacity = {"memory": DeviceCapacity(value=parse_quantity("16Gi"))}
    knowledge = Knowledge()
    knowledge.guess_devices("npu.example", [Device(name="npu-0", attributes=attributes, capacity=capacity)], "a test")
    return knowledge


@pytest.mark.parametrize(
    ("text", "rules", "want"),
    [
        (
            f'{D}.memory >= "8Gi"',
            "attribute-or-capacity quantity-as-text",
            f'{C}.memory.compareTo(quantity("8Gi")) >= 0',
        ),
        (f'"8Gi" < {C}.memory', "quantity-as-text", f'{C}.memory.compareTo(quantity("8Gi")) > 0'),
        (f'{C}.model == "A1"', "attribute-or-capacity", f'{D}.model == "A1"'),
        ('device.attributes["model"] == "A1"', "cel-compile", f'{D}.model == "A1"'),
        ("device.attributes.model == 'A1'", "cel-compile", "device.attributes['npu.example'].model == 'A1'"),
        (
            'device.attributes["pcieRoot"] == "x"',
            "cel-compile",
            'device.attributes["resource.kubernetes.io"].pcieRoot == "x"',
        ),
        (
            'device.attributes["resource.k8s.io"].pcieRoot == "x"',
            "unknown-domain",
            'device.attributes["resource.kubernetes.io"].pcieRoot == "x"',
        ),
        (f'{D}.firmware == "1.2.3"', "cel-type", f'{D}.firmware.compareTo(semver("1.2.3")) == 0'),
        (f"{D}.model.string == 'A1'", "wrong-name", f"{D}.model == 'A1'"),
        ('device.driverName == "npu.example"', "wrong-name", 'device.driver == "npu.example"'),
    ],
)
def test_what_is_sure_is_mended(knowledge: Knowledge, text: str, rules: str, want: str) -> None:
    mended = mend_expression(text, "npu.example", knowledge)
    assert [issue.rule for issue in mended.issues] == rules.split()
    assert mended.text == want
    again = mend_expression(want, "npu.example", knowledge)
    assert (again.text, again.issues) == (want, [])


@pytest.mark.parametrize(
    ("text", "rule", "guess"),
    [
        (f"{D}.model == 5", "cel-type", f'{D}.model == "5"'),
        (f'{D}.index == "5"', "cel-type", f"{D}.index == 5"),
        (f'{D}.modell == "A1"', "unknown-attribute", f"{D}.model"),
        (f'{C}.sram.compareTo(quantity("1")) > 0', "unknown-attribute", ""),
        ('device.attributes["other.org"].model == "A1"', "unknown-domain", f"{D}.model"),
    ],
)
def test_what_is_not_sure_is_pointed_out(knowledge: Knowledge, text: str, rule: str, guess: str) -> None:
    mended = mend_expression(text, "npu.example", knowledge)
    assert [(issue.rule, issue.guess) for issue in mended.issues] == [(rule, guess)]
    assert mended.text == text


@pytest.mark.parametrize("driver", ["", "npu.example", "unheard.of"])
@pytest.mark.parametrize(
    "text", ["", "device", "true", "device.driver ==", 'device.attributes["', "1 + ", "device.attributes[]"]
)
def test_garbled_expression_is_left_alone(knowledge: Knowledge, driver: str, text: str) -> None:
    assert mend_expression(text, driver, knowledge).text == text


def test_slices_that_are_there_go_before_what_is_usual(knowledge: Knowledge) -> None:
    assert knowledge.driver_of("some-class", [f'{D}.model == "x"']) == "npu.example"
    assert knowledge.driver_of("npu.other", []) == "npu.other"
    assert knowledge.driver_of("plain", ['device.capacity["npu.third"].memory == x']) == "npu.third"
    assert knowledge.driver_of("plain", ['device.attributes["resource.kubernetes.io"].pcieRoot == "x"']) == ""

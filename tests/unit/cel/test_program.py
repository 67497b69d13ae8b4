import pytest

from dray.api.resource.device import Device, DeviceAttribute, DeviceCapacity
from dray.cel.errors import COST_LIMIT_EXCEEDED, CompileFault, RuntimeFault
from dray.cel.facts import describe_device
from dray.cel.program import (
    Program,
    compile_derived_attribute,
    compile_selector,
    evaluate_derived,
    evaluate_selector,
    facts_of,
    matches,
)
from dray.values.quantity import parse_quantity

DRIVER = "gpu.example.com"
LOOP = "[1,2,3,4,5,6,7,8,9,10].all(x, "
CARD = Device(
    name="card",
    attributes={"model": DeviceAttribute(string="h100"), "uuid": DeviceAttribute(string="GPU-0")},
    capacity={"memory": DeviceCapacity(value=parse_quantity("80Gi"))},
)
TWIN = Device(
    name="twin",
    attributes={"model": DeviceAttribute(string="h100"), "uuid": DeviceAttribute(string="GPU-1")},
    capacity={"memory": DeviceCapacity(value=parse_quantity("81920Mi"))},
)


def selector(expression: str) -> Program:
    program = compile_selector(expression)
    assert isinstance(program, Program), program.detail
    return program


def test_the_same_text_is_one_program() -> None:
    assert selector("device.driver == 'a'") is selector("device.driver == 'a'")


def test_a_purpose_does_not_spoil_the_other() -> None:
    assert isinstance(compile_selector("42"), CompileFault)
    assert isinstance(compile_derived_attribute("42"), Program)
    assert isinstance(compile_selector("42"), CompileFault)


def test_devices_that_agree_on_what_is_read_share_a_verdict() -> None:
    program = selector(
        'device.attributes["gpu.example.com"].model == "h100" && device.capacity["gpu.example.com"].memory.isInteger()'
    )
    assert matches(program, DRIVER, CARD) is True
    assert matches(program, DRIVER, TWIN) is True
    assert len(program._verdicts) == 1


def test_a_bool_and_a_number_that_python_takes_for_equal_do_not_share_a_verdict() -> None:
    program = selector('device.attributes["gpu.example.com"].x == 1')
    for attribute, want in ((DeviceAttribute(bool=True), False), (DeviceAttribute(int=1), True)):
        assert matches(program, DRIVER, Device(name="d", attributes={"x": attribute})) is want
    program = selector('device.attributes["gpu.example.com"].x == [1]')
    for attribute, want in ((DeviceAttribute(bools=(True,)), False), (DeviceAttribute(ints=(1,)), True)):
        assert matches(program, DRIVER, Device(name="d", attributes={"x": attribute})) is want


def test_equal_quantities_written_apart_do_not_share_a_verdict() -> None:
    program = selector('device.capacity["gpu.example.com"].x.isInteger()')
    for text, want in (("1", True), ("1.0", False), ("1000m", False)):
        device = Device(name="d", capacity={"x": DeviceCapacity(value=parse_quantity(text))})
        assert matches(program, DRIVER, device) is want


def test_versions_equal_but_for_their_build_do_not_share_a_derived_value() -> None:
    program = compile_derived_attribute('device.attributes["gpu.example.com"].x')
    assert isinstance(program, Program)
    for text in ("1.0.0+a", "1.0.0+b"):
        device = Device(name="d", attributes={"x": DeviceAttribute(version=text)})
        assert evaluate_derived(program, DRIVER, device) == DeviceAttribute(version=text)


def test_faults_are_remembered_too() -> None:
    program = selector('device.attributes["gpu.example.com"].nothing')
    assert matches(program, DRIVER, CARD) == matches(program, DRIVER, CARD) == RuntimeFault("no such key: nothing")


def test_verdicts_are_forgotten_before_they_are_too_many() -> None:
    program = selector('device.attributes["gpu.example.com"].many >= 0')
    for number in range(5_000):
        device = Device(name="d", attributes={"many": DeviceAttribute(int=number)})
        assert program.matches(describe_device(DRIVER, device)) is True
    assert len(program._verdicts) <= 4096


def test_facts_are_made_once_for_a_device_and_driver() -> None:
    assert facts_of(DRIVER, CARD) is facts_of(DRIVER, CARD)
    assert facts_of(DRIVER, CARD) is not facts_of("other.example.com", CARD)
    assert facts_of(DRIVER, CARD) is not facts_of(DRIVER, TWIN)


def test_the_full_name_wins_in_any_order() -> None:
    bare, full = ("zz", DeviceAttribute(string="bare")), (f"{DRIVER}/zz", DeviceAttribute(string="full"))
    program = selector('device.attributes["gpu.example.com"].zz == "full"')
    for attributes in ({**dict([bare]), **dict([full])}, {**dict([full]), **dict([bare])}):
        device = Device(name="d", attributes=attributes)
        assert matches(program, DRIVER, device) is True
        assert evaluate_selector(program, DRIVER, device) is True


def bindings(count: int, start: str, make: str, ask: str = "size(_) > 0") -> str:
    """`start`, put through `make` again and again, and what is asked of the last."""
    body = ask.replace("_", f"x{count}")
    for number in range(count, 0, -1):
        body = f"cel.bind(x{number}, {make.replace('_', f'x{number - 1}')}, {body})"
    return f"cel.bind(x0, {start}, {body})"


@pytest.mark.parametrize(
    "expression",
    [
        LOOP * 7 + "true" + ")" * 7,
        bindings(20, '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"', "_ + _"),
        bindings(25, "[1, 2, 3]", "_ + _"),
        bindings(20, '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"', '_.replace("a", _)'),
        bindings(25, '"aaaaaaaaaaaaaaaaaaaaaaaaa"', '"%s%s".format([_, _])'),
        bindings(25, r'"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""', "strings.quote(_)"),
        "lists.range(1000000).size() > 0",
        "lists.range(100000).map(x, x).size() > 0",
        "lists.range(3000).distinct().size() > 0",
        "cel.bind(l, lists.range(200000), lists.range(100).all(x, l == l))",
        "cel.bind(l, lists.range(1000).map(x, lists.range(500)), lists.range(3000).all(x, l == l))",
        'lists.range(1000).map(x, "%.999999999f".format([1.0])).size() > 0',
        bindings(25, "[0]", "[_, _, _]", "_ == _"),
        bindings(25, "[0]", "[_, _, _]", "_ in [_]"),
        bindings(25, "[0]", "[_, _, _]", "[_].includes(_)"),
        bindings(25, "[0]", "[_, _, _]", "[_].distinct() == []"),
        bindings(25, "[0]", "[_, _, _]", "_.flatten(30) == []"),
        bindings(25, "[0]", "[_, _, _]", '"%s".format([_]) == ""'),
        bindings(25, "[0]", "[_, _, _]", "optional.of(_) == optional.of(_)"),
        bindings(25, "{0: dyn(0)}", "{0: dyn(_), 1: dyn(_), 2: dyn(_)}", "_ == _"),
        bindings(20, '["aaaaaaaaaaaaaaaa"]', "[_, _]", '"%s".format([_]) == ""'),
    ],
)
def test_hostile_expressions_are_stopped(expression: str) -> None:
    assert evaluate_selector(selector(expression), DRIVER, CARD) == RuntimeFault(COST_LIMIT_EXCEEDED)


def chain(count: int) -> str:
    """Lists of which each is compared with a map of the next to the next, so that what one holds doubles each time."""
    tests = " && ".join(f"x{number} == [{{x{number + 1}: x{number + 1}}}]" for number in range(count))
    return "".join(f"cel.bind(x{number}, [], " for number in range(count + 1)) + tests + ")" * (count + 1)


@pytest.mark.parametrize(
    "expression", [bindings(25, "[0]", "{_: _}"), bindings(20, "0", "{_: [_]}", "_ == _"), chain(19)]
)
def test_types_that_grow_without_end_are_refused(expression: str) -> None:
    fault = compile_selector(expression)
    assert isinstance(fault, CompileFault)
    assert "types are too complex" in fault.detail


def test_a_list_as_a_key_is_found_by_nobody() -> None:
    assert evaluate_selector(selector("[1] in {[1]: 2} || {[1]: 2} == {[1]: 2}"), DRIVER, CARD) is False
    assert evaluate_selector(selector("{[1]: 2}.all(k, k == [1])"), DRIVER, CARD) is True


def test_a_pattern_that_others_choke_on_is_quick() -> None:
    text = "a" * 60
    assert evaluate_selector(selector(f'!("{text}".matches("(a+)+(a+)+$b"))'), DRIVER, CARD) is True

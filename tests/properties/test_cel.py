"""Laws of expressions: short circuits, memory, what an expression reads, and that none runs away."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.resource.device import Device, DeviceAttribute, DeviceCapacity
from dray.cel.cost import COST_LIMIT
from dray.cel.errors import CompileFault, EvaluationError, RuntimeFault
from dray.cel.facts import describe_device
from dray.cel.frames import Frame
from dray.cel.program import Program, compile_selector, evaluate_selector, matches
from dray.values.quantity import parse_quantity

DRIVER = "gpu.example.com"
IDS = ("a", "b", "c")

attributes = st.one_of(
    st.builds(DeviceAttribute, int=st.integers(-2, 3)),
    st.builds(DeviceAttribute, bool=st.booleans()),
    st.builds(DeviceAttribute, string=st.sampled_from(["x", "y", "1"])),
    st.builds(DeviceAttribute, version=st.sampled_from(["1.0.0", "1.0.0+b", "2.0.0"])),
    st.builds(DeviceAttribute, ints=st.lists(st.integers(-1, 2), min_size=1, max_size=3).map(tuple)),
    st.builds(DeviceAttribute, bools=st.lists(st.booleans(), min_size=1, max_size=3).map(tuple)),
    st.builds(DeviceAttribute, strings=st.lists(st.sampled_from(["x", "y"]), min_size=1, max_size=3).map(tuple)),
)
amounts = st.sampled_from(["1", "1.0", "1k", "1Ki", "1000m"]).map(
    lambda text: DeviceCapacity(value=parse_quantity(text))
)
devices = st.builds(
    Device,
    name=st.just("device"),
    allow_multiple_allocations=st.sampled_from([None, True, False]),
    attributes=st.dictionaries(st.sampled_from([*IDS, "other.example.com/a"]), attributes, max_size=4),
    capacity=st.dictionaries(st.sampled_from(["memory", "other.example.com/memory"]), amounts, max_size=2),
)

READS = [
    *(f'device.attributes["{DRIVER}"].{name}' for name in IDS),
    'device.attributes["other.example.com"].a',
    f'device.attributes["{DRIVER}"].?a.orValue(1)',
    f'cel.bind(own, device.attributes["{DRIVER}"], own.b)',
    f'device.attributes["{DRIVER}"][device.driver == "x" ? "a" : "b"]',
    f'device.attributes["{DRIVER}"].size()',
    "device.attributes.size()",
    "device.driver",
    "device.allowMultipleAllocations",
    f'device.capacity["{DRIVER}"].memory.isInteger()',
    'device.capacity["other.example.com"].memory.compareTo(quantity("1"))',
]
LITERALS = ["0", "1", "2.0", "true", '"x"', '"1.0.0"', "[1]", 'semver("1.0.0")', "null"]
TESTS = [
    *(f'has(device.attributes["{DRIVER}"].{name})' for name in IDS),
    f'"a" in device.attributes["{DRIVER}"]',
    '"other.example.com" in device.attributes',
    f'device.attributes["{DRIVER}"].exists(k, v, v == 1)',
    f'device.attributes["{DRIVER}"].?c.hasValue()',
    "1 / 0 == 1",
]

operands = st.sampled_from(READS + LITERALS).map(lambda text: f"dyn({text})")
atoms = st.one_of(
    st.sampled_from(TESTS),
    st.builds("{} {} {}".format, operands, st.sampled_from(["==", "!=", "<", ">="]), operands),
    st.builds("{}.includes({})".format, operands, operands),
    st.builds("{}.exists(each, each == {})".format, operands, operands),
    operands,
)
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        inner.map("!({})".format),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
    ),
    max_leaves=5,
)


def program_of(expression: str) -> Program:
    program = compile_selector(f"dyn({expression})")
    assert isinstance(program, Program), program
    return program


def evaluate(expression: str, device: Device) -> bool | RuntimeFault:
    return evaluate_selector(program_of(expression), DRIVER, device)


def outcome(verdict: bool | RuntimeFault) -> bool | None:
    """A fault is a fault, whatever it says."""
    return verdict if isinstance(verdict, bool) else None


@given(expressions, st.lists(devices, min_size=1, max_size=6))
def test_what_is_remembered_equals_what_is_evaluated(expression: str, several: list[Device]) -> None:
    program = program_of(expression)
    for device in several * 2:
        assert matches(program, DRIVER, device) == evaluate_selector(program, DRIVER, device)


@given(expressions, devices, st.sampled_from(IDS), attributes)
def test_an_attribute_that_is_not_read_decides_nothing(
    expression: str, device: Device, name: str, attribute: DeviceAttribute
) -> None:
    reads = program_of(expression).reads
    if reads.everything or (DRIVER, name) in reads.attributes:
        return
    changed = replace(device, attributes={**device.attributes, name: attribute})
    removed = replace(device, attributes={key: value for key, value in device.attributes.items() if key != name})
    assert evaluate(expression, changed) == evaluate(expression, device) == evaluate(expression, removed)


@given(expressions, devices, amounts)
def test_a_capacity_that_is_not_read_decides_nothing(expression: str, device: Device, amount: DeviceCapacity) -> None:
    reads = program_of(expression).reads
    if reads.everything or (DRIVER, "memory") in reads.capacities:
        return
    changed = replace(device, capacity={**device.capacity, "memory": amount})
    assert evaluate(expression, changed) == evaluate(expression, device)


@given(atoms, atoms, devices)
def test_and_and_or_do_not_mind_the_order(one: str, other: str, device: Device) -> None:
    for operator in ("&&", "||"):
        forwards = evaluate(f"({one} {operator} {other})", device)
        backwards = evaluate(f"({other} {operator} {one})", device)
        assert outcome(forwards) == outcome(backwards)


@given(atoms, atoms, devices)
def test_de_morgan_holds_for_faults_too(one: str, other: str, device: Device) -> None:
    assert evaluate(f"!({one} && {other})", device) == evaluate(f"(!({one}) || !({other}))", device)


@given(st.lists(atoms, min_size=1, max_size=4), devices)
def test_chains_are_decided_by_any_part_that_decides(parts: list[str], device: Device) -> None:
    single = [outcome(evaluate(part, device)) for part in parts]
    both = evaluate(" && ".join(f"({part})" for part in [*parts, "true"]), device)
    either = evaluate(" || ".join(f"({part})" for part in [*parts, "false"]), device)
    assert outcome(both) is (False if False in single else None if None in single else True)
    assert outcome(either) is (True if True in single else None if None in single else False)


@given(operands, operands, devices)
def test_not_equal_is_true_wherever_equal_is_not(one: str, other: str, device: Device) -> None:
    equal = evaluate(f"cel.bind(x, {one}, cel.bind(y, {other}, x == y))", device)
    unequal = evaluate(f"cel.bind(x, {one}, cel.bind(y, {other}, x != y))", device)
    if isinstance(equal, RuntimeFault) and equal.message != "no such overload":
        assert unequal == equal
    else:
        assert unequal is (equal is not True)


@given(expressions, devices)
def test_an_evaluation_costs_no_more_than_was_estimated(expression: str, device: Device) -> None:
    program = program_of(expression)
    frame = Frame(describe_device(DRIVER, device).value, program._compiled.slots, COST_LIMIT)
    with suppress(EvaluationError):
        program._compiled.step(frame)
    assert frame.cost <= program.max_cost


@given(st.text(max_size=60))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    assert isinstance(compile_selector(text), Program | CompileFault)


@given(
    st.lists(
        st.sampled_from(["(", ")", "[", "]", "a", ".", "'", '"', "?", ":", "&&", "1", "\\", "has", "{", "}", ","]),
        max_size=30,
    )
)
def test_any_mess_of_tokens_compiles_or_is_refused(tokens: list[str]) -> None:
    assert isinstance(compile_selector("".join(tokens)), Program | CompileFault)

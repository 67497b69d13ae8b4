import pytest

from dray.cel.program import Program, compile_selector
from dray.cel.reads import EVERYTHING, Reads

D = 'device.attributes["d"]'
C = 'device.capacity["d"]'


def reads_of(expression: str) -> Reads:
    program = compile_selector(expression)
    assert isinstance(program, Program), program.detail
    return program.reads


@pytest.mark.parametrize(
    ("expression", "want"),
    [
        ("true", Reads()),
        ("has(device.attributes)", Reads()),
        ('device.driver == "d"', Reads(driver=True)),
        ("device.allowMultipleAllocations", Reads(allow_multiple_allocations=True)),
        (f"{D}.x", Reads(frozenset({("d", "x")}))),
        (f'{D}["x"]', Reads(frozenset({("d", "x")}))),
        (f"{D}.?x.orValue(true)", Reads(frozenset({("d", "x")}))),
        (f'{D}[?"x"].orValue(true)', Reads(frozenset({("d", "x")}))),
        (f"has({D}.x)", Reads(frozenset({("d", "x")}))),
        (f"has({D}.x.y)", Reads(frozenset({("d", "x")}))),
        (f'"x" in {D}', Reads(frozenset({("d", "x")}))),
        ("device.attributes.d.x", Reads(frozenset({("d", "x")}))),
        (f"{D}.x[0] == {D}.y", Reads(frozenset({("d", "x"), ("d", "y")}))),
        (f"{D}.x.exists(v, v == 1)", Reads(frozenset({("d", "x")}))),
        (f"[1].all(v, v == {D}.x)", Reads(frozenset({("d", "x")}))),
        (f"cel.bind(own, {D}, own.x && own.y)", Reads(frozenset({("d", "x"), ("d", "y")}))),
        (f"cel.bind(own, {D}, true)", Reads()),
        ("cel.bind(all, device.attributes, all.d.x)", Reads(frozenset({("d", "x")}))),
        (f"cel.bind(device, {D}.x, device == 1)", Reads(frozenset({("d", "x")}))),
        (f"{D}.?x.optMap(v, v == 1).orValue(true)", Reads(frozenset({("d", "x")}))),
        (f"{C}.m.isInteger()", Reads(frozenset(), frozenset({("d", "m")}))),
        ("[device].all(device, device.driver == '')", EVERYTHING),
        (f"{D}[device.driver]", EVERYTHING),
        ("device.attributes[device.driver].x", EVERYTHING),
        (f"{D}.size() > 1", EVERYTHING),
        (f"{D}.exists(k, k == 'x')", EVERYTHING),
        ('"d" in device.attributes', EVERYTHING),
        ("device.attributes.exists(d, d == 'x')", EVERYTHING),
        (f"cel.bind(own, {D}, own == {{}})", EVERYTHING),
        ("device == null", EVERYTHING),
        ("dyn(device).driver == 'd'", EVERYTHING),
    ],
)
def test_finds_what_an_expression_reads(expression: str, want: Reads) -> None:
    assert reads_of(expression) == want


def test_names_tokens_in_a_fixed_order() -> None:
    reads = reads_of(f'{D}.b && {D}.a && device.driver == "d" && {C}.m.isInteger()')
    assert reads.token_names() == ("attributes:d/a", "attributes:d/b", "capacity:d/m", "driver")

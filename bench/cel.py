"""How long expressions take: compiling them, asking 40,000 devices, and stopping a hostile one.

The devices are equal cards but for their uuid and index, so that few combinations of what a selector reads exist.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from time import perf_counter

from dray.api.resource.device import Device, DeviceAttribute, DeviceCapacity
from dray.cel.compiling import Purpose, compile_expression
from dray.cel.errors import CompileFault
from dray.cel.facts import describe_device
from dray.cel.program import Program, compile_selector, evaluate_selector, matches
from dray.values.quantity import parse_quantity

__all__ = ["GOALS", "cards", "measure"]

GOALS = {
    "selector: one of 40,000 devices": 1.0,
    "selector: one of 40,000 devices, four things read": 1.0,
    "hostile loops: until stopped": 1_000.0,
}

_DRIVER = "gpu.example.com"
_SIMPLE = 'device.attributes["gpu.example.com"].model == "h100"'
_THOROUGH = (
    'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "h100" && '
    'device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("540.0.0")) && '
    'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("79Gi"))'
)
_LOOPS = "[1,2,3,4,5,6,7,8,9,10].all(a, "
_HOSTILE = _LOOPS * 7 + "true" + ")" * 7


def cards(number: int) -> list[Device]:
    """Equal cards, each with an identity of its own."""
    memory = DeviceCapacity(value=parse_quantity("80Gi"))
    shared = {
        "model": DeviceAttribute(string="h100"),
        "driverVersion": DeviceAttribute(version="550.94.0"),
        "ecc": DeviceAttribute(bool=True),
        "links": DeviceAttribute(strings=("l0", "l1")),
    }
    return [
        Device(
            name=f"gpu-{index}",
            attributes={
                **shared,
                "index": DeviceAttribute(int=index),
                "uuid": DeviceAttribute(string=f"GPU-{index:012x}"),
            },
            capacity={"memory": memory},
        )
        for index in range(number)
    ]


def _program(expression: str) -> Program:
    program = compile_selector(expression)
    if isinstance(program, CompileFault):
        raise ValueError(program.detail)
    return program


def _seconds(action: Callable[[], object]) -> float:
    started = perf_counter()
    action()
    return perf_counter() - started


def _best(action: Callable[[], object], rounds: int = 5) -> float:
    return min(_seconds(action) for _ in range(rounds))


def measure() -> list[tuple[str, float, str]]:
    """Figures of this module: name, number, unit."""
    devices = cards(40_000)
    simple, thorough = _program(_SIMPLE), _program(_THOROUGH)
    one = devices[0]
    numbers = count()

    def ask(program: Program) -> Callable[[], None]:
        def run() -> None:
            for device in devices:
                matches(program, _DRIVER, device)

        return run

    def compile_fresh() -> object:
        return compile_expression(f"{_THOROUGH} && {next(numbers)} >= 0", Purpose.SELECTOR)

    def describe() -> None:
        for device in devices:
            describe_device(_DRIVER, device)

    hostile = _program(_HOSTILE)
    return [
        ("device: read its facts, once each", _best(describe, 3) / len(devices) * 1e6, "µs"),
        ("selector: one of 40,000 devices", _best(ask(simple)) / len(devices) * 1e6, "µs"),
        ("selector: one of 40,000 devices, four things read", _best(ask(thorough)) / len(devices) * 1e6, "µs"),
        (
            "selector: evaluate afresh",
            _best(lambda: simple.evaluate_selector(describe_device(_DRIVER, one)), 200) * 1e6,
            "µs",
        ),
        ("selector: compile", _best(compile_fresh, 50) * 1e6, "µs"),
        ("hostile loops: until stopped", _best(lambda: evaluate_selector(hostile, _DRIVER, one), 2) * 1e3, "ms"),
    ]

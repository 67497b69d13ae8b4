"""Runs the tables beside it: expressions about a device and what becomes of them.

A file names one of the devices of `devices.yaml` and lists expressions by outcome: `matches` and `refuses` (false),
`errors` with the message of the evaluation, `faults` with every fault of compiling as `column: message`, `costs` with
the estimate, `derives` with the attribute that a derived attribute yields, or the message it fails with.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from dray.api.mending import decode_custom
from dray.api.resource.device import Device, DeviceAttribute
from dray.cel.errors import CompileFault, RuntimeFault
from dray.cel.program import Program, compile_derived_attribute, compile_selector, evaluate_derived, evaluate_selector

FOLDER = Path(__file__).parent
DRIVER = "gpu.example.com"


def load(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


DEVICES: dict[str, Device] = {
    name: msgspec.convert(device, Device, dec_hook=decode_custom)
    for name, device in load(FOLDER / "devices.yaml").items()
}


def cases(outcome: str) -> list[Any]:
    return list(read_cases(outcome))


def read_cases(outcome: str) -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.yaml")):
        if file.name == "devices.yaml":
            continue
        table = load(file)
        device = DEVICES[table.get("device", "gpu")]
        for entry in table.get(outcome, ()):
            expression, *want = entry if isinstance(entry, list) else [entry]
            yield pytest.param(expression, device, *want, id=f"{file.stem}: {expression[:80]}")


def program_of(expression: str) -> Program:
    program = compile_selector(expression)
    assert isinstance(program, Program), program.detail
    return program


@pytest.mark.parametrize(("expression", "device"), cases("matches"))
def test_matches(expression: str, device: Device) -> None:
    assert evaluate_selector(program_of(expression), DRIVER, device) is True


@pytest.mark.parametrize(("expression", "device"), cases("refuses"))
def test_refuses(expression: str, device: Device) -> None:
    assert evaluate_selector(program_of(expression), DRIVER, device) is False


@pytest.mark.parametrize(("expression", "device", "message"), cases("errors"))
def test_errors(expression: str, device: Device, message: str) -> None:
    assert evaluate_selector(program_of(expression), DRIVER, device) == RuntimeFault(message)


@pytest.mark.parametrize(("expression", "device", "faults"), cases("faults"))
def test_faults(expression: str, device: Device, faults: list[str] | str) -> None:
    del device
    fault = compile_selector(expression)
    assert isinstance(fault, CompileFault)
    if isinstance(faults, str):
        assert fault.detail == faults
        return
    lines = [line for line in fault.detail.split("\n") if "ERROR: <input>:" in line]
    assert [line.partition("<input>:1:")[2] for line in lines] == faults


@pytest.mark.parametrize(("expression", "device", "cost"), cases("costs"))
def test_costs(expression: str, device: Device, cost: int) -> None:
    del device
    assert program_of(expression).max_cost == cost


@pytest.mark.parametrize(("expression", "device", "want"), cases("derives"))
def test_derives(expression: str, device: Device, want: Any) -> None:
    program = compile_derived_attribute(expression)
    if isinstance(program, CompileFault):
        assert program.detail == want
        return
    value = evaluate_derived(program, DRIVER, device)
    if isinstance(value, RuntimeFault):
        assert value.message == want
    else:
        assert value == msgspec.convert(want, DeviceAttribute)

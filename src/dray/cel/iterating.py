"""Comprehensions while they run.

A fold that appends to a list does so in place: nothing else can see what it gathers, and copying would make a loop of n
steps cost n squared. What is gathered may be an error, which a later step may absorb, as `all` and `exists` do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dray.cel.errors import EvaluationError
from dray.cel.frames import Frame, Pending, Step
from dray.cel.library.formats import Format
from dray.cel.library.network import Address, Network
from dray.cel.library.urls import Url
from dray.cel.values import Duration, MapValue, Optional, Sum, Timestamp, TypeValue, Uint, Value
from dray.values.quantity import Quantity
from dray.values.semver import Semver

__all__ = ["Fold", "make_append", "make_binding", "make_fold"]

_LIST_COST = 10


@dataclass(frozen=True, slots=True)
class Fold:
    """The planned parts of a comprehension and the slots of its variables."""

    over: Step
    start: Step
    condition: Step | None
    """None where every element counts."""
    step: Step
    result: Step
    gathered: int
    first: int
    second: int | None


def make_fold(fold: Fold) -> Step:
    """The step that runs a comprehension."""
    run = _run_single if fold.second is None else _run_double

    def evaluate(frame: Frame) -> Value:
        over = fold.over(frame)
        frame.slots[fold.gathered] = Pending(fold.start)
        run(fold, frame, over)
        return fold.result(frame)

    return evaluate


def _run_single(fold: Fold, frame: Frame, over: Value) -> None:
    if not isinstance(over, tuple | MapValue):
        raise EvaluationError(f"got '{_go_type(over)}', expected iterable type")
    elements: Iterable[Value] = over
    slots, first, gathered, condition = frame.slots, fold.first, fold.gathered, fold.condition
    for element in elements:
        slots[first] = element
        if condition is not None and not condition(frame):
            return
        try:
            slots[gathered] = fold.step(frame)
        except EvaluationError as fault:
            slots[gathered] = fault


def _run_double(fold: Fold, frame: Frame, over: Value) -> None:
    pairs: Iterable[tuple[Value, Value]]
    if isinstance(over, MapValue):
        pairs = over.items()
    elif isinstance(over, tuple):
        pairs = enumerate(over)
    else:
        raise EvaluationError(f"unsupported comprehension range type: {_go_type(over)}")
    assert fold.second is not None
    for key, value in pairs:
        frame.slots[fold.first] = key
        frame.slots[fold.second] = value
        if fold.condition is not None and not fold.condition(frame):
            return
        try:
            frame.slots[fold.gathered] = fold.step(frame)
        except EvaluationError as fault:
            frame.slots[fold.gathered] = fault


def make_append(element: Step, slot: int, *, is_constant: bool) -> Step:
    """`@result + [element]`, in place."""
    cost = 1 if is_constant else 1 + _LIST_COST

    def append(frame: Frame) -> Value:
        frame.charge(1)
        gathered = frame.slots[slot]
        if not isinstance(gathered, list | EvaluationError):
            gathered = []
        try:
            value = element(frame)
        except EvaluationError:
            if isinstance(gathered, EvaluationError):
                raise gathered from None
            raise
        if isinstance(gathered, EvaluationError):
            raise gathered
        frame.charge(cost)
        assert isinstance(gathered, list)
        gathered.append(value)
        return gathered

    return append


def make_binding(value: Step, body: Step, slot: int) -> Step:
    """`body` with a name for `value`."""

    def evaluate(frame: Frame) -> Value:
        frame.slots[slot] = Pending(value)
        return body(frame)

    return evaluate


_GO_TYPES: dict[type, str] = {
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    TypeValue: "*types.Type",
    Optional: "*types.Optional",
    Quantity: "cel.Quantity",
    Sum: "*cel.Quantity",
    Semver: "cel.Semver",
    Url: "cel.URL",
    Address: "cel.IP",
    Network: "cel.CIDR",
    Format: "cel.Format",
}


def _go_type(value: Value) -> str:
    """What upstream's messages call the type of a value."""
    return _GO_TYPES[type(value)]

"""How long exact values take: reading, printing and adding quantities, reading times and versions, matching labels."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from timeit import repeat

from dray.values.quantity import Quantity, parse_quantity
from dray.values.selectors import parse_label_selector
from dray.values.semver import parse_semver
from dray.values.times import parse_time

GOALS = {"quantity: parse a common form": 2.0}

_CALLS = 20_000
_COMMON = ("80Gi", "100m", "1", "1500Mi", "2.5", "1e3")


def _microseconds(action: Callable[[], object]) -> float:
    """The best of several rounds: what the work costs when nothing else runs."""
    return min(repeat(action, number=_CALLS, repeat=5)) / _CALLS * 1e6


def measure() -> list[tuple[str, float, str]]:
    """Figures of this module: name, number, unit."""
    numbers = count()
    quantities = [parse_quantity(text) for text in _COMMON]
    left, right = quantities[0], quantities[3]
    labels = {"app": "web", "tier": "front", "cores": "8"}
    selector = parse_label_selector("app=web,tier in (front,back),!legacy,cores>4")

    def parse_known() -> None:
        for text in _COMMON:
            parse_quantity(text)

    def print_fresh() -> None:
        for quantity in quantities:
            str(Quantity(quantity.nanos, quantity.family))

    return [
        ("quantity: parse a common form", _microseconds(parse_known) / len(_COMMON), "µs"),
        ("quantity: parse a form never seen", _microseconds(lambda: parse_quantity(f"{next(numbers)}Mi")), "µs"),
        ("quantity: print canonically", _microseconds(print_fresh) / len(_COMMON), "µs"),
        ("quantity: add", _microseconds(lambda: left + right), "µs"),
        ("quantity: compare", _microseconds(lambda: left < right), "µs"),
        ("time: parse", _microseconds(lambda: parse_time("2026-01-01T00:00:00Z")), "µs"),
        ("semver: parse a known version", _microseconds(lambda: parse_semver("550.94.0")), "µs"),
        ("label selector: match four requirements", _microseconds(lambda: selector.matches(labels)), "µs"),
    ]

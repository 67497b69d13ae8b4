"""Measure everything: `make bench`, or one file of figures with `make bench ONLY=values`.

Every other module of this folder is a file of figures. It defines `measure()`, which returns rows of name, figure and
unit, and may define `GOALS`, which maps names of rows to the largest figure we accept, in the same unit. A missed goal
makes the command fail; a figure without a goal is for information.
"""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import bench


class Row(NamedTuple):
    """One figure beside its goal, if it has one."""

    name: str
    figure: float
    unit: str
    goal: float | None

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its goal; without a goal it always is."""
        return self.goal is None or self.figure <= self.goal


def rows_of(module_name: str) -> list[Row]:
    module = importlib.import_module(f"bench.{module_name}")
    measure: Callable[[], list[tuple[str, float, str]]] = module.measure
    goals: Mapping[str, float] = getattr(module, "GOALS", {})
    return [Row(name, figure, unit, goals.get(name)) for name, figure, unit in measure()]


def main(only: list[str]) -> int:
    known = sorted(found.name for found in pkgutil.iter_modules(bench.__path__) if not found.name.startswith("_"))
    unknown = sorted(set(only) - set(known))
    if unknown:
        print(f"error: no figures called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    table = Table("what", "figure", "unit", "goal", "ok")
    rows = [row for name in only or known for row in rows_of(name)]
    for row in rows:
        goal = "" if row.goal is None else f"{row.goal:g}"
        verdict = "" if row.goal is None else "yes" if row.is_met else "NO"
        table.add_row(row.name, f"{row.figure:.3g}", row.unit, goal, verdict)
    Console().print(table)
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

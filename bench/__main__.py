"""Measure everything: `make bench`, or one file of figures with `make bench ONLY=values`.

Every other module of this folder is a file of figures. It defines `measure()`, which returns rows of name, figure and
unit, and may define `GOALS`, which maps names of rows to the largest figure we accept, in the same unit; of a rate,
whose unit is `/s`, to the smallest. A missed goal makes the command fail; a figure without a goal is for information.
`REFERENCES` maps names of rows to what Kubernetes' own programs need for the same on a machine like this one.
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
    reference: float | None

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its goal; without a goal it always is."""
        if self.goal is None:
            return True
        return self.figure >= self.goal if self.unit == "/s" else self.figure <= self.goal


def rows_of(module_name: str) -> list[Row]:
    module = importlib.import_module(f"bench.{module_name}")
    measure: Callable[[], list[tuple[str, float, str]]] = module.measure
    goals: Mapping[str, float] = getattr(module, "GOALS", {})
    references: Mapping[str, float] = getattr(module, "REFERENCES", {})
    return [Row(name, figure, unit, goals.get(name), references.get(name)) for name, figure, unit in measure()]


def main(only: list[str]) -> int:
    known = sorted(found.name for found in pkgutil.iter_modules(bench.__path__) if not found.name.startswith("_"))
    unknown = sorted(set(only) - set(known))
    if unknown:
        print(f"error: no figures called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    table = Table("what", "figure", "unit", "goal", "ok", "Kubernetes")
    rows = [row for name in only or known for row in rows_of(name)]
    for row in rows:
        goal = "" if row.goal is None else f"{row.goal:g}"
        verdict = "" if row.goal is None else "yes" if row.is_met else "NO"
        reference = "" if row.reference is None else f"{row.reference:g}"
        table.add_row(row.name, f"{row.figure:.4g}", row.unit, goal, verdict, reference)
    Console().print(table)
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

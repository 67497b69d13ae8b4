"""Where examples are, and which of them make up the tour and the use cases."""

import difflib
from importlib.resources import files
from pathlib import Path
from typing import Final

from dray.demo.example import Example, ExampleError, read_example

__all__ = ["TOUR", "USE_CASES", "find_examples", "list_names", "select"]

TOUR: Final = "tour"
USE_CASES: Final = "use-cases"
_TOUR: Final = ("walkthrough", "aligned-gpu-and-nic", "mig-on-demand", "why-pending")
_EXPECTATION: Final = "expect.yaml"


def find_examples() -> Path:
    """The folder `examples`: in the package where that was built, else that of the repository."""
    package = Path(str(files("dray")))
    packaged = package / "examples"
    return packaged if packaged.is_dir() else package.parents[1] / "examples"


def list_names(folder: Path) -> list[str]:
    """Every example that can be played, use cases last."""
    names = [file.parent.relative_to(folder).as_posix() for file in folder.rglob(_EXPECTATION)]
    return sorted(names, key=lambda name: (name.startswith(USE_CASES), name))


def select(name: str, folder: Path) -> list[Example]:
    """The examples that a name stands for: one, or those of a collection. Raises ExampleError."""
    known = list_names(folder)
    if name == TOUR:
        chosen = list(_TOUR)
    elif name == USE_CASES:
        chosen = [each for each in known if each.startswith(f"{USE_CASES}/")]
    else:
        chosen = [each for each in known if name in (each, each.rpartition("/")[2])][:1]
    if not chosen:
        raise ExampleError(f"there is no demo {name}", _suggest(name, known))
    return [read_example(folder / each, each) for each in chosen]


def _suggest(name: str, known: list[str]) -> str:
    if not known:
        return "installing dray anew: its folder of examples is missing"
    names = [TOUR, USE_CASES, *known, *(each.rpartition("/")[2] for each in known)]
    close = difflib.get_close_matches(name, names, n=1)
    return f"dray demo {close[0]}" if close else "dray demo --list shows which there are"

"""The public names, with what they take: `dray`, `dray.driver`, `dray.testing`. The rest may change any day."""

import importlib
import inspect
from collections.abc import Iterator

from tests.conftest import Golden

PUBLIC = ("dray", "dray.driver", "dray.pytestplugin", "dray.testing")


def describe(module_name: str) -> Iterator[str]:
    module = importlib.import_module(module_name)
    for name in module.__all__:
        yield f"{module_name}.{name}{describe_value(getattr(module, name))}"


def describe_value(value: object) -> str:
    """A class with its public members, a function with its parameters; of other values only that they are there."""
    if inspect.isclass(value):
        members = sorted(name for name in vars(value) if not name.startswith("_"))
        return f": class ({', '.join(members)})"
    if inspect.isfunction(value):
        return f"({', '.join(inspect.signature(value).parameters)})"
    return ""


def test_public_names_are_as_expected(golden: Golden) -> None:
    golden.check("api.txt", "".join(f"{line}\n" for name in PUBLIC for line in describe(name)))

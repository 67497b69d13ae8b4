"""What a module offers is written in its `__all__`, sorted, and nobody takes more."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
MODULES = sorted(SRC.rglob("*.py"))
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "misc", "manager"}


def module_name(file: Path) -> str:
    parts = file.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {module_name(file) for file in MODULES}


def test_modules_are_found() -> None:
    assert "dray.errors" in NAMES


@pytest.mark.parametrize("name", sorted(name for name in NAMES - {"dray.__main__"} if "_pb2" not in name))
def test_exports_exist_and_are_sorted(name: str) -> None:
    module = importlib.import_module(name)
    if not hasattr(module, "__all__"):
        file = module.__file__
        assert file is not None
        assert file.endswith("__init__.py"), f"{name} has no __all__"
        return
    exports = list(module.__all__)
    assert [each for each in exports if not hasattr(module, each)] == []
    assert len(exports) == len(set(exports))
    assert [each for each in exports if each.startswith("_") and not each.startswith("__")] == []


def taken(file: Path) -> Iterator[tuple[str, str]]:
    """Module and name of every `from dray... import name`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "dray":
            for alias in node.names:
                yield node.module, alias.name


def test_only_exports_are_imported() -> None:
    exports = {name: getattr(importlib.import_module(name), "__all__", []) for name in NAMES - {"dray.__main__"}}
    missing = {
        f"{module}.{name}"
        for file in MODULES
        for module, name in taken(file)
        if f"{module}.{name}" not in NAMES and name not in exports[module]
    }
    assert sorted(missing) == []


def test_no_file_is_named_after_nothing() -> None:
    named = {part for file in MODULES for part in file.relative_to(SRC).with_suffix("").parts}
    assert named & BANNED_NAMES == set()

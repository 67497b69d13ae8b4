"""Text to syntax tree, by the parser of the CEL project's library.

The library only parses here: its macros are off (ours are in `macros`), and so are its checker and evaluator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cel_expr_python import cel  # type: ignore[import-untyped]  # its stubs lack the marker file
from cel_expr_python.ext import ext_optional  # type: ignore[import-untyped]  # as above

from dray.cel.source import Place, Source, SourceFault
from dray.cel.syntax import Expr
from dray.cel.wire import decode_parsed_expr

__all__ = ["Parsed", "parse"]

MAX_EXPRESSION_CODE_POINTS = 100_000
"""Longer text is not parsed at all; admission refuses far shorter text by its own rule."""

_CONFIG = cel.NewEnvConfigFromYaml("stdlib:\n  disable_macros: true\n")
_PARSER = cel.NewEnv(config=_CONFIG, extensions=[ext_optional.ExtOptional(0)])

_REPORTED = re.compile(r"^ERROR: <input>:(\d+):(\d+): (.*)$")
_TOO_DEEP = re.compile(r"(?i)recursion (limit|depth)")
_NO_TREE = "<<nil>> parsetree"
"""The library's own complaint after a syntax fault; Kubernetes' parser has no such line."""


@dataclass(slots=True)
class Parsed:
    """A tree, or the faults that kept it from being made; `offsets` grows while macros expand."""

    source: Source
    root: Expr | None
    offsets: dict[int, int]
    faults: list[SourceFault]


def parse(text: str) -> Parsed:
    """Parse one expression; faults are returned, never raised."""
    source = Source(text)
    if len(text) > MAX_EXPRESSION_CODE_POINTS:
        message = f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_EXPRESSION_CODE_POINTS}"
        return Parsed(source, None, {}, [SourceFault(source.place(None), message)])
    try:
        serialized = _PARSER.compile(text, disable_check=True).serialize()
    except RuntimeError as error:
        return Parsed(source, None, {}, _read_faults(source, str(error)))
    tree = decode_parsed_expr(serialized)
    return Parsed(source, tree.root, tree.offsets, [])


def _read_faults(source: Source, report: str) -> list[SourceFault]:
    if _TOO_DEEP.search(report):
        return [SourceFault(source.place(None), "expression recursion limit exceeded: 250")]
    faults: list[SourceFault] = []
    for line in report.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]").split("\n"):
        if (match := _REPORTED.match(line)) and match[3] != _NO_TREE:
            place = Place(int(match[1]), int(match[2]) - 1)
            faults.append(SourceFault(place, match[3]))
    return faults or [SourceFault(source.place(0), report)]

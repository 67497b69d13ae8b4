"""Text to syntax tree, by the parser of the CEL project's library.

The library only parses here: its macros are off (ours are in `macros`), and so are its checker and evaluator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isinf

from cel_expr_python import cel  # type: ignore[import-untyped]  # its stubs lack the marker file
from cel_expr_python.ext import ext_optional  # type: ignore[import-untyped]  # as above

from dray.cel.source import Place, Source, SourceFault
from dray.cel.syntax import Expr, Literal, MessageLiteral, walk
from dray.cel.wire import ParsedTree, decode_parsed_expr

__all__ = ["Parsed", "parse"]

MAX_EXPRESSION_CODE_POINTS = 100_000
"""Longer text is not parsed at all; admission refuses far shorter text by its own rule."""

_CONFIG = cel.NewEnvConfigFromYaml("stdlib:\n  disable_macros: true\n")
_PARSER = cel.NewEnv(config=_CONFIG, extensions=[ext_optional.ExtOptional(2)])

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
    faults = _mend(source, tree)
    return Parsed(source, None if faults else tree.root, tree.offsets, faults)


def _mend(source: Source, tree: ParsedTree) -> list[SourceFault]:
    """Move and refuse what Kubernetes' parser sees differently."""
    faults: list[SourceFault] = []
    for node in walk(tree.root):
        if isinstance(node, MessageLiteral):
            # The library puts a message where its name begins, Kubernetes at its brace.
            tree.offsets[node.id] = source.text.index("{", tree.offsets[node.id])
        elif isinstance(node, Literal) and isinstance(node.value, float) and isinf(node.value):
            faults.append(SourceFault(source.place(tree.offsets.get(node.id)), "invalid double literal"))
    return faults


def _read_faults(source: Source, report: str) -> list[SourceFault]:
    if _TOO_DEEP.search(report):
        return [SourceFault(source.place(None), "expression recursion limit exceeded: 250")]
    faults: list[SourceFault] = []
    for line in report.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]").split("\n"):
        if (match := _REPORTED.match(line)) and match[3] != _NO_TREE:
            # Of an empty text Kubernetes speaks before its first column.
            place = Place(int(match[1]), int(match[2]) - 1 if source.text else -1)
            faults.append(SourceFault(place, _translate(match[3])))
    return faults or [SourceFault(source.place(0), report)]


_RESERVED = re.compile(r"no viable alternative at input '\.(true|false|null)'")
_BAD_INTEGER = re.compile(r"invalid hex (u?int) literal")


def _translate(message: str) -> str:
    """The library's words in those of Kubernetes' parser, whose grammar is the same."""
    if message.startswith(("Invalid string literal:", "Invalid bytes literal:")):
        is_code_point = "Unicode value" in message or "Unicode limit" in message
        return "invalid unicode code point" if is_code_point else "unable to unescape string"
    message = message.replace(r"'\u003F'", "'?'")
    if message.startswith("Syntax error: token recognition error"):
        message = message.replace(r"\n", "\n").replace(r"\t", "\t").replace(r"\r", "\r")
    message = _BAD_INTEGER.sub(r"invalid \1 literal", message)
    return _RESERVED.sub(r"mismatched input '\1' expecting IDENTIFIER", message)

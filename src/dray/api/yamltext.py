"""YAML as people write it, turned into JSON text document by document.

The result is text, not dicts, so that the codec sees what stood there, duplicate keys included. Plain scalars mean what
they mean to kubectl: `yes` is true, `0644` is octal, `1e3` is a number, and a date is text.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import yaml
from yaml.composer import Composer

from dray.errors import DrayError

__all__ = [
    "YamlDocument",
    "YamlError",
    "YamlLoader",
    "explain_yaml_fault",
    "merge_entries",
    "parse_yaml_documents",
    "read_key",
    "write_scalar",
]

MAX_JSON_CHARACTERS: Final = 16 * 1024 * 1024
"""What a document may grow to when its aliases are written out: five times the largest request an API server takes."""

MAX_EXCERPT_CHARACTERS: Final = 40

_TAG: Final = "tag:yaml.org,2002:"
_TRUE: Final = frozenset({"y", "yes", "true", "on"})


class YamlError(DrayError):
    """The text is not YAML, or holds what JSON cannot say."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """One document as JSON text, and the line it begins on."""

    line: int
    json: bytes


class YamlLoader(Composer, yaml.CSafeLoader):
    """Composes nodes that know their places, with kubectl's idea of plain scalars.

    Reads events in C and composes nodes in Python, since the composer in C overflows its stack on deep nesting.
    """

    def __init__(self, text: str) -> None:
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)


# kubectl's idea of plain scalars, which is neither YAML 1.1 nor 1.2.
YamlLoader.yaml_implicit_resolvers = {}
for _name, _pattern, _first in (
    ("merge", r"<<", "<"),
    ("null", r"~|null|Null|NULL|", ("~", "n", "N", "")),
    ("bool", r"y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON", "yYtToO"),
    ("bool", r"n|N|no|No|NO|false|False|FALSE|off|Off|OFF", "nNfFoO"),
    ("int", r"[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]+|0|[1-9][0-9_]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    YamlLoader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"(?:{_pattern})\\Z"), list(_first))


def parse_yaml_documents(text: str) -> Iterator[YamlDocument]:
    """Every document that is not empty. Raises `YamlError` when it comes to something that cannot be read."""
    try:
        loader = YamlLoader(text)
        while loader.check_node():
            node = loader.get_node()
            if node is not None and not (isinstance(node, yaml.ScalarNode) and node.tag == f"{_TAG}null"):
                written = _JsonWriter().write(node)
                yield YamlDocument(_line(node), written.encode("utf-8", "surrogatepass"))
    except yaml.MarkedYAMLError as fault:
        raise explain_yaml_fault(fault, text) from fault
    except RecursionError as fault:
        raise YamlError("nested too deeply", 1) from fault
    except yaml.reader.ReaderError as fault:
        line = text.count("\n", 0, fault.position) + 1
        raise YamlError(f"not YAML: {fault.reason}", line) from fault


def explain_yaml_fault(fault: yaml.MarkedYAMLError, text: str) -> YamlError:
    """Point at the line a person would.

    A key without its colon is noticed only on the line below, and what is left open only behind the last line.
    """
    is_unended_key = fault.context == "while scanning a simple key"
    mark = (fault.context_mark if is_unended_key else None) or fault.problem_mark
    last = len(text.rstrip().split("\n"))
    line = min(mark.line + 1, last) if mark else 1
    excerpt = "".join(text.split("\n")[line - 1 : line]).strip()[:MAX_EXCERPT_CHARACTERS]
    return YamlError(f"not YAML: {fault.problem}" + (f", at {excerpt!r}" if excerpt else ""), line)


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


class _JsonWriter:
    """Writes a tree of nodes as JSON text; what an alias repeats is written once and copied, within a limit."""

    def __init__(self) -> None:
        self._written: dict[yaml.Node, str] = {}
        self._open: set[yaml.Node] = set()

    def write(self, node: yaml.Node) -> str:
        """The tree below `node`."""
        if node in self._written:
            return self._written[node]
        if node in self._open:
            raise YamlError("an alias refers to what it is part of", _line(node))
        self._open.add(node)
        text = self._written[node] = self._text(node)
        self._open.discard(node)
        if len(text) > MAX_JSON_CHARACTERS:
            raise YamlError(f"the document grows beyond {MAX_JSON_CHARACTERS} characters", _line(node))
        return text

    def _text(self, node: yaml.Node) -> str:
        if isinstance(node, yaml.ScalarNode):
            return write_scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return f"[{','.join(self.write(item) for item in node.value)}]"
        entries = merge_entries(node)
        return f"{{{','.join(f'{_quote(read_key(name))}:{self.write(value)}' for name, value in entries)}}}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def merge_entries(node: yaml.Node) -> list[tuple[yaml.Node, yaml.Node]]:
    """Entries of a map, after those of its `<<` that it does not have itself."""
    own = [(name, value) for name, value in node.value if name.tag != f"{_TAG}merge"]
    names = {read_key(name) for name, _ in own}
    inherited: list[tuple[yaml.Node, yaml.Node]] = []
    for name, value in node.value:
        if name.tag != f"{_TAG}merge":
            continue
        sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
        for entry in [entry for source in sources if source is not node for entry in merge_entries(source)]:
            if read_key(entry[0]) not in names:
                names.add(read_key(entry[0]))
                inherited.append(entry)
    return inherited + own


def read_key(node: yaml.Node) -> str:
    """The key of a map as JSON has it. Raises YamlError for a list or a map."""
    if not isinstance(node, yaml.ScalarNode):
        raise YamlError("the key of a map must be text, not a list or a map", _line(node))
    text = write_scalar(node)
    return str(node.value) if text.startswith('"') else text


def write_scalar(node: yaml.ScalarNode) -> str:
    """A scalar as JSON text. Raises YamlError for a number that JSON cannot hold."""
    digits = node.value.replace("_", "")
    try:
        match node.tag.removeprefix(_TAG):
            case "null":
                return "null"
            case "bool":
                return "true" if node.value.lower() in _TRUE else "false"
            case "int":
                return str(_parse_int(digits))
            case "float":
                number = float(digits)
                return str(int(number)) if number.is_integer() else json.dumps(number, allow_nan=False)
            case _:
                return _quote(node.value)
    except (ValueError, OverflowError) as fault:
        raise YamlError(f"{node.value} is not a number that JSON can hold", _line(node)) from fault


def _parse_int(text: str) -> int:
    """Read an integer as Go does: a leading zero is octal."""
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return -int(digits, 8) if text.startswith("-") else int(digits, 8)
    return int(text, 0)

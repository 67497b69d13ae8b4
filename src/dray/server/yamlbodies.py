"""YAML in request bodies, read as Kubernetes' server reads it: the first document, keys sorted, the last of equal ones.

What is wrong with a text is told in the words of Go's parser, which counts the lines of most faults from 0 and leaves
out a 0.
"""

import json
from collections.abc import Sequence
from typing import Final, NamedTuple

import yaml

from dray.api.yamltext import YamlError, YamlLoader, merge_entries, parse_yaml_documents, read_key
from dray.values.quoting import quote

__all__ = ["YamlBody", "YamlFault", "explain_repeated", "read_yaml"]

_EMPTY: Final = b"null"


class YamlFault(Exception):
    """The text is no YAML, or holds what JSON cannot say. The message is Go's."""


class YamlBody(NamedTuple):
    """A document."""

    json: bytes
    repeated: tuple[str, ...] = ()
    """What is said of each key that is there twice."""


def explain_repeated(repeated: Sequence[str]) -> str:
    """What is said of keys that are there twice, as one fault."""
    return "yaml: unmarshal errors:" + "".join(f"\n  {each}" for each in repeated)


def read_yaml(body: bytes) -> YamlBody:
    """The first document of a text. Raises `YamlFault`."""
    try:
        text = body.decode()
    except UnicodeDecodeError as fault:
        raise YamlFault("yaml: invalid leading UTF-8 octet") from fault
    try:
        node = _read_node(text)
        first = next(parse_yaml_documents(text), None) if node is not None else None
    except yaml.MarkedYAMLError as fault:
        raise YamlFault(f"yaml: {_find_line(fault)}{fault.problem}") from fault
    except yaml.reader.ReaderError as fault:
        raise YamlFault(f"yaml: {fault.reason}") from fault
    except YamlError as fault:
        raise YamlFault(f"yaml: {fault.message}") from fault
    except RecursionError as fault:
        raise YamlFault("yaml: exceeded max depth") from fault
    if node is None or first is None:
        return YamlBody(_EMPTY)
    return YamlBody(_sort_keys(first.json), tuple(_find_repeated(node)))


def _read_node(text: str) -> yaml.Node | None:
    """The first document; None if it says nothing."""
    loader = YamlLoader(text)
    if not loader.check_node():
        return None
    node = loader.get_node()
    is_null = isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"
    return None if is_null else node


def _sort_keys(text: bytes) -> bytes:
    """Faults are found in the order of keys, since Go writes maps in it."""
    value = json.loads(text)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def _find_line(fault: yaml.MarkedYAMLError) -> str:
    line = next((mark.line for mark in (fault.problem_mark, fault.context_mark) if mark is not None and mark.line), 0)
    if line and isinstance(fault, yaml.scanner.ScannerError):
        line += 1
    return f"line {line}: " if line else ""


def _find_repeated(node: yaml.Node) -> list[str]:
    """Keys that stand in a map again; those of a value before that of the map it stands in."""
    found: list[str] = []
    done: set[int] = set()

    def visit(each: yaml.Node) -> None:
        if id(each) in done:
            return
        done.add(id(each))
        if isinstance(each, yaml.SequenceNode):
            for item in each.value:
                visit(item)
        elif isinstance(each, yaml.MappingNode):
            names: set[str] = set()
            for name, value in merge_entries(each):
                visit(value)
                key = read_key(name)
                if key in names:
                    found.append(f"line {value.start_mark.line + 1}: key {quote(key)} already set in map")
                names.add(key)

    visit(node)
    return found

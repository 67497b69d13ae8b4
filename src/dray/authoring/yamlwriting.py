"""Trees as YAML that people read: comments above their lines, text as plain as it may be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from dray.api.yamltext import YamlLoader
from dray.authoring.tree import Json, Tree

__all__ = ["write_yaml"]

MAX_FLOW_COLUMNS: Final = 100
"""A list or map that was on one line stays so up to here."""

_PLAIN = re.compile(
    r"[A-Za-z0-9_./$][^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff#:,\[\]{}\"'`&*!|>%@\\]*(?:[:#](?! )[^\s:#,\[\]{}\"']+)*"
)
_STRING_TAG: Final = "tag:yaml.org,2002:str"


def write_yaml(tree: Tree) -> str:
    """One document, without a separator."""
    return "".join(f"{line}\n" for line in [*_comments(tree, ""), *_block(tree, "")])


def _block(tree: Tree, indent: str) -> Iterator[str]:
    """The lines of a map or a list, or the one line of anything else."""
    if isinstance(tree.value, dict) and tree.value:
        for name, child in tree.value.items():
            yield from _entry(f"{_scalar(name)}:", child, indent)
    elif isinstance(tree.value, list) and tree.value:
        for child in tree.value:
            yield from _item(child, indent)
    else:
        yield f"{indent}{_flow(tree.plain())}"


def _entry(head: str, child: Tree, indent: str) -> Iterator[str]:
    yield from _comments(child, indent)
    aside = f"  # {child.aside}" if child.aside else ""
    text = child.value
    if isinstance(text, str) and "\n" in text and _fits_a_block(text):
        yield f"{indent}{head} {_block_sign(text)}{aside}"
        yield from (f"{indent}  {line}".rstrip() for line in text.rstrip("\n").split("\n"))
    elif _is_short(child, len(indent) + len(head)):
        yield f"{indent}{head} {_flow(child.plain())}{aside}"
    else:
        yield f"{indent}{head}{aside}"
        yield from _block(child, indent if isinstance(child.value, list) else f"{indent}  ")


def _item(child: Tree, indent: str) -> Iterator[str]:
    """A list item; the first entry of a map stands behind the dash."""
    yield from _comments(child, indent)
    if _is_short(child, len(indent) + 2) or isinstance(child.value, str):
        yield from _entry("-", Tree(child.value, aside=child.aside, is_flow=child.is_flow), indent)
        return
    lines = list(_block(child, f"{indent}  "))
    first = next(index for index, line in enumerate(lines) if not line.lstrip().startswith("#"))
    yield from (f"{indent}{line[len(indent) + 2 :]}" for line in lines[:first])
    yield f"{indent}- {lines[first][len(indent) + 2 :]}"
    yield from lines[first + 1 :]


def _comments(tree: Tree, indent: str) -> Iterator[str]:
    for comment in tree.comments:
        for line in comment.split("\n"):
            yield f"{indent}# {line}".rstrip()


def _is_short(tree: Tree, column: int) -> bool:
    """Whether a value goes on the line of its key."""
    if not isinstance(tree.value, dict | list) or not tree.value:
        return True
    if not tree.is_flow or any(
        each.comments or each.aside for part in tree.walk() if part is not tree for each in [part]
    ):
        return False
    return column + len(_flow(tree.plain())) < MAX_FLOW_COLUMNS


def _flow(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(name)}: {_flow(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Json) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _is_plain(value):
        return value
    if value.isprintable() and '"' in value and value.strip() == value:
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value, ensure_ascii=not value.isprintable())


def _is_plain(value: str) -> bool:
    if not _PLAIN.fullmatch(value) or value.endswith((" ", ":")) or value.startswith(("---", "...")):
        return False
    resolvers = YamlLoader.yaml_implicit_resolvers
    candidates = [*resolvers.get(value[:1], ()), *resolvers.get(None, ())]
    return not any(tag != _STRING_TAG and pattern.match(value) for tag, pattern in candidates)


def _fits_a_block(text: str) -> bool:
    """Whether nothing is lost when the lines of a text are written below each other."""
    lines = text.split("\n")
    return (
        not text.startswith((" ", "\n"))
        and not any(line != line.rstrip() or not line.isprintable() for line in lines)
        and not text.endswith("\n\n")
    )


def _block_sign(text: str) -> str:
    return "|" if text.endswith("\n") else "|-"

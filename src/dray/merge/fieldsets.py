"""Sets of fields, and their text form FieldsV1.

A set is a frozenset of paths, so union, intersection and difference are Python's own. A path stands for the field
itself, never for what lies below it: who owns an item of a list owns the item's existence, and each of its fields
apart.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from dray.merge.elements import Path, canonical_step, order_of

__all__ = [
    "NO_FIELDS",
    "FieldSet",
    "FieldsFault",
    "Tree",
    "decode_fields",
    "drop_below",
    "encode_fields",
    "grow_tree",
    "list_paths",
]

FieldSet = frozenset[Path]
NO_FIELDS: Final[FieldSet] = frozenset()

_SELF: Final = "."


class FieldsFault(ValueError):
    """A text that is not FieldsV1."""


def drop_below(fields: FieldSet, roots: FieldSet) -> FieldSet:
    """The fields that are neither one of `roots` nor below one."""
    if not roots:
        return fields
    lengths = {len(root) for root in roots}
    return frozenset(path for path in fields if all(path[:length] not in roots for length in lengths))


class Tree:
    """A set of fields arranged by steps, for walking it beside a value."""

    __slots__ = ("branches", "members")

    def __init__(self) -> None:
        self.members: set[str] = set()
        self.branches: dict[str, Tree] = {}


def grow_tree(fields: Iterable[Path]) -> Tree:
    """Arrange a set by steps."""
    root = Tree()
    for path in fields:
        node = root
        for step in path[:-1]:
            below = node.branches.get(step)
            if below is None:
                below = node.branches[step] = Tree()
            node = below
        node.members.add(path[-1])
    return root


def list_paths(fields: FieldSet) -> list[Path]:
    """The paths in the order in which conflicts are listed: at each level first the members, then what is below."""
    return list(_list_below(grow_tree(fields), ()))


def _list_below(tree: Tree, above: Path) -> Iterator[Path]:
    for step in sorted(tree.members, key=order_of):
        yield (*above, step)
    for step in sorted(tree.branches, key=order_of):
        yield from _list_below(tree.branches[step], (*above, step))


def encode_fields(fields: FieldSet) -> dict[str, Any]:
    """Write a set as FieldsV1, sorted as the API server sorts."""
    return _encode_tree(grow_tree(fields), is_member=False)


def _encode_tree(tree: Tree, *, is_member: bool) -> dict[str, Any]:
    written: dict[str, Any] = {_SELF: {}} if is_member else {}
    for step in sorted(tree.members | tree.branches.keys(), key=order_of):
        below = tree.branches.get(step)
        written[step] = {} if below is None else _encode_tree(below, is_member=step in tree.members)
    return written


def decode_fields(text: Any) -> FieldSet:
    """Read FieldsV1. Steps of unknown kinds are left out. Raises `FieldsFault` for what is no FieldsV1."""
    if not isinstance(text, dict):
        raise FieldsFault("not an object")
    paths: list[Path] = []
    _decode_below(text, (), paths)
    return frozenset(paths)


def _decode_below(text: dict[str, Any], above: Path, paths: list[Path]) -> bool:
    """Collect the paths below; whether there were any."""
    before = len(paths)
    for key, content in text.items():
        if key == _SELF:
            continue
        try:
            step = canonical_step(key)
        except ValueError as fault:
            raise FieldsFault(f"parsing key as path element: {fault}") from fault
        if step is None:
            continue
        if not isinstance(content, dict):
            raise FieldsFault(f"{key}: not an object")
        path = (*above, step)
        if not _decode_below(content, path, paths) or _SELF in content:
            paths.append(path)
    return len(paths) > before

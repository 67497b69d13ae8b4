"""Which fields differ between two values of one type."""

from dataclasses import dataclass
from typing import Any, Final

from dray.merge.elements import Path, field_step
from dray.merge.fieldsets import FieldSet, drop_below
from dray.merge.schema import ANYTHING, Anything, ListSchema, ObjectSchema, Schema
from dray.merge.typed import JsonObject, is_granular, is_same, list_steps, resolve

__all__ = ["ABSENT", "Comparison", "compare"]


class _Absent:
    """What stands for a value that is not there; null is a value."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The fields by which a new value differs from an old one; no field is in two of the sets."""

    added: FieldSet
    modified: FieldSet
    removed: FieldSet

    @property
    def changed(self) -> FieldSet:
        """The fields that have a value they did not have before."""
        return self.added | self.modified

    def without(self, roots: FieldSet) -> "Comparison":
        """The same for what is not below `roots`."""
        sets = (self.added, self.modified, self.removed)
        return Comparison(*(drop_below(each, roots) for each in sets)) if roots else self


def compare(schema: Schema, old: Any, new: Any) -> Comparison:
    """Compare two values that fit the schema. Raises `TypeFault` for an item of a list without identity."""
    walk = _Walk()
    walk.visit(schema, old, new, ())
    return Comparison(frozenset(walk.added), frozenset(walk.modified), frozenset(walk.removed))


class _Walk:
    """Collects differing paths. A value that is added or removed counts with everything in it."""

    def __init__(self) -> None:
        self.added: set[Path] = set()
        self.modified: set[Path] = set()
        self.removed: set[Path] = set()

    def visit(self, schema: Schema, old: Any, new: Any, path: Path) -> None:
        if old is ABSENT:
            _note_all(schema, new, path, self.added)
            return
        if new is ABSENT:
            _note_all(schema, old, path, self.removed)
            return
        if is_same(old, new):
            return
        if isinstance(schema, Anything) and _differ_in_kind(old, new):
            self._visit_resolved(resolve(schema, old), old, new, path)
        self._visit_resolved(resolve(schema, old if new is None else new), old, new, path)

    def _visit_resolved(self, schema: Schema, old: Any, new: Any, path: Path) -> None:
        if isinstance(schema, ObjectSchema) and not schema.is_atomic and (_fields(old) or _fields(new)):
            self._visit_fields(schema, _fields(old), _fields(new), path)
        elif isinstance(schema, ListSchema) and is_granular(schema) and (_items(old) or _items(new)):
            self._visit_items(schema, _items(old), _items(new), path)
        else:
            self.modified.add(path)

    def _visit_fields(self, schema: ObjectSchema, old: JsonObject, new: JsonObject, path: Path) -> None:
        for name in (*old, *(each for each in new if each not in old)):
            self.visit(schema.schema_of(name), old.get(name, ABSENT), new.get(name, ABSENT), (*path, field_step(name)))

    def _visit_items(self, schema: ListSchema, old: list[Any], new: list[Any], path: Path) -> None:
        old_by_step = _group(schema, old)
        new_by_step = _group(schema, new)
        for step in (*old_by_step, *(each for each in new_by_step if each not in old_by_step)):
            self._visit_group(schema, old_by_step.get(step, []), new_by_step.get(step, []), (*path, step))

    def _visit_group(self, schema: ListSchema, old: list[Any], new: list[Any], path: Path) -> None:
        """Compare the items of one identity. Items that share it count as one value without parts."""
        if len(old) <= 1 and len(new) <= 1:
            self.visit(schema.item, old[0] if old else ABSENT, new[0] if new else ABSENT, path)
        elif len(old) > 1 and len(new) > 1:
            if not is_same(old, new):
                self.modified.add(path)
        elif len(old) > 1:
            if new:
                _note_all(schema.item, new[0], path, self.added)
            self.removed.add(path)
        else:
            if old:
                _note_all(schema.item, old[0], path, self.removed)
            self.added.add(path)


def _note_all(schema: Schema, value: Any, path: Path, paths: set[Path]) -> None:
    """Collect the path to a value and those to all of its parts. Items that share an identity have none."""
    paths.add(path)
    if not value:
        return
    resolved = resolve(schema, value)
    if isinstance(value, dict):
        if isinstance(resolved, ObjectSchema) and not resolved.is_atomic:
            for name, each in value.items():
                _note_all(resolved.schema_of(name), each, (*path, field_step(name)), paths)
    elif isinstance(value, list) and isinstance(resolved, ListSchema) and is_granular(resolved):
        for step, items in _group(resolved, value).items():
            below = (*path, step)
            if len(items) == 1:
                _note_all(resolved.item, items[0], below, paths)
            else:
                paths.add(below)


def _group(schema: ListSchema, items: list[Any]) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for step, item in zip(list_steps(schema, items), items, strict=True):
        groups.setdefault(step, []).append(item)
    return groups


def _fields(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _differ_in_kind(old: Any, new: Any) -> bool:
    """Whether one of two values of undeclared type is an object, the other a list, say. Null is of every kind."""
    if any(each is ABSENT or each is None for each in (old, new)):
        return False
    return resolve(ANYTHING, old) is not resolve(ANYTHING, new)

"""Laying an applied value over a live one, and taking fields out of a value."""

from collections import deque
from typing import Any

from dray.merge.comparing import ABSENT
from dray.merge.elements import field_step
from dray.merge.fieldsets import FieldSet, Tree, grow_tree
from dray.merge.schema import ListSchema, ObjectSchema, Schema
from dray.merge.typed import JsonObject, is_granular, list_steps, resolve

__all__ = ["merge", "remove_fields"]


def merge(schema: Schema, live: Any, applied: Any) -> Any:
    """Lay `applied` over `live`, both of which fit the schema.

    Nothing is removed. Leaves and atomic values are those of `applied` where it has them.
    """
    if applied is ABSENT:
        return live
    if live is ABSENT:
        return applied
    resolved = resolve(schema, live if applied is None else applied)
    if isinstance(resolved, ObjectSchema) and not resolved.is_atomic and (live or applied):
        return _merge_fields(resolved, _as_object(live), _as_object(applied))
    if isinstance(resolved, ListSchema) and is_granular(resolved) and (live or applied):
        return _merge_items(resolved, live or [], applied or [])
    return applied


def _as_object(value: Any) -> JsonObject:
    """Null, and anything that gives way to an object, has no fields."""
    return value if isinstance(value, dict) else {}


def _merge_fields(schema: ObjectSchema, live: JsonObject, applied: JsonObject) -> JsonObject:
    merged = dict(live)
    for name, each in applied.items():
        merged[name] = merge(schema.schema_of(name), live.get(name, ABSENT), each)
    return merged


def _merge_items(schema: ListSchema, live: list[Any], applied: list[Any]) -> list[Any]:
    """Items of both, told apart by their steps.

    Items that only `live` has keep their place among themselves; those of `applied` follow its order, and stand where
    `live` has them as far as that order allows. A step that `live` has twice is replaced by the applied item.
    """
    live_steps = list_steps(schema, live)
    applied_by_step = dict(zip(list_steps(schema, applied), applied, strict=True))
    live_by_step: dict[str, Any] = {}
    for step, item in zip(live_steps, live, strict=True):
        live_by_step[step] = None if step in live_by_step else item
    merged: list[Any] = []
    for step, place in _interleave(live_steps, list(applied_by_step)):
        if place is None:
            merged.append(merge(schema.item, live_by_step.get(step, ABSENT), applied_by_step[step]))
        else:
            merged.append(live[place])
    return merged


def _interleave(live: list[str], applied: list[str]) -> list[tuple[str, int | None]]:
    """The order of a merged list: each step with its place in `live`, or None where `applied` has it too.

    Before each applied step stand the live-only ones that `live` has up to the next step that both share. Shared steps
    that `live` has earlier than `applied` wants them are passed over.
    """
    wanted, there = set(applied), set(live)
    shared = deque(step for step in applied if step in there)
    order: list[tuple[str, int | None]] = []
    place = 0
    for step in applied:
        while place < len(live) and (live[place] not in wanted or (shared and live[place] != shared[0])):
            if live[place] not in wanted:
                order.append((live[place], place))
            place += 1
        order.append((step, None))
        if place < len(live) and (live[place] == step or not shared):
            place += 1
        if shared and shared[0] == step:
            shared.popleft()
    order.extend((live[left], left) for left in range(place, len(live)) if live[left] not in wanted)
    return order


def remove_fields(schema: Schema, value: Any, fields: FieldSet) -> Any:
    """The value without the fields that the set names, each with all that is in it."""
    return _remove(schema, value, grow_tree(fields))


def _remove(schema: Schema, value: Any, doomed: Tree) -> Any:
    """What is left of a value of which something is to go. Null where nothing is left, or nothing can be told apart."""
    resolved = resolve(schema, value)
    if isinstance(resolved, ObjectSchema):
        return (_remove_members(resolved, value, doomed) if value and not resolved.is_atomic else None) or None
    if isinstance(resolved, ListSchema):
        return (_remove_items(resolved, value, doomed) if value and is_granular(resolved) else None) or None
    return value


def _remove_members(schema: ObjectSchema, value: JsonObject, doomed: Tree) -> JsonObject:
    left: JsonObject = {}
    for name, each in value.items():
        step = field_step(name)
        if step not in doomed.members:
            below = doomed.branches.get(step)
            left[name] = each if below is None else _remove(schema.schema_of(name), each, below)
    return left


def _remove_items(schema: ListSchema, items: list[Any], doomed: Tree) -> list[Any]:
    left: list[Any] = []
    for step, item in zip(list_steps(schema, items), items, strict=True):
        if step not in doomed.members:
            below = doomed.branches.get(step)
            left.append(item if below is None else _remove(schema.item, item, below))
    return left

"""One object twice in the input: pods were meant to be two, of anything else one is enough."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dray.authoring.drafts import Draft

__all__ = ["part_doubles"]

_NUMBERED = re.compile(r"(.*?)(\d+)")


def part_doubles(drafts: Sequence[Draft]) -> None:
    """Give each pod a name of its own, and drop what is there already word by word."""
    seen: dict[tuple[str, str, str, str], Draft] = {}
    for draft in drafts:
        key = (draft.group, draft.kind, draft.namespace, draft.name)
        first = seen.setdefault(key, draft)
        if first is draft or not draft.name or draft.is_dropped:
            continue
        if draft.kind == "Pod":
            name = _next_name(draft.name, {each.name for each in drafts})
            part = draft.tree.open("metadata").fields["name"]
            former, part.value = draft.name, name
            message = f"was {former}, of which there is one already; two pods were meant"
            draft.fault("duplicate-object", part, message, hint=f"name: {name}")
            seen[draft.group, draft.kind, draft.namespace, name] = draft
        elif draft.tree.json() == first.tree.json():
            draft.is_dropped = True
            draft.change(draft.tree, f"{draft.title} stands above already")


def _next_name(name: str, taken: set[str]) -> str:
    match = _NUMBERED.fullmatch(name)
    stem, number = (match[1], int(match[2]) + 1) if match else (f"{name}-", 2)
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"

"""JSON merge patches (RFC 7386): objects merge, null removes, everything else is replaced."""

from typing import Any

from dray.errors import BadRequest
from dray.merge.documents import PatchText, read_object
from dray.merge.faults import refusing_depth
from dray.merge.typed import JsonObject, is_same

__all__ = ["apply_merge_patch", "create_merge_patch", "decode_merge_patch"]


def decode_merge_patch(text: bytes) -> PatchText:
    """Read a merge patch. Raises BadRequest for what is no object."""
    read = read_object(text)
    if read.value is None:
        raise BadRequest("Invalid JSON Patch")
    return read


@refusing_depth
def apply_merge_patch(document: JsonObject, patch: JsonObject) -> JsonObject:
    """The patched document. Objects that the patch reaches come out sorted by name, as in error texts."""
    return _merge(document, patch)


def _merge(document: JsonObject, patch: JsonObject) -> JsonObject:
    merged = dict(document)
    for name, change in patch.items():
        current = merged.get(name)
        if change is None:
            merged.pop(name, None)
        elif isinstance(current, dict) and isinstance(change, dict):
            merged[name] = _merge(current, change)
        else:
            merged[name] = _without_nulls(change)
    return dict(sorted(merged.items()))


def _without_nulls(value: Any) -> Any:
    """What a patch sets where there was nothing to merge with. A null in a list is a value."""
    if isinstance(value, dict):
        return {name: _without_nulls(value[name]) for name in sorted(value) if value[name] is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def create_merge_patch(original: JsonObject, modified: JsonObject) -> JsonObject:
    """The smallest patch that turns `original` into `modified`, whose objects must hold no null."""
    patch: JsonObject = {name: None for name in original if name not in modified}
    for name, each in modified.items():
        current = original.get(name)
        if isinstance(current, dict) and isinstance(each, dict):
            below = create_merge_patch(current, each)
            if below:
                patch[name] = below
        elif name not in original or not is_same(current, each):
            patch[name] = each
    return patch

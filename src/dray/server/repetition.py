"""What a client says twice, or says with nothing: owner references given again, and lists of owners that are empty."""

import re
from typing import Final, TypeVar

from msgspec.structs import replace

from dray.api.meta import ApiObject, OwnerReference
from dray.merge.typed import JsonObject

__all__ = ["disown", "drop_repeated_owners", "mark_disowned"]

K = TypeVar("K", bound=ApiObject)

_EMPTY: Final = re.compile(rb'("managedFields"\s*:\s*)\[\s*\]')
_ADVICE: Final = (
    "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your "
    "requests; duplicate UID(s) observed: "
)


def drop_repeated_owners(thing: K, warnings: list[str], when: str = "") -> K:
    """The object with each owner reference once; the client is told which were there again."""
    references = thing.metadata.owner_references
    if len(references) < 2:
        return thing
    kept: list[OwnerReference] = []
    again: list[str] = []
    for each in references:
        if each in kept:
            again.append(each.uid)
        else:
            kept.append(each)
    if not again:
        return thing
    warnings.append(f".metadata.ownerReferences contains duplicate entries{when}; {_ADVICE}{', '.join(again)}")
    return replace(thing, metadata=replace(thing.metadata, owner_references=tuple(kept)))


def mark_disowned(text: bytes) -> bytes:
    """A text with `managedFields: []`, which forgets all owners, in the other spelling that means it: `[{}]`.

    Once decoded, an empty list is nothing, which leaves owners as they are.
    """
    return _EMPTY.sub(rb"\1[{}]", text) if b"managedFields" in text else text


def disown(patched: JsonObject) -> None:
    """The same for an object that was patched."""
    metadata = patched.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") == []:
        metadata["managedFields"] = [{}]

"""Objects on their way into the store: as bytes, with the place where the store writes the revision."""

from typing import Final

from msgspec.structs import replace

from dray.api.meta import ApiObject
from dray.errors import InternalError
from dray.server.endpoints import StoredForm
from dray.store.port import ABSENT, Key, Put

__all__ = ["encode_put"]

_MARK: Final = b'"resourceVersion":"0"'
"""Fields are written in order, and nothing before this one can hold an unescaped quote: its first place is its own."""
_TO_DIGIT: Final = len(_MARK) - 2


def encode_put(form: StoredForm, thing: ApiObject, key: Key, expect: int = ABSENT) -> Put:
    """The write that creates an object or replaces the state at a revision."""
    body = form.encode(replace(thing, metadata=replace(thing.metadata, resource_version="0")))
    at = body.find(_MARK)
    if at < 0:
        raise InternalError(f"{key} is encoded without a resourceVersion")
    at += _TO_DIGIT
    return Put(key, body[:at] + body[at + 1 :], expect, at)

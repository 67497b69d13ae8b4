"""When two values of the API mean the same.

Structs compare field by field, quantities by value, times by instant, and absent lists equal empty ones; `==` knows all
that. Only raw JSON it compares byte by byte, although spaces and the order of keys mean nothing.
"""

from collections.abc import Mapping

import msgspec

__all__ = ["is_same"]


def is_same(one: object, other: object) -> bool:
    """Whether two Structs, or parts of them, mean the same."""
    if one == other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, msgspec.Raw) and isinstance(other, msgspec.Raw):
        return _parse(one) == _parse(other)
    if isinstance(one, msgspec.Struct):
        return all(is_same(getattr(one, name), getattr(other, name)) for name in one.__struct_fields__)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return False


def _parse(raw: msgspec.Raw) -> object:
    """What raw JSON says; its bytes where it says nothing that can be parsed."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return bytes(raw)

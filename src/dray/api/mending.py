"""The slow way into a type: for texts that the fast decoder refuses.

The API server takes null as absent everywhere, and names the first value of a wrong type by Go's words. Neither is what
msgspec does, so a text that it refuses is walked here along the shape of its type: nulls fall out, a value of the wrong
kind raises. Everything else, raw JSON above all, stays byte for byte what it was.
"""

import re

import msgspec

from dray.api.jsonsyntax import name_json_kind
from dray.api.shapes import (
    CustomShape,
    ListShape,
    MapShape,
    NumberOrTextShape,
    ObjectShape,
    RawShape,
    ScalarShape,
    Shape,
)
from dray.values.quantity import Quantity, QuantityError, decode_quantity
from dray.values.times import MicroTime, Time, TimeError, parse_micro_time, parse_time

__all__ = ["ValueFault", "decode_custom", "mend"]

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ZEROS: dict[str, bytes] = {"string": b'""', "[]uint8": b'""', "bool": b"false"}
_BYTES = ScalarShape("[]uint8")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")
_KINDS = {"string": "string", "[]uint8": "string", "bool": "bool"}
"""The kind of JSON value that is not a number."""
_BOUNDS = {"int32": 2**31, "int64": 2**63}


class ValueFault(ValueError):
    """A value that its field cannot hold; the message is the API server's."""


def decode_custom(target: type, value: object) -> object:
    """Make a value that has a text form of its own from what stands in the JSON.

    Raises ValueError with the API server's words; those for a wrong kind of value are left to `mend`.
    """
    if target is Quantity:
        if isinstance(value, str | float) or (isinstance(value, int) and not isinstance(value, bool)):
            return decode_quantity(value)
    elif isinstance(value, str):
        if target is Time:
            return parse_time(value)
        if target is MicroTime:
            return parse_micro_time(value)
    raise ValueFault(f"cannot unmarshal {value!r} into {target.__name__}")


def mend(shape: ObjectShape, text: bytes) -> bytes:
    """The same JSON object without nulls. Raises `ValueFault` for the first value of a wrong type."""
    walk = _Walk()
    mended = walk.value(shape, text)
    if walk.first_fault is not None:
        raise ValueFault(walk.first_fault)
    return mended


class _Walk:
    """Goes through a document in its order. Go notes the first mismatch and reads on; a bad custom value stops it."""

    def __init__(self) -> None:
        self.first_fault: str | None = None
        self._path: list[str] = []
        self._owner = ""

    def value(self, shape: Shape, text: bytes) -> bytes:
        """The mended text of one value, which is not null."""
        kind = name_json_kind(text)
        if isinstance(shape, RawShape):
            return text
        if isinstance(shape, CustomShape):
            return self._custom(shape, kind, text)
        if isinstance(shape, ObjectShape) and kind == "object":
            return self._object(shape, text)
        if isinstance(shape, MapShape) and kind == "object":
            return _join_object({key: self._element(shape.value, each) for key, each in _OBJECT.decode(text).items()})
        if isinstance(shape, ListShape) and kind == "array":
            return b"[" + b",".join(self._element(shape.item, bytes(each)) for each in _ARRAY.decode(text)) + b"]"
        return self._scalar(shape, kind, text)

    def _object(self, shape: ObjectShape, text: bytes) -> bytes:
        members: dict[str, bytes] = {}
        owner = self._owner
        for key, raw in _OBJECT.decode(text).items():
            declared = shape.fields.get(key)
            child = bytes(raw)
            if declared is None or child == b"null":
                continue
            self._owner = shape.name
            self._path.append(key)
            members[key] = self.value(declared.shape, child)
            self._path.pop()
        self._owner = owner
        return _join_object(members)

    def _element(self, shape: Shape, text: msgspec.Raw | bytes) -> bytes:
        """A list item or map value; null becomes the zero value there."""
        text = bytes(text)
        return _zero(shape) if text == b"null" else self.value(shape, text)

    def _scalar(self, shape: Shape, kind: str, text: bytes) -> bytes:
        if shape == _BYTES and kind == "string":
            return _mend_base64(msgspec.json.decode(text, type=str))
        if not _fits(shape, kind, text):
            wanted = _type_name(shape)
            self._note(f"number {text.decode()}" if kind == "number" and wanted in _BOUNDS else kind, wanted)
        return text

    def _custom(self, shape: CustomShape, kind: str, text: bytes) -> bytes:
        if shape.type is Quantity:
            try:
                decode_quantity(msgspec.json.decode(text) if kind in ("string", "number") else text.decode())
            except QuantityError as fault:
                raise ValueFault(str(fault)) from fault
        elif kind != "string":
            self._note(kind, "string")
        else:
            try:
                decode_custom(shape.type, msgspec.json.decode(text))
            except TimeError as fault:
                raise ValueFault(str(fault)) from fault
        return text

    def _note(self, found: str, wanted: str) -> None:
        if self.first_fault is None:
            field = f"{self._owner}.{'.'.join(self._path)}"
            self.first_fault = f"json: cannot unmarshal {found} into Go struct field {field} of type {wanted}"


def _fits(shape: Shape, kind: str, text: bytes) -> bool:
    if isinstance(shape, NumberOrTextShape):
        return kind == "string" or (kind == "number" and _is_within(text, _BOUNDS["int32"]))
    if not isinstance(shape, ScalarShape):
        return False
    if shape.type_name in _KINDS:
        return kind == _KINDS[shape.type_name]
    bound = _BOUNDS.get(shape.type_name)
    return kind == "number" and (bound is None or _is_within(text, bound))


def _is_within(number: bytes, bound: int) -> bool:
    try:
        return -bound <= int(number) < bound
    except ValueError:  # a fraction or an exponent, or thousands of digits
        return False


def _type_name(shape: Shape) -> str:
    """Go's word for a type; all types of the API are in a package `v1`."""
    if isinstance(shape, ScalarShape):
        return shape.type_name
    if isinstance(shape, ObjectShape):
        return f"v1.{shape.name}"
    if isinstance(shape, ListShape):
        return f"[]{_type_name(shape.item)}"
    if isinstance(shape, MapShape):
        return f"map[string]{_type_name(shape.value)}"
    return f"v1.{shape.type.__name__}" if isinstance(shape, CustomShape) else "int32"


def _mend_base64(text: str) -> bytes:
    """The same without line breaks, which Go reads over. Raises `ValueFault` for what is no base64."""
    text = text.replace("\r", "").replace("\n", "")
    match = _BASE64.match(text)
    end = match.end() if match else 0
    if end < len(text):
        stray = _NOT_BASE64.search(text, end)
        raise ValueFault(f"illegal base64 data at input byte {stray.start() if stray else end}")
    return msgspec.json.encode(text)


def _zero(shape: Shape) -> bytes:
    if isinstance(shape, ScalarShape):
        return _ZEROS.get(shape.type_name, b"0")
    if isinstance(shape, ObjectShape | MapShape):
        return b"{}"
    if isinstance(shape, ListShape):
        return b"[]"
    return b"0" if isinstance(shape, NumberOrTextShape | CustomShape) else b"null"


def _join_object(members: dict[str, bytes]) -> bytes:
    return b"{" + b",".join(msgspec.json.encode(key) + b":" + text for key, text in members.items()) + b"}"

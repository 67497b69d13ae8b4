"""The slow way into a type: for texts that the fast decoder refuses.

The API server takes null as absent everywhere, and names the first value of a wrong type by Go's words. Neither is what
msgspec does, so a text that it refuses is walked here along the shape of its type: nulls fall out, values of a wrong
kind are noted, all of them, in plain words beside the server's. Everything else, raw JSON above all, stays byte for
byte what it was.
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
from dray.errors import FieldError, FieldReason, render_value
from dray.values.fieldpath import ROOT, FieldPath, MapKey, key
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


_PLAIN_KINDS = {"string": "text", "bool": "true or false", "object": "a map", "array": "a list", "number": "a number"}


class ValueFault(ValueError):
    """Values that their fields cannot hold. The message is the API server's, about one; `faults` has every one."""

    def __init__(self, message: str, faults: tuple[FieldError, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults


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
    """The same JSON object without nulls. Raises `ValueFault` if there are values of a wrong type."""
    walk = _Walk()
    mended = walk.value(shape, text)
    if walk.message is not None:
        raise ValueFault(walk.message, tuple(walk.faults))
    return mended


class _Walk:
    """Goes through a document in its order and notes what is wrong with it.

    Of that, Go tells one thing: the first mismatch, or the first text that is no quantity or time, at which it stops.
    """

    def __init__(self) -> None:
        self.faults: list[FieldError] = []
        self._mismatch: str | None = None
        self._stop: str | None = None
        self._trail: list[str | int | MapKey] = []
        self._owner = ""

    @property
    def message(self) -> str | None:
        """What the API server would say."""
        return self._stop or self._mismatch

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
            entries = _OBJECT.decode(text).items()
            return _join_object({name: self._element(shape.value, key(name), each) for name, each in entries})
        if isinstance(shape, ListShape) and kind == "array":
            items = enumerate(_ARRAY.decode(text))
            return b"[" + b",".join(self._element(shape.item, index, each) for index, each in items) + b"]"
        return self._scalar(shape, kind, text)

    def _object(self, shape: ObjectShape, text: bytes) -> bytes:
        members: dict[str, bytes] = {}
        owner = self._owner
        for name, raw in _OBJECT.decode(text).items():
            declared = shape.fields.get(name)
            child = bytes(raw)
            if declared is None or child == b"null":
                continue
            self._owner = shape.name
            self._trail.append(name)
            members[name] = self.value(declared.shape, child)
            self._trail.pop()
        self._owner = owner
        return _join_object(members)

    def _element(self, shape: Shape, place: int | MapKey, raw: msgspec.Raw) -> bytes:
        """A list item or map value; null becomes the zero value there."""
        text = bytes(raw)
        if text == b"null":
            return _zero(shape)
        self._trail.append(place)
        mended = self.value(shape, text)
        self._trail.pop()
        return mended

    def _scalar(self, shape: Shape, kind: str, text: bytes) -> bytes:
        if shape == _BYTES and kind == "string":
            return self._base64(text)
        if not _fits(shape, kind, text):
            wanted = _type_name(shape)
            found = f"number {text.decode()}" if kind == "number" and wanted in _BOUNDS else kind
            is_too_large = found != kind and text.lstrip(b"-").isdigit()
            wish = f"a whole number of {wanted.removeprefix('int')} bits" if is_too_large else _plain_wish(shape)
            self._note_mismatch(found, wanted, wish)
        return text

    def _custom(self, shape: CustomShape, kind: str, text: bytes) -> bytes:
        try:
            if shape.type is Quantity:
                decode_quantity(msgspec.json.decode(text) if kind in ("string", "number") else text.decode())
            elif kind == "string":
                decode_custom(shape.type, msgspec.json.decode(text))
            else:
                self._note_mismatch(kind, "string", "a time")
        except QuantityError as fault:
            self._note_stop(str(fault), text, "a quantity such as 2, 500m or 16Gi")
        except TimeError as fault:
            self._note_stop(str(fault), text, "a time such as 2026-01-01T00:00:00Z")
        return text

    def _base64(self, text: bytes) -> bytes:
        """The same without line breaks, which Go reads over."""
        content = msgspec.json.decode(text, type=str).replace("\r", "").replace("\n", "")
        match = _BASE64.match(content)
        end = match.end() if match else 0
        if end < len(content):
            stray = _NOT_BASE64.search(content, end)
            fault = f"illegal base64 data at input byte {stray.start() if stray else end}"
            self._note_stop(fault, text, "base64, such as `base64` prints")
        return msgspec.json.encode(content)

    def _note_mismatch(self, found: str, wanted: str, wish: str) -> None:
        if self._mismatch is None:
            field = f"{self._owner}.{'.'.join(each for each in self._trail if isinstance(each, str))}"
            self._mismatch = f"json: cannot unmarshal {found} into Go struct field {field} of type {wanted}"
        kind, _, number = found.partition(" ")
        detail = f"must be {wish}, not {number or _PLAIN_KINDS[kind]}"
        # YAML takes yes, no, on, off, 1e3 and 010 for something else than text.
        hint = "put it in quotes" if wish == "text" and kind in ("bool", "number") else None
        self.faults.append(FieldError(FieldReason.TYPE_INVALID, self._path(), detail, hint=hint))

    def _note_stop(self, message: str, text: bytes, wish: str) -> None:
        if self._stop is None:
            self._stop = message
        value = render_value(msgspec.json.decode(text))
        self.faults.append(FieldError(FieldReason.TYPE_INVALID, self._path(), f"must be {wish}", value))

    def _path(self) -> FieldPath:
        path = ROOT
        for segment in self._trail:
            path /= segment
        return path


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


def _plain_wish(shape: Shape) -> str:
    """What a field holds, in words that need no Go."""
    if isinstance(shape, NumberOrTextShape):
        return "a number or text"
    if isinstance(shape, ScalarShape):
        kind = _KINDS.get(shape.type_name)
        return _PLAIN_KINDS[kind] if kind else "a whole number" if shape.type_name in _BOUNDS else "a number"
    return "a list" if isinstance(shape, ListShape) else "a map"


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

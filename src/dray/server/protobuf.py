"""Request bodies in protobuf, as kubectl sends them from 1.32 on: turned into JSON text.

Which message has which fields is data: `protobuf_fields.json`, written by `tools/derive_protobuf_fields.py`. Writers
send zeros for most fields that are absent. Whether a zero means that is left to the Struct that the JSON is decoded
into: its defaults are the zeros wherever it does, and None where Kubernetes has a pointer.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

import msgspec

from dray.api.codec import summarise_body
from dray.api.jsonsyntax import explain_json_syntax
from dray.errors import BadRequest, ObjectRef
from dray.values.protowire import WireError, WireType, read_fields, read_varints, to_int32, to_int64
from dray.values.times import MicroTime, Time

__all__ = ["PROTOBUF", "decode_protobuf"]

PROTOBUF: Final = "application/vnd.kubernetes.protobuf"

MAX_FIELDS: Final = 200_000
"""Fields read from one body: twenty times those of the largest ResourceSlice, and half a second of work. Bodies within
the limit of size could have ten times as many, all empty."""

_PREFIX: Final = b"k8s\0"
_TYPE_META, _RAW = 1, 2

Value = int | bytes
JsonObject = dict[str, object]


class _Envelope(NamedTuple):
    api_version: str
    kind: str
    raw: bytes


class _Field(NamedTuple):
    name: str
    """Empty: the fields of the value stand beside this one."""
    type: str
    container: str
    """`[]`, `{}` or nothing."""

    @property
    def wire_types(self) -> tuple[WireType, ...]:
        if not self.container and self.type in _NUMBERS:
            return (WireType.VARINT,)
        # A list of numbers may come packed.
        return (WireType.BYTES, WireType.VARINT) if self.type in _NUMBERS else (WireType.BYTES,)


class _Schema(msgspec.Struct):
    """The data file."""

    kinds: dict[str, dict[str, str]]
    messages: dict[str, dict[str, tuple[str, str]]]

    def find_message(self, api_version: str, kind: str) -> str | None:
        """The message of a kind; some kinds are the same in every version."""
        return self.kinds.get(api_version, {}).get(kind) or self.kinds[""].get(kind)


@cache
def _schema() -> _Schema:
    return msgspec.json.decode(files("dray.server").joinpath("protobuf_fields.json").read_bytes(), type=_Schema)


@cache
def _fields_of(message: str) -> Mapping[int, _Field]:
    found: dict[int, _Field] = {}
    for number, (name, type_name) in _schema().messages[message].items():
        container = type_name[:2] if type_name.startswith(("[]", "{}")) else ""
        found[int(number)] = _Field(name, type_name.removeprefix(container), container)
    return found


def decode_protobuf(body: bytes, expected: str = "object") -> bytes:
    """The object in an envelope, as JSON text. Raises BadRequest.

    Of an object of an unknown kind only the kind is told, so that decoding the JSON can say which was `expected`.
    """
    try:
        envelope = _open(body)
    except WireError as fault:
        message = f"the object provided is unrecognized (must be of type {expected}): {fault} ({summarise_body(body)})"
        raise BadRequest(message, ObjectRef(kind=expected)) from fault
    named: JsonObject = {"kind": envelope.kind, "apiVersion": envelope.api_version}
    message_name = _schema().find_message(envelope.api_version, envelope.kind)
    if message_name is None:
        return msgspec.json.encode(named)
    try:
        return msgspec.json.encode(named | _Reading().message(message_name, envelope.raw))
    except WireError as fault:
        version = envelope.api_version.rpartition("/")[2]
        wanted = envelope.kind if expected == "object" else expected
        message = f'{envelope.kind} in version "{version}" cannot be handled as a {wanted}: {fault}'
        raise BadRequest(message, ObjectRef(kind=expected)) from fault


def _open(body: bytes) -> _Envelope:
    if not body:
        raise WireError("empty data")
    if not body.startswith(_PREFIX):
        shown = " ".join(map(str, _PREFIX))
        raise WireError(f"provided data does not appear to be a protobuf message, expected prefix [{shown}]")
    if len(body) == len(_PREFIX):
        raise WireError("empty body")
    envelope = _last_values(body[len(_PREFIX) :])
    named = _last_values(_bytes(envelope.get(_TYPE_META, b"")))
    return _Envelope(_text(named.get(1, b"")), _text(named.get(2, b"")), _bytes(envelope.get(_RAW, b"")))


class _Reading:
    """Reads one body, and counts what it reads."""

    def __init__(self) -> None:
        self._left = MAX_FIELDS

    def message(self, name: str, encoded: bytes) -> JsonObject:
        """An object, with the fields that are known and present."""
        fields = _fields_of(name)
        found: dict[int, list[Value]] = {}
        for number, wire_type, value in read_fields(encoded):
            self._left -= 1
            if self._left < 0:
                raise WireError(f"more than {MAX_FIELDS} fields")
            field = fields.get(number)
            if field is None:
                continue
            if wire_type not in field.wire_types:
                shown = (field.name or field.type)[:1].upper() + (field.name or field.type)[1:]
                raise WireError(f"proto: wrong wireType = {wire_type.value} for field {shown}")
            found.setdefault(number, []).append(value)
        read: JsonObject = {}
        for number, values in found.items():
            field = fields[number]
            if not field.name:
                read |= self.message(field.type, _join(values))
            elif (decoded := self._field(field, values)) is not None:
                read[field.name] = decoded
        return read

    def _field(self, field: _Field, values: Sequence[Value]) -> object:
        if field.container == "{}":
            return dict(self._entry(field.type, _bytes(value)) for value in values)
        if field.container == "[]":
            if field.type in _NUMBERS:
                values = [number for value in values for number in _unpack(value)]
            return [self._value(field.type, [value]) for value in values]
        return self._value(field.type, values)

    def _entry(self, type_name: str, encoded: bytes) -> tuple[str, object]:
        entry = _last_values(encoded)
        self._left -= len(entry)
        return _text(entry.get(1, b"")), self._value(type_name, [entry.get(2, b"")])

    def _value(self, type_name: str, occurrences: Sequence[Value]) -> object:
        """One value. Of scalars the last occurrence counts; those of a message add up."""
        if (number := _NUMBERS.get(type_name)) is not None:
            return number(_integer(occurrences[-1]))
        if (scalar := _SCALARS.get(type_name)) is not None:
            return scalar(_bytes(occurrences[-1]))
        joined = _join(occurrences)
        if (form := _FORMS.get(type_name)) is not None:
            return form(joined)
        return self.message(type_name, joined)


def _join(occurrences: Sequence[Value]) -> bytes:
    return b"".join(map(_bytes, occurrences))


def _unpack(value: Value) -> Iterable[int]:
    return read_varints(value) if isinstance(value, bytes) else (value,)


def _last_values(encoded: bytes) -> dict[int, Value]:
    return {each.number: each.value for each in read_fields(encoded)}


def _integer(value: Value) -> int:
    if isinstance(value, bytes):
        raise WireError("proto: wrong wireType = 2 for a number")
    return value


def _bytes(value: Value) -> bytes:
    if isinstance(value, int):
        raise WireError("proto: wrong wireType = 0 for bytes")
    return value


def _text(value: Value) -> str:
    return _bytes(value).decode(errors="replace")


def _time(encoded: bytes) -> str | None:
    parts = _last_values(encoded)
    return str(Time(to_int64(_integer(parts.get(1, 0))))) if parts else None


def _micro_time(encoded: bytes) -> str | None:
    parts = _last_values(encoded)
    if not parts:
        return None
    seconds, nanoseconds = to_int64(_integer(parts.get(1, 0))), to_int32(_integer(parts.get(2, 0)))
    return str(MicroTime(seconds * 1_000_000 + nanoseconds // 1000))


def _quantity(encoded: bytes) -> str:
    return _text(_last_values(encoded).get(1, b"")) or "0"


def _int_or_string(encoded: bytes) -> int | str:
    parts = _last_values(encoded)
    if _integer(parts.get(1, 0)):
        return _text(parts.get(3, b""))
    return to_int32(_integer(parts.get(2, 0)))


def _json(encoded: bytes) -> msgspec.Raw | None:
    raw = _text(_last_values(encoded).get(1, b"")).encode()
    if not raw:
        return None
    try:
        msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as fault:
        detail = explain_json_syntax(raw) or str(fault)
        raise WireError(f"json: error calling MarshalJSON for type runtime.RawExtension: {detail}") from fault
    return msgspec.Raw(raw)


def _strings(encoded: bytes) -> list[str]:
    return [_text(each.value) for each in read_fields(encoded) if each.number == 1]


_NUMBERS: Final[Mapping[str, Callable[[int], int]]] = {"int32": to_int32, "int64": to_int64, "bool": bool}
_SCALARS: Final[Mapping[str, Callable[[bytes], object]]] = {"string": _text, "bytes": bytes}
_FORMS: Final[Mapping[str, Callable[[bytes], object]]] = {
    "time": _time,
    "micro-time": _micro_time,
    "quantity": _quantity,
    "int-or-string": _int_or_string,
    "json": _json,
    "strings": _strings,
}
"""Messages that are no object in JSON."""

"""Bytes to Structs and back, in every version that a kind is served in.

Texts of the declared version go straight through msgspec. An older version has shapes of its own, derived from the
declared ones; its texts are decoded through those, upgraded as plain JSON and decoded again. What the fast way refuses
gets a second chance and an explanation in `mending`; what strict decoding refuses is found in `strict`.
"""

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Any, Generic, NamedTuple, TypeVar, cast

import msgspec

from dray.api.jsonsyntax import TOO_DEEP, explain_json_syntax, name_json_kind
from dray.api.kind import Kind, Upgrade
from dray.api.mending import ValueFault, decode_custom, mend
from dray.api.meta import ApiObject, ListMeta
from dray.api.scheme import is_known_kind
from dray.api.shapes import get_shape, reshape
from dray.api.strict import StrictFault, StrictReader
from dray.api.struct import ApiStruct, always
from dray.errors import BadRequest, FieldError, ObjectRef

__all__ = [
    "ApiList",
    "Codec",
    "TypeMeta",
    "decode",
    "decode_list",
    "encode",
    "encode_list",
    "encode_value",
    "find_strict_faults",
    "get_codec",
    "read_type_meta",
    "summarise_body",
]

K = TypeVar("K", bound=ApiObject)

_ENCODER = msgspec.json.Encoder(enc_hook=str)
_SCHEME = "pkg/api/legacyscheme/scheme.go:30"
"""What the API server calls its table of kinds in messages."""
_GO_TYPE_META = (
    'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


def encode_value(value: ApiStruct) -> bytes:
    """Write a value that is no object of a kind: a Status, a table, a list of groups."""
    return _ENCODER.encode(value)


class ApiList(ApiStruct, Generic[K]):
    """Objects of one kind, as a list request returns them: without `kind` and `apiVersion` of their own."""

    kind: str = ""
    api_version: str = ""
    metadata: ListMeta = always(ListMeta)
    items: tuple[K, ...] = always(lambda: ())


class _RawList(msgspec.Struct, rename="camel"):
    """A list whose objects are read one by one."""

    kind: str = ""
    api_version: str = ""
    metadata: ListMeta | None = None
    items: tuple[msgspec.Raw, ...] | None = None


class _RawTypeMeta(msgspec.Struct, rename="camel"):
    """What a text says it is."""

    api_version: object = None
    kind: object = None


class TypeMeta(NamedTuple):
    """What a text says it is; nothing counts as empty. `fault`: why it says nothing, as Go has it."""

    api_version: str
    kind: str
    fault: str = ""


def read_type_meta(text: bytes) -> TypeMeta:
    """What any JSON text, without blanks around it, says it is."""
    if not text.startswith(b"{"):
        return TypeMeta("", "", f"json: cannot unmarshal {name_json_kind(text)} into {_GO_TYPE_META}")
    meta = msgspec.json.decode(text, type=_RawTypeMeta)
    for name, value in (("apiVersion", meta.api_version), ("kind", meta.kind)):
        if value is not None and not isinstance(value, str):
            found = name_json_kind(msgspec.json.encode(value))
            return TypeMeta("", "", f"json: cannot unmarshal {found} into Go struct field .{name} of type string")
    return TypeMeta(str(meta.api_version or ""), str(meta.kind or ""))


class Codec(Generic[K]):
    """Reads and writes one kind in one version."""

    def __init__(self, kind: Kind[K], version: str) -> None:
        served = kind.find_version(version)
        if served is None:
            raise ValueError(f"{kind.name} is not served in version {version!r}")
        self._kind = kind
        self._version = version
        self._upgrade: Upgrade | None = served.upgrade
        self._api_version = kind.api_version(version)
        self._declared_api_version = kind.api_version(kind.declared_version)
        self._about = ObjectRef(group=kind.group, kind=kind.name, resource=kind.plural)
        self._decoder: msgspec.json.Decoder[K] = msgspec.json.Decoder(kind.struct, dec_hook=decode_custom)

    @cached_property
    def wire_struct(self) -> type[ApiObject]:
        """The Struct with the shape of this version."""
        return reshape(self._kind.struct, self._upgrade.replaced) if self._upgrade else self._kind.struct

    @cached_property
    def _wire_decoder(self) -> msgspec.json.Decoder[Any]:
        return msgspec.json.Decoder(self.wire_struct, dec_hook=decode_custom) if self._upgrade else self._decoder

    @cached_property
    def _strict_reader(self) -> StrictReader:
        return StrictReader(self.wire_struct)

    @cached_property
    def _list_decoder(self) -> msgspec.json.Decoder[Any]:
        specialised = cast("Any", ApiList)[self.wire_struct]  # at run time, which no checker can follow
        return msgspec.json.Decoder(specialised, dec_hook=decode_custom)

    def decode(self, text: bytes, *, strict: bool = False) -> K:
        """Read one object. Raises BadRequest, in the API server's words, for what cannot be one.

        A missing `kind` or `apiVersion` is taken for granted. In strict mode unknown and repeated fields are refused.
        """
        try:
            return self._decode(text, strict=strict)
        except RecursionError as fault:
            raise self._explain_syntax(text, TOO_DEEP) from fault

    def _decode(self, text: bytes, *, strict: bool) -> K:
        thing = self._decode_wire(text)
        if thing.api_version not in ("", self._api_version) or thing.kind not in ("", self._kind.name):
            raise self._refuse_other_type(text, (thing.api_version, thing.kind), strict=strict)
        if strict and (faults := self._strict_reader.find_faults(text)):
            raise self.refuse_strictly(map(str, faults))
        return self._declare(thing)

    def find_strict_faults(self, text: bytes) -> list[StrictFault]:
        """The unknown and repeated fields of a text that `decode` takes, in its order."""
        return self._strict_reader.find_faults(text)

    def refuse_strictly(self, faults: Iterable[str]) -> BadRequest:
        """The error for what strict decoding does not take."""
        return self._refuse(f"strict decoding error: {', '.join(faults)}")

    def encode(self, thing: K) -> bytes:
        """Write one object, with the kind and the version it is written in."""
        if self._upgrade is None:
            if thing.api_version != self._api_version or thing.kind != self._kind.name:
                thing = msgspec.structs.replace(thing, api_version=self._api_version, kind=self._kind.name)
            return _ENCODER.encode(thing)
        named = {"kind": self._kind.name, "apiVersion": self._api_version}
        return _ENCODER.encode(named | self._downgrade(thing, self._upgrade) | named)

    def encode_list(self, things: Iterable[K], metadata: ListMeta) -> bytes:
        """Write a list of objects."""
        items: list[object] = []
        for thing in things:
            bare = msgspec.structs.replace(thing, api_version="", kind="")
            items.append(self._downgrade(bare, self._upgrade) if self._upgrade else bare)
        kind = f"{self._kind.name}List"
        return _ENCODER.encode({"kind": kind, "apiVersion": self._api_version, "metadata": metadata, "items": items})

    def decode_list(self, text: bytes) -> ApiList[K]:
        """Read a list of objects, as the API server writes them."""
        try:
            listed: ApiList[Any] = self._list_decoder.decode(text)
        except msgspec.ValidationError:
            listed = self._decode_list_slowly(text)
        except msgspec.DecodeError as fault:
            raise BadRequest(f"{self._kind.name}List: {fault}") from fault
        items = tuple(self._declare(each) for each in listed.items)
        return msgspec.structs.replace(listed, items=items)

    def _decode_list_slowly(self, text: bytes) -> ApiList[Any]:
        """One object after the other: servers write null for what is empty, as the rules of a role."""
        try:
            listed = msgspec.json.decode(text, type=_RawList)
        except msgspec.ValidationError as fault:
            raise BadRequest(f"{self._kind.name}List: {fault}") from fault
        return ApiList(
            kind=listed.kind,
            api_version=listed.api_version,
            metadata=listed.metadata or ListMeta(),
            items=tuple(self._decode_wire(bytes(each)) for each in listed.items or ()),
        )

    def _decode_wire(self, text: bytes) -> ApiObject:
        try:
            thing: ApiObject = self._wire_decoder.decode(text)
        except msgspec.ValidationError:
            return self._decode_slowly(text)
        except msgspec.DecodeError as fault:
            raise self._explain_syntax(text, explain_json_syntax(text) or str(fault)) from fault
        return thing

    def _decode_slowly(self, text: bytes) -> ApiObject:
        try:
            text = msgspec.json.format(text, indent=-1)
        except msgspec.DecodeError as fault:
            raise self._explain_syntax(text, explain_json_syntax(text) or str(fault)) from fault
        if text == b"null":
            text = b"{}"  # null says of nothing what it is
        api_version, kind, unsaid = read_type_meta(text)
        if unsaid:
            raise self._explain_syntax(text, unsaid)
        if api_version not in ("", self._api_version) or kind not in ("", self._kind.name):
            raise self._refuse_other_type(text, (api_version, kind), strict=False)
        try:
            thing: ApiObject = self._wire_decoder.decode(mend(get_shape(self.wire_struct), text))
        except ValueFault as fault:
            raise self._refuse(str(fault), fault.faults) from fault
        except msgspec.ValidationError as fault:
            raise self._refuse(str(fault)) from fault
        return thing

    def _declare(self, thing: Any) -> K:
        """Bring what was decoded into the declared shape, naming the declared version."""
        kind = self._kind.name
        if self._upgrade is not None:
            upgraded = self._upgrade.to_declared(msgspec.json.decode(_ENCODER.encode(thing)))
            upgraded |= {"apiVersion": self._declared_api_version, "kind": kind}
            return self._decoder.decode(msgspec.json.encode(upgraded))
        if thing.api_version == self._declared_api_version and thing.kind == kind:
            return cast("K", thing)  # decoded by this kind's own decoder
        declared: K = msgspec.structs.replace(thing, api_version=self._declared_api_version, kind=kind)
        return declared

    def _downgrade(self, thing: K, upgrade: Upgrade) -> dict[str, Any]:
        old = upgrade.from_declared(msgspec.json.decode(_ENCODER.encode(thing)))
        return old | ({"apiVersion": self._api_version} if thing.kind else {})

    def _refuse(self, detail: str, faults: Sequence[FieldError] = ()) -> BadRequest:
        name = self._kind.name
        message = f'{name} in version "{self._version}" cannot be handled as a {name}: {detail}'
        return BadRequest(message, self._about, faults)

    def _refuse_other_type(self, text: bytes, named: tuple[str, str], *, strict: bool) -> BadRequest:
        """Why an object that says it is of another kind or version is none of this one."""
        name = self._kind.name
        api_version, kind = named[0] or self._api_version, named[1] or name
        version = api_version.rpartition("/")[2]
        if api_version.count("/") > 1:
            return self._unrecognized(text, f"unexpected GroupVersion string: {api_version}")
        if kind == name and any(self._kind.api_version(each.name) == api_version for each in self._kind.versions):
            get_codec(self._kind, version).decode(text, strict=strict)
            return BadRequest(self._expect_version(api_version), self._about)
        if kind == "Event" and name == "Event" and is_known_kind(api_version, kind):
            return BadRequest(self._expect_version(api_version), self._about)  # one kind, in two groups
        if is_known_kind(api_version, kind):
            internal = self._kind.group.partition(".")[0] or "core"
            detail = f"converting ({version}.{kind}) to ({internal}.{name}): unknown conversion"
        else:
            detail = f'no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"'
        return BadRequest(f'{kind} in version "{version}" cannot be handled as a {name}: {detail}', self._about)

    def _expect_version(self, named: str) -> str:
        detail = f"does not match the expected API version ({self._api_version})"
        return f"the API version in the data ({named}) {detail}"

    def _explain_syntax(self, text: bytes, detail: str) -> BadRequest:
        return self._unrecognized(text, f"couldn't get version/kind; json parse error: {detail}")

    def _unrecognized(self, text: bytes, detail: str) -> BadRequest:
        return BadRequest(
            f"the object provided is unrecognized (must be of type {self._kind.name}): "
            f"{detail} ({summarise_body(text)})",
            self._about,
        )


def summarise_body(text: bytes) -> str:
    """The beginning of a text, in hexadecimal unless it could be JSON."""
    if not text:
        return "<empty>"
    head = text[:30].decode(errors="replace") if text.startswith(b"{") else text[:30].hex()
    return f"{head} ..." if len(text) > 30 else head


@cache
def _make_codec(kind: Kind[Any], version: str) -> Codec[Any]:
    return Codec(kind, version)


def get_codec(kind: Kind[K], version: str) -> Codec[K]:
    """The codec of a kind in a served version; made once."""
    return _make_codec(kind, version)


def decode(kind: Kind[K], version: str, text: bytes, *, strict: bool = False) -> K:
    """Read one object; see `Codec.decode`."""
    return get_codec(kind, version).decode(text, strict=strict)


def encode(kind: Kind[K], thing: K, version: str) -> bytes:
    """Write one object; see `Codec.encode`."""
    return get_codec(kind, version).encode(thing)


def find_strict_faults(kind: Kind[Any], version: str, text: bytes) -> list[StrictFault]:
    """The unknown and repeated fields of a text; see `Codec.find_strict_faults`."""
    return get_codec(kind, version).find_strict_faults(text)


def encode_list(kind: Kind[K], things: Iterable[K], metadata: ListMeta, version: str) -> bytes:
    """Write a list of objects."""
    return get_codec(kind, version).encode_list(things, metadata)


def decode_list(kind: Kind[K], version: str, text: bytes) -> ApiList[K]:
    """Read a list of objects."""
    return get_codec(kind, version).decode_list(text)

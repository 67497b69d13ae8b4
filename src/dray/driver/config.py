"""Configuration that claims and classes carry for a driver, decoded into the author's own types.

    class GpuConfig(DriverConfig):
        api_version = "gpu.example.com/v1"
        strategy: Literal["TimeSlicing", "Exclusive"] = "Exclusive"

Decoding is strict: a field that does not exist or comes twice, a wrong type, or a value that `__post_init__` refuses
(with ValueError) is an error that names the field, and the pod sees it.
"""

import json
import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, ClassVar

import msgspec

from dray.errors import DrayError
from dray.values.quantity import Quantity, decode_quantity
from dray.values.semver import Semver, parse_semver
from dray.values.times import Time, parse_time

__all__ = ["ConfigError", "ConfigPart", "DriverConfig", "decode_config", "encode_config", "name_config"]

_PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<place>.*)`)?", re.DOTALL)
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(?P<name>.*)`")


class ConfigPart(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A part of a configuration: frozen, camelCase on the wire, unknown fields refused."""


class DriverConfig(ConfigPart, frozen=True, kw_only=True):
    """Base of a driver's own configuration types."""

    api_version: ClassVar[str]
    """`group/version` on the wire. Empty: configurations of this type say neither `apiVersion` nor `kind`."""
    kind: ClassVar[str] = ""
    """`kind` on the wire. Empty means the name of the class."""


class ConfigError(DrayError):
    """A configuration does not say what the driver understands; the text names the field."""


def name_config(kind: type[DriverConfig]) -> str:
    """What a type is called on the wire: `gpu.example.com/v1 GpuConfig`; empty if it bears no name there."""
    return f"{kind.api_version} {kind.kind or kind.__name__}" if kind.api_version else ""


def encode_config(config: DriverConfig) -> bytes:
    """Write a configuration as claims carry it."""
    content = msgspec.to_builtins(config, enc_hook=str)
    kind = type(config)
    return msgspec.json.encode({"apiVersion": kind.api_version, "kind": kind.kind or kind.__name__, **content})


def decode_config(text: bytes, kinds: Sequence[type[DriverConfig]]) -> DriverConfig:
    """Read one configuration as the one of `kinds` that its `apiVersion` and `kind` name. Raises ConfigError."""
    content = _read_object(text)
    named = f"{content.pop('apiVersion', '')} {content.pop('kind', '')}".strip()
    by_name = {name_config(kind): kind for kind in kinds}
    if named not in by_name:
        raise ConfigError(_explain_unknown_kind(named, list(by_name)))
    kind = by_name[named]
    try:
        return msgspec.convert(content, kind, dec_hook=_decode_value)
    except msgspec.ValidationError as fault:
        raise ConfigError(f"{named}: {_explain(str(fault), kind)}") from fault


def _read_object(text: bytes) -> dict[str, Any]:
    try:
        content = json.loads(text, object_pairs_hook=_refuse_repeated)
    except ValueError as fault:
        raise ConfigError(f"parameters are not JSON: {fault}") from fault
    if not isinstance(content, dict):
        raise ConfigError("parameters must be a JSON object")
    return content


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for name, value in pairs:
        if name in content:
            raise ConfigError(f"field {name} is given twice")
        content[name] = value
    return content


def _explain_unknown_kind(named: str, known: list[str]) -> str:
    if not known:
        return f"the driver takes no configuration, has {named or 'one without apiVersion and kind'}"
    text = f"unknown configuration {named or 'without apiVersion and kind'}, must be one of: {', '.join(sorted(known))}"
    close = get_close_matches(named, known, n=1)
    return f"{text}; did you mean {close[0]}?" if close else text


def _explain(fault: str, kind: type[DriverConfig]) -> str:
    """Put the field first: `sharing.interval: Invalid enum value 'Shrot'`."""
    match = _PLACE.fullmatch(fault)
    what, place = (match["what"], match["place"] or "") if match else (fault, "")
    unknown = _UNKNOWN_FIELD.fullmatch(what)
    if unknown is None:
        return f"{place}: {what}" if place else what
    text = f"{place}.{unknown['name']}".lstrip(".") + ": unknown field"
    known = [field.encode_name for field in msgspec.structs.fields(kind)] if not place else []
    close = get_close_matches(unknown["name"], known, n=1)
    return f"{text}; did you mean {close[0]}?" if close else text


def _decode_value(kind: type, value: object) -> object:
    """The types of values that Kubernetes writes as text."""
    if kind is Quantity and isinstance(value, str | int | float) and not isinstance(value, bool):
        return decode_quantity(value)
    if isinstance(value, str):
        if kind is Semver:
            return parse_semver(value)
        if kind is Time:
            return parse_time(value)
    raise ValueError(f"cannot read {value!r} as {kind.__name__}")

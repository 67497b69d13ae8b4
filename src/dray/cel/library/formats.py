"""Named formats: whether a text is a DNS label, a URI, a UUID, a date."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from dray.cel.functions import Overload, declare
from dray.cel.library.moments import parse_timestamp
from dray.cel.library.urls import BadUrl, parse_request_uri
from dray.cel.values import NONE, LibraryObject, Optional
from dray.values import names

__all__ = ["FORMATS", "MAX_PATTERN_SIZE", "Format"]


@dataclass(frozen=True, slots=True)
class Format(LibraryObject):
    """A rule for texts. Formats are equal by name."""

    cel_type: ClassVar[str] = "kubernetes.NamedFormat"
    name: str
    pattern_size: int
    """Length of a regular expression as costly as the rule."""


_UUID = re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _uri_faults(text: str) -> Iterable[str]:
    try:
        parse_request_uri(text)
    except BadUrl as fault:
        return [str(fault)]
    return []


def _uuid_faults(text: str) -> Iterable[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte_faults(text: str) -> Iterable[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return []


def _date_faults(text: str) -> Iterable[str]:
    try:
        date.fromisoformat(text)
    except ValueError:
        return ["invalid date"]
    return [] if _DATE.fullmatch(text) else ["invalid date"]


def _datetime_faults(text: str) -> Iterable[str]:
    return ["invalid datetime"] if parse_timestamp(text.upper()) is None else []


def _prefix(faults: Callable[[str], Iterable[str]]) -> Callable[[str], Iterable[str]]:
    """The rule for the beginning of a name: a trailing dash may follow."""
    return lambda text: faults(f"{text[:-1]}a" if text.endswith("-") else text)


_RULES: dict[str, tuple[Format, Callable[[str], Iterable[str]]]] = {
    "dns1123Label": (Format("DNS1123Label", 30), names.dns_label_faults),
    "dns1123Subdomain": (Format("DNS1123Subdomain", 60), names.dns_subdomain_faults),
    "dns1035Label": (Format("DNS1035Label", 30), names.dns_1035_label_faults),
    "qualifiedName": (Format("QualifiedName", 60), names.label_key_faults),
    "dns1123LabelPrefix": (Format("DNS1123LabelPrefix", 30), _prefix(names.dns_label_faults)),
    "dns1123SubdomainPrefix": (Format("DNS1123SubdomainPrefix", 60), _prefix(names.dns_subdomain_faults)),
    "dns1035LabelPrefix": (Format("DNS1035LabelPrefix", 30), _prefix(names.dns_1035_label_faults)),
    "labelValue": (Format("LabelValue", 40), names.label_value_faults),
    "uri": (Format("URI", 1652), _uri_faults),
    "uuid": (Format("uuid", 98), _uuid_faults),
    "byte": (Format("byte", 84), _byte_faults),
    "date": (Format("date", 196), _date_faults),
    "datetime": (Format("datetime", 196), _datetime_faults),
}
_BY_FORMAT = dict(_RULES.values())

MAX_PATTERN_SIZE = 128
"""What admission assumes of a format it does not know."""


def _named(name: str) -> Optional:
    rule = _RULES.get(name)
    return NONE if rule is None else Optional(rule[0], is_present=True)


def _validate(each: Format, text: str) -> Optional:
    faults = tuple(_BY_FORMAT[each](text))
    return Optional(faults, is_present=True) if faults else NONE


def _constant(each: Format) -> Callable[[], Format]:
    return lambda: each


FORMATS: list[Overload] = declare(
    ("format-validate: Format::validate(string) -> optional(list(string))", _validate),
    ("format-named: format.named(string) -> optional(Format)", _named),
    *((f"format.{name}: format.{name}() -> Format", _constant(each)) for name, (each, _) in _RULES.items()),
)

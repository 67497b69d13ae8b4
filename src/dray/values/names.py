"""The rules Kubernetes has for names, keys and values, with its wording.

Each function answers with the messages of everything wrong, empty when all is well; a valid text costs one regular
expression. Checks turn the messages into field errors, because only they know path, reason and bad value. Lengths count
bytes. Two generations of validators word an excess of length differently, so callers say which `LengthUnit` theirs has.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

__all__ = [
    "C_IDENTIFIER_MAX_LENGTH",
    "DNS_LABEL_MAX_LENGTH",
    "DNS_SUBDOMAIN_MAX_LENGTH",
    "DRIVER_NAME_MAX_LENGTH",
    "LABEL_MAX_LENGTH",
    "LengthUnit",
    "byte_length",
    "c_identifier_faults",
    "condition_reason_faults",
    "config_key_faults",
    "dns_1035_label_faults",
    "dns_label_faults",
    "dns_subdomain_caseless_faults",
    "dns_subdomain_faults",
    "environment_name_faults",
    "extended_resource_name_faults",
    "generated_name_stem",
    "label_key_faults",
    "label_value_faults",
    "path_segment_faults",
    "port_name_faults",
    "prefixed_label_key_faults",
    "uuid_faults",
]

DNS_LABEL_MAX_LENGTH: Final = 63
DNS_SUBDOMAIN_MAX_LENGTH: Final = 253
DRIVER_NAME_MAX_LENGTH: Final = 63
LABEL_MAX_LENGTH: Final = 63
"""Of a label value, and of the name part of a label key."""
C_IDENTIFIER_MAX_LENGTH: Final = 32
"""Of the name part of an attribute or capacity; the bare rule for C identifiers has no limit."""
_PORT_NAME_MAX_LENGTH: Final = 15


class LengthUnit(Enum):
    """What a message about length counts in; bytes are meant either way."""

    BYTES = "bytes"
    """Declarative validation, and label keys and values everywhere."""
    CHARACTERS = "characters"
    """Hand-written validation of DNS names, ports and configuration keys."""


class _Rule:
    """A regular expression and the message that explains it."""

    def __init__(self, pattern: str, message: str, *examples: str, shown: str | None = None) -> None:
        self._matches = re.compile(pattern).fullmatch
        quoted = " or ".join(f"'{example}', " for example in examples)
        self.message = f"{message} (e.g. {quoted}regex used for validation is '{shown or pattern}')"

    def accepts(self, text: str) -> bool:
        return self._matches(text) is not None


_ALPHANUMERIC_ENDS: Final = "must start and end with an alphanumeric character"
_LABEL_PATTERN: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_PATTERN: Final = rf"{_LABEL_PATTERN}(\.{_LABEL_PATTERN})*"
_KEY_PATTERN: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_KEY_TEXT: Final = f"must consist of alphanumeric characters, '-', '_' or '.', and {_ALPHANUMERIC_ENDS}"

_DNS_LABEL: Final = _Rule(
    _LABEL_PATTERN,
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_ALPHANUMERIC_ENDS}",
    "my-name",
    "123-abc",
)
_DNS_SUBDOMAIN: Final = _Rule(
    _SUBDOMAIN_PATTERN,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    + _ALPHANUMERIC_ENDS,
    "example.com",
)
_DNS_SUBDOMAIN_CASELESS: Final = _Rule(
    _SUBDOMAIN_PATTERN.replace("a-z", "a-zA-Z"),
    f"an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and {_ALPHANUMERIC_ENDS}",
    "Example.com",
    shown=_SUBDOMAIN_PATTERN,
)
_DNS_1035_LABEL: Final = _Rule(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    "my-name",
    "abc-123",
)
_C_IDENTIFIER: Final = _Rule(
    "[A-Za-z_][A-Za-z0-9_]*",
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_'",
    "my_name",
    "MY_NAME",
    "MyName",
)
_KEY_NAME: Final = _Rule(_KEY_PATTERN, _KEY_TEXT, "MyName", "my.name", "123-abc")
_LABEL_VALUE: Final = _Rule(
    f"({_KEY_PATTERN})?",
    f"a valid label must be an empty string or consist of {_KEY_TEXT.removeprefix('must consist of ')}",
    "MyValue",
    "my_value",
    "12345",
)
_CONFIG_KEY: Final = _Rule(
    "[-._a-zA-Z0-9]+",
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    "key.name",
    "KEY_NAME",
    "key-name",
)
_CONDITION_REASON: Final = _Rule(
    "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'",
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)
_UUID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PORT_NAME: Final = re.compile("[-a-z0-9]+")


def byte_length(text: str) -> int:
    """Length in UTF-8, which is what every limit counts."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def dns_label_faults(text: str, unit: LengthUnit = LengthUnit.CHARACTERS) -> tuple[str, ...]:
    """A DNS label of RFC 1123: lower case letters, digits and dashes, at most 63."""
    length_faults = _length_faults(text, DNS_LABEL_MAX_LENGTH, unit)
    if _DNS_LABEL.accepts(text):
        return length_faults
    return (*length_faults, "must not contain dots" if _DNS_SUBDOMAIN.accepts(text) else _DNS_LABEL.message)


def dns_subdomain_faults(text: str, unit: LengthUnit = LengthUnit.CHARACTERS) -> tuple[str, ...]:
    """DNS labels joined by dots, at most 253; the rule for the names of most objects."""
    return _faults(text, _DNS_SUBDOMAIN, DNS_SUBDOMAIN_MAX_LENGTH, unit)


def dns_subdomain_caseless_faults(text: str) -> tuple[str, ...]:
    """A DNS subdomain that may have upper case letters, as driver names may."""
    return _faults(text, _DNS_SUBDOMAIN_CASELESS, DNS_SUBDOMAIN_MAX_LENGTH, LengthUnit.BYTES)


def dns_1035_label_faults(text: str) -> tuple[str, ...]:
    """A DNS label that starts with a letter; the rule for Services."""
    return _faults(text, _DNS_1035_LABEL, DNS_LABEL_MAX_LENGTH, LengthUnit.CHARACTERS)


def c_identifier_faults(text: str) -> tuple[str, ...]:
    """An identifier of C, of any length."""
    return () if _C_IDENTIFIER.accepts(text) else (_C_IDENTIFIER.message,)


def label_key_faults(text: str) -> tuple[str, ...]:
    """A key of labels, annotations, taints and resources: a name, or `subdomain/name`."""
    prefix, slash, name = text.partition("/")
    if not slash:
        return _key_name_faults(text)
    if "/" in name:
        return (f"a valid label key {_KEY_NAME.message} with an optional DNS subdomain prefix and '/' {_KEY_EXAMPLE}",)
    if not prefix:
        return ("prefix part must be non-empty", *_key_name_faults(name))
    prefix_faults = dns_subdomain_faults(prefix, LengthUnit.BYTES)
    return (*(f"prefix part {fault}" for fault in prefix_faults), *_key_name_faults(name))


_KEY_EXAMPLE: Final = "(e.g. 'example.com/MyName')"


def _key_name_faults(name: str) -> tuple[str, ...]:
    if not name:
        return ("name part must be non-empty", f"name part {_KEY_NAME.message}")
    return tuple(f"name part {fault}" for fault in _faults(name, _KEY_NAME, LABEL_MAX_LENGTH, LengthUnit.BYTES))


def prefixed_label_key_faults(text: str) -> tuple[str, ...]:
    """A label key that has a prefix."""
    faults = label_key_faults(text)
    return faults if faults or "/" in text else ("must include a prefix (e.g. 'example.com/key')",)


def label_value_faults(text: str) -> tuple[str, ...]:
    """A value of a label, empty or at most 63."""
    return _faults(text, _LABEL_VALUE, LABEL_MAX_LENGTH, LengthUnit.BYTES)


def path_segment_faults(text: str) -> tuple[str, ...]:
    """A name that can stand in a URL path; the only rule for roles and their bindings."""
    if text in {".", ".."}:
        return (f"may not be '{text}'",)
    return tuple(f"may not contain '{character}'" for character in "/%" if character in text)


def uuid_faults(text: str) -> tuple[str, ...]:
    """A UUID in lower case with dashes."""
    return () if _UUID.fullmatch(text) else ("must be a lowercase UUID in 8-4-4-4-12 format",)


def port_name_faults(text: str) -> tuple[str, ...]:
    """A name of a port: at most 15, with a letter, without double or outer dashes."""
    faults = list(_length_faults(text, _PORT_NAME_MAX_LENGTH, LengthUnit.CHARACTERS))
    if not _PORT_NAME.fullmatch(text):
        faults.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        faults.append("must contain at least one letter (a-z)")
    if "--" in text:
        faults.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        faults.append("must not begin or end with a hyphen")
    return tuple(faults)


def environment_name_faults(text: str) -> tuple[str, ...]:
    """A name of an environment variable: printable ASCII without `=`."""
    if not text:
        return ("environment variable name must be non-empty",)
    if text.isascii() and text.isprintable() and "=" not in text:
        return ()
    return ("a valid environment variable name must consist only of printable ASCII characters other than '='",)


def config_key_faults(text: str) -> tuple[str, ...]:
    """A key in the data of a ConfigMap or Secret; it can be a file name."""
    faults = _faults(text, _CONFIG_KEY, DNS_SUBDOMAIN_MAX_LENGTH, LengthUnit.CHARACTERS)
    if text in {".", ".."}:
        return (*faults, f"must not be '{text}'")
    return (*faults, "must not start with '..'") if text.startswith("..") else faults


def condition_reason_faults(text: str) -> tuple[str, ...]:
    """The reason of a condition, a word in CamelCase."""
    return () if _CONDITION_REASON.accepts(text) else (_CONDITION_REASON.message,)


def extended_resource_name_faults(text: str) -> tuple[str, ...]:
    """A resource outside Kubernetes' own domain, such as `example.com/gpu`; it must fit behind `requests.`."""
    faults: list[str] = []
    if "/" not in text:
        faults.append("a name must be a domain-prefixed path, such as 'example.com/my-prop'")
    elif "kubernetes.io/" in text:
        faults.append('must not have "kubernetes.io/" domain')
    if text.startswith("requests."):
        faults.append('must not have "requests." prefix')
    return (*faults, *label_key_faults(f"requests.{text}"))


def generated_name_stem(text: str) -> str:
    """What to check of a `generateName`: its trailing dash is fine, since something follows."""
    return f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text


def _faults(text: str, rule: _Rule, max_length: int, unit: LengthUnit) -> tuple[str, ...]:
    length_faults = _length_faults(text, max_length, unit)
    return length_faults if rule.accepts(text) else (*length_faults, rule.message)


def _length_faults(text: str, max_length: int, unit: LengthUnit) -> tuple[str, ...]:
    # Four bytes a character at most, so a short text needs no counting.
    if len(text) * 4 <= max_length or byte_length(text) <= max_length:
        return ()
    return (f"must be no more than {max_length} {unit.value}",)

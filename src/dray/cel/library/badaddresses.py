"""Why a text is no IP address, in the words of Go's parser and with the place where it stopped reading."""

from __future__ import annotations

import re

from dray.values.quoting import quote

__all__ = ["explain_bad_address"]


def explain_bad_address(text: str) -> str:
    """The reason; meant for texts that are refused already."""
    for character in text:
        if character == ".":
            return _ipv4_complaint(text) or "unable to parse IP"
        if character == ":":
            return _ipv6_complaint(text)
        if character == "%":
            return "missing IPv6 address"
    return "unable to parse IP"


def _ipv4_complaint(text: str) -> str | None:
    value = digits = fields = 0
    for at, character in enumerate(text):
        if character in "0123456789":
            if digits == 1 and value == 0:
                return "IPv4 field has octet with leading zero"
            value, digits = value * 10 + int(character), digits + 1
            if value > 255:
                return "IPv4 field has value >255"
        elif character == ".":
            if at in (0, len(text) - 1) or text[at - 1] == ".":
                return f"IPv4 field must have at least one digit (at {quote(text[at:])})"
            if fields == 3:
                return "IPv4 address too long"
            fields, value, digits = fields + 1, 0, 0
        else:
            return f"unexpected character (at {quote(text[at:])})"
    return "IPv4 address too short" if fields < 3 else None


_HEX_FIELD = re.compile(r"[0-9a-fA-F]*")


def _ipv6_complaint(text: str) -> str:
    rest, _, zone = text.partition("%")
    if "%" in text and not zone:
        return "zone must be a non-empty string"
    fields, has_ellipsis = 0, rest.startswith("::")
    rest = rest[2:] if has_ellipsis else rest
    while fields < 8 and rest:
        match = _HEX_FIELD.match(rest)
        digits = match[0] if match else ""
        if fault := _ipv6_field_fault(digits):
            return f"{fault} (at {quote(rest)})"
        if rest[len(digits) :].startswith("."):
            return _embedded_complaint(text, rest, fields, has_ellipsis=has_ellipsis)
        fields, rest = fields + 1, rest[len(digits) :]
        if fault := _separator_fault(rest, has_ellipsis=has_ellipsis):
            return fault
        if rest.startswith("::"):
            has_ellipsis = True
        rest = rest.removeprefix(":").removeprefix(":")
    if rest:
        return f"trailing garbage after address (at {quote(rest)})"
    return "the :: must expand to at least one field of zeros" if has_ellipsis else "address string too short"


def _separator_fault(rest: str, *, has_ellipsis: bool) -> str | None:
    if rest and rest[0] != ":":
        return f"unexpected character, want colon (at {quote(rest)})"
    if rest == ":":
        return 'colon must be followed by more characters (at ":")'
    if rest.startswith("::") and has_ellipsis:
        return f"multiple :: in address (at {quote(rest[1:])})"
    return None


def _ipv6_field_fault(digits: str) -> str | None:
    if len(digits) > 4:
        return "each group must have 4 or less digits"
    return None if digits else "each colon-separated field must have at least one digit"


def _embedded_complaint(text: str, rest: str, fields: int, *, has_ellipsis: bool) -> str:
    if not has_ellipsis and fields != 6:
        return f"embedded IPv4 address must replace the final 2 fields of the address (at {quote(rest)})"
    if fields > 6:
        return f"too many hex fields to fit an embedded IPv4 at the end of the address (at {quote(rest)})"
    return _ipv4_complaint(rest) or f"unable to parse IP {text}"

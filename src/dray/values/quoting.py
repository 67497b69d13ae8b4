"""Text as Kubernetes quotes it in messages: double quotes, escapes for what a terminal cannot show."""

from __future__ import annotations

__all__ = ["quote"]

_SHORT = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


def _escape(character: str) -> str:
    short = _SHORT.get(character)
    if short is not None:
        return short
    if character.isprintable() and (character == " " or not character.isspace()):
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def quote(text: str) -> str:
    """Quote `text`; printable characters of any script stay as they are."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escape, text)) + '"'

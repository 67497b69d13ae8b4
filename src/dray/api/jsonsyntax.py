"""What is wrong with a text that is not JSON, in the words of Kubernetes' parser.

Used only after the real parser has refused a text; it walks the text again and stops at the first character that cannot
stand there.
"""

import re
from typing import NoReturn

from dray.values.quoting import quote

__all__ = ["TOO_DEEP", "explain_json_syntax", "mend_json_text", "name_json_kind"]

TOO_DEEP = "exceeded max depth"
"""Lists and objects within one another beyond what can be read."""

_SPACE = b" \t\r\n"
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
_KINDS = {b'"': "string", b"{": "object", b"[": "array", b"t": "bool", b"f": "bool", b"n": "null"}
_LITERALS = {b"t": b"true", b"f": b"false", b"n": b"null"}
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""Pairs of surrogates, halves of them, and any other escape: so that a backslash that is escaped begins none."""
_LONGEST_RUNE = 4


class _SyntaxFault(Exception):
    """Stops the walk; the message is the result."""


def explain_json_syntax(text: bytes) -> str | None:
    """The first fault, or None if the text is JSON after all."""
    try:
        _Walk(text).document()
    except _SyntaxFault as fault:
        return str(fault)
    except RecursionError:
        return TOO_DEEP
    return None


def mend_json_text(text: bytes) -> bytes:
    """JSON in which what Go's parser takes for the replacement character is written as such.

    That is bytes that are not UTF-8, and halves of surrogate pairs. A text that is not JSON, or has none of them, comes
    back as it is.
    """
    if text.isascii() and b"\\ud" not in text and b"\\uD" not in text:
        return text
    mended = _ESCAPES.sub(_mend_escape, text.decode(errors="replace").encode())
    return text if mended == text or explain_json_syntax(text) is not None else mended


def _mend_escape(found: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if found["half"] else found[0]


def name_json_kind(text: bytes) -> str:
    """The word for a JSON value that starts here, without blanks before it."""
    return _KINDS.get(text[:1], "number")


class _Walk:
    """Position in a text; each method steps over what it is named after."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def document(self) -> None:
        self._value()
        self._space()
        if self._at < len(self._text):
            self._refuse("after top-level value")

    def _peek(self) -> bytes:
        if self._at >= len(self._text):
            raise _SyntaxFault("unexpected end of JSON input")
        return self._text[self._at : self._at + 1]

    def _take(self) -> bytes:
        character = self._peek()
        self._at += 1
        return character

    def _refuse(self, where: str) -> NoReturn:
        self._peek()
        raise _SyntaxFault(f"invalid character '{self._show_character()}' {where}")

    def _show_character(self) -> str:
        """The character at this place, or the byte where there is none."""
        ahead = self._text[self._at : self._at + _LONGEST_RUNE]
        for length in range(1, len(ahead) + 1):
            try:
                character = ahead[:length].decode()
            except UnicodeDecodeError:
                continue
            return {"'": "\\'", '"': '"'}.get(character, quote(character)[1:-1])
        return f"\\x{ahead[0]:02x}"

    def _space(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in _SPACE:
            self._at += 1

    def _value(self) -> None:
        self._space()
        first = self._peek()
        if first == b"{":
            self._object()
        elif first == b"[":
            self._array()
        elif first == b'"':
            self._string()
        elif first in _LITERALS:
            self._literal(_LITERALS[first])
        elif first == b"-" or first in _DIGITS:
            self._number()
        else:
            self._refuse("looking for beginning of value")

    def _object(self) -> None:
        self._at += 1
        self._space()
        if self._peek() == b"}":
            self._at += 1
            return
        while True:
            self._space()
            if self._peek() != b'"':
                self._refuse("looking for beginning of object key string")
            self._string()
            self._space()
            if self._peek() != b":":
                self._refuse("after object key")
            self._at += 1
            self._value()
            if self._is_last(b"}", "after object key:value pair"):
                return

    def _array(self) -> None:
        self._at += 1
        self._space()
        if self._peek() == b"]":
            self._at += 1
            return
        while True:
            self._value()
            if self._is_last(b"]", "after array element"):
                return

    def _is_last(self, end: bytes, where: str) -> bool:
        self._space()
        if self._peek() not in (b",", end):
            self._refuse(where)
        return self._take() == end

    def _string(self) -> None:
        self._at += 1
        while (character := self._peek()) != b'"':
            if character < b" ":
                self._refuse("in string")
            self._at += 1
            if character == b"\\":
                self._escape()
        self._at += 1

    def _escape(self) -> None:
        start = self._at - 1
        if self._peek() not in b'bfnrt\\/"u':
            self._refuse_escape(start, 2)
        if self._take() == b"u":
            for _ in range(4):
                if self._peek() not in _HEX:
                    self._refuse_escape(start, 6)
                self._at += 1

    def _refuse_escape(self, start: int, length: int) -> NoReturn:
        shown = self._text[start : start + length]
        try:
            text = f"`{shown.decode()}`"
        except UnicodeDecodeError:
            escaped = "".join(chr(each) if 0x20 <= each < 0x7F else f"\\x{each:02x}" for each in shown)
            text = '"\\' + escaped + '"'
        raise _SyntaxFault(f"invalid escape sequence {text} in string")

    def _literal(self, word: bytes) -> None:
        self._at += 1
        for expected in word[1:]:
            if self._peek()[0] != expected:
                self._refuse(f"in literal {word.decode()} (expecting '{chr(expected)}')")
            self._at += 1

    def _number(self) -> None:
        if self._peek() == b"-":
            self._at += 1
        if self._peek() == b"0":
            self._at += 1
        else:
            self._digits()
        if self._text[self._at : self._at + 1] == b".":
            self._at += 1
            self._digits()
        if self._text[self._at : self._at + 1] in (b"e", b"E"):
            self._at += 1
            if self._peek() in b"+-":
                self._at += 1
            self._digits()

    def _digits(self) -> None:
        if self._peek() not in _DIGITS:
            self._refuse("in numeric literal")
        while self._at < len(self._text) and self._text[self._at] in _DIGITS:
            self._at += 1

"""Expressions in the words of other languages: `and` for `&&`, `=` for `==`, names without quotes.

Nothing of this ever compiles, so that what was meant can be written instead without harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dray.authoring.expressions import Token, quote, tokenize

__all__ = ["Slip", "mend_slips"]

_SIGNS: Final = {"=": "==", "&": "&&", "|": "||"}
_WORDS: Final = {"and": "&&", "or": "||", "not": "!", "true": "true", "false": "false"}
_VARIABLES: Final = ("driver", "driverName", "attributes", "capacity", "allowMultipleAllocations")
_ROOTS: Final = ("Device", "devices", "Devices", "DEVICE")
_DOMAIN_HOLDERS: Final = ("attributes", "attribute", "capacity", "capacities")
_QUOTES: Final = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u201f", '"') | dict.fromkeys("\u2018\u2019\u201a", "'")
)


@dataclass(frozen=True, slots=True)
class Slip:
    """What to write instead of a piece of an expression."""

    start: int
    end: int
    use: str
    message: str


def mend_slips(text: str) -> tuple[str, list[str]]:
    """The expression in the words of CEL, and what was changed. Mending twice changes nothing."""
    straight = text.translate(_QUOTES)
    messages = ["typographic quotes end no text"] if straight != text else []
    slips = list(_find_slips(tokenize(straight), straight))
    for slip in reversed(slips):
        straight = straight[: slip.start] + slip.use + straight[slip.end :]
    return straight, messages + list(dict.fromkeys(slip.message for slip in slips))


def _find_slips(tokens: Sequence[Token], text: str) -> Iterator[Slip]:
    """The slips in order, none within another."""
    declared = {
        name.text
        for opening, name, comma in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if (opening.text, comma.text) == ("(", ",")
    }
    at = 0
    while at < len(tokens):
        slip = _find_domain(tokens, at, text) or _find_sign(tokens, at) or _find_word(tokens, at, declared)
        if slip is None:
            at += 1
            continue
        yield slip
        while at < len(tokens) and tokens[at].start < slip.end:
            at += 1


def _find_sign(tokens: Sequence[Token], at: int) -> Slip | None:
    token = tokens[at]
    behind = tokens[at + 1].text if at + 1 < len(tokens) and tokens[at + 1].start == token.end else ""
    if (token.text, behind) in (("==", "="), ("<", ">")):
        use = "==" if behind == "=" else "!="
        return Slip(token.start, tokens[at + 1].end, use, f"CEL writes {use} for {token.text}{behind}")
    use = _SIGNS.get(token.text, "") if token.kind == "sign" else ""
    return Slip(token.start, token.end, use, f"CEL writes {use} for {token.text}") if use else None


def _find_word(tokens: Sequence[Token], at: int, declared: set[str]) -> Slip | None:
    token = tokens[at]
    if token.kind != "word" or (at > 0 and tokens[at - 1].text == ".") or token.text in declared:
        return None
    behind = tokens[at + 1] if at + 1 < len(tokens) else None
    if token.text in _ROOTS and behind is not None and behind.text == ".":
        return Slip(token.start, token.end, "device", f"the variable is called device, not {token.text}")
    if token.text in _VARIABLES and (behind is None or behind.text not in ("(", ":", ",")):
        return Slip(token.start, token.end, f"device.{token.text}", f"{token.text} is a field of device")
    use = _WORDS.get(token.text.lower(), token.text)
    if use == token.text:
        return None
    end = behind.start if use == "!" and behind is not None else token.end
    return Slip(token.start, end, use, f"CEL writes {use} for {token.text}")


def _find_domain(tokens: Sequence[Token], at: int, text: str) -> Slip | None:
    """A domain without quotes: in brackets behind the field, or compared with the driver."""
    if at == 0 or tokens[at].kind != "word" or tokens[at].text == "device":
        return None
    before = [token.text for token in tokens[max(at - 2, 0) : at]]
    is_index = before[-1] == "[" and before[0] in _DOMAIN_HOLDERS
    if not is_index and before not in (["driver", "=="], ["driverName", "=="]):
        return None
    end = at
    while end < len(tokens) and (tokens[end].kind in ("word", "number") or tokens[end].text in (".", "-")):
        end += 1
    domain = text[tokens[at].start : tokens[end - 1].end]
    closing = tokens[end].text if end < len(tokens) else ""
    if "." not in domain or any(char.isspace() for char in domain) or (is_index and closing != "]"):
        return None
    return Slip(tokens[at].start, tokens[end - 1].end, quote(domain, text), f"{domain} is a text and stands in quotes")

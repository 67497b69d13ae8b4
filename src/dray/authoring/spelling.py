"""Which known name a name may have been meant for.

Names of drivers, classes and domains differ by little where both are meant: `gpu.example.com` and `npu.example.com`,
`gpu-0` and `gpu-1`. Only a slip within a longer word counts, or one in signs and case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import Final

__all__ = ["find_meant", "suggest"]

MIN_WORD: Final = 4
"""Letters of a word that may have a slip: a change in fewer makes another word."""

MIN_LIKENESS: Final = 0.8

_SEPARATORS = re.compile(r"[.\-_/]")


def suggest(name: str, known: Iterable[str], *, cutoff: float = 0.75) -> str:
    """The known name that is most like this one but for case; empty if none is like it."""
    by_lower = {each.lower(): each for each in sorted(known)}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else ""


def find_meant(name: str, known: Iterable[str]) -> str:
    """The known name that this one misspells; empty if it is known itself, or there is none."""
    names = sorted(set(known))
    if name in names:
        return ""
    return next((each for each in names if _squeeze(each) == _squeeze(name)), "") or next(
        (each for each in names if _is_slip(name.lower(), each.lower())), ""
    )


def _squeeze(name: str) -> str:
    return _SEPARATORS.sub("", name).lower()


def _is_slip(name: str, known: str) -> bool:
    """Whether two names have the same words but for one, and that differs by a letter or two."""
    words, known_words = _SEPARATORS.split(name), _SEPARATORS.split(known)
    if len(words) != len(known_words):
        return False
    pairs = [pair for pair in zip(words, known_words, strict=True) if pair[0] != pair[1]]
    if len(pairs) != 1:
        return False
    ((word, meant),) = pairs
    if min(len(word), len(meant)) < MIN_WORD or _digits(word) != _digits(meant):
        return False
    return SequenceMatcher(None, word, meant).ratio() >= MIN_LIKENESS


def _digits(word: str) -> str:
    return "".join(char for char in word if char.isdigit())

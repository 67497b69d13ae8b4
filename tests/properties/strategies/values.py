"""Texts of quantities, versions, times and selectors as users and machines write them."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


class QuantityText(NamedTuple):
    """A quantity taken apart, so that a model needs no parser."""

    sign: str
    whole: str
    fraction: str | None
    suffix: str

    @property
    def text(self) -> str:
        point = "" if self.fraction is None else f".{self.fraction}"
        return f"{self.sign}{self.whole}{point}{self.suffix}"


_DIGITS = st.text("0123456789", max_size=25) | st.sampled_from(["1000", "1024", "007", "5", "1500", str(2**63 - 1)])
_EXPONENTS = st.integers(-40, 40).map(str) | st.sampled_from(["+3", "003", "-012"])
_SUFFIXES = st.sampled_from([*DECIMAL_SUFFIXES, *BINARY_SUFFIXES]) | st.builds(
    lambda letter, exponent: f"{letter}{exponent}", st.sampled_from("eE"), _EXPONENTS
)

quantity_texts = st.builds(
    QuantityText, st.sampled_from(["", "", "+", "-"]), _DIGITS, st.none() | _DIGITS, _SUFFIXES
).filter(lambda parts: bool(parts.whole or parts.fraction))

_NUMBERS = st.integers(0, 12) | st.integers(0, 2**64 - 1)
_WORDS = st.text("01aZ-", min_size=1, max_size=4)
_PRERELEASE_WORDS = _WORDS.filter(lambda word: not (word.isdigit() and len(word) > 1 and word[0] == "0"))


@st.composite
def semver_texts(draw: st.DrawFn) -> str:
    """Valid versions that differ little, so that comparing is interesting."""
    text = ".".join(str(draw(_NUMBERS)) for _ in range(3))
    if prerelease := draw(st.lists(_PRERELEASE_WORDS, max_size=3)):
        text += f"-{'.'.join(prerelease)}"
    if build := draw(st.lists(_WORDS, max_size=2)):
        text += f"+{'.'.join(build)}"
    return text


YEAR_0 = -62_167_219_200
YEAR_10_000 = 253_402_300_800
unix_microseconds = st.integers(YEAR_0 * 10**6, YEAR_10_000 * 10**6 - 1)

_LABEL_NAMES = st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?", fullmatch=True)
_LABEL_PREFIXES = st.from_regex(r"[a-z0-9]{1,3}(\.[a-z0-9]{1,3}){0,2}", fullmatch=True)
label_keys = st.sampled_from(["a", "b", "in", "notin"]) | st.builds(
    lambda prefix, name: f"{prefix}{name}", st.just("") | _LABEL_PREFIXES.map(lambda prefix: f"{prefix}/"), _LABEL_NAMES
)
label_values = st.sampled_from(["", "1", "x", "in"]) | _LABEL_NAMES
labels = st.dictionaries(label_keys, label_values | st.integers(0, 2**70).map(str), max_size=4)

"""Kubernetes quantities, exact: `80Gi`, `1500m`, `2.5`, `1e3`.

A value is one integer, the number of billionths (nano), because nothing finer than a nano can be written. Adding and
comparing are therefore plain integer arithmetic of any size. Beside the value a quantity remembers the family of its
suffix, in which it prints again, and the spelling it was read from where Kubernetes keeps it. Neither takes part in
equality: `0.5Gi`, `512Mi` and `536870912` are equal and hash alike.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Final

__all__ = [
    "MAX_INT64",
    "MIN_INT64",
    "ZERO",
    "Quantity",
    "QuantityError",
    "QuantityFormat",
    "QuantityFormatError",
    "QuantityNumberError",
    "QuantitySuffixError",
    "decode_quantity",
    "format_quantity",
    "parse_quantity",
]

MAX_INT64: Final = 2**63 - 1
MIN_INT64: Final = -(2**63)
_NANOS: Final = 10**9
_NANOS_PER_MILLI: Final = 10**6
_MAX_BINARY_NANOS: Final = MAX_INT64 * _NANOS

_MAX_DIGITS: Final = 4_000
"""Digits a quantity may have. Python turns at most 4,300 digits into a number and back, and a short text such as
1e2147483647 must not cost gigabytes; real quantities have 20."""


class QuantityError(ValueError):
    """Text is not a quantity; the message is Kubernetes'."""

    message: str = ""

    def __init__(self) -> None:
        super().__init__(self.message)


class QuantityFormatError(QuantityError):
    """Empty, or not a number followed by a suffix."""

    message = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


class QuantitySuffixError(QuantityError):
    """A number, but no such suffix or exponent."""

    message = "unable to parse quantity's suffix"


class QuantityNumberError(QuantityError):
    """A suffix without a number before it, or a number of absurd length."""

    message = "unable to parse numeric part of quantity"


class QuantityFormat(Enum):
    """The family of suffixes a quantity prints in."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


class Quantity:
    """An exact number with a preferred way to print; immutable, ordered, equal and hashed by value.

    Results of arithmetic print in the family of the left operand, or of the right one if the left is zero.
    """

    __slots__ = ("_family", "_is_whole", "_nanos", "_text")

    def __init__(
        self,
        nanos: int,
        family: QuantityFormat = QuantityFormat.DECIMAL_SI,
        *,
        text: str | None = None,
        is_whole: bool = True,
    ) -> None:
        """Take the value in billionths; most callers want `parse_quantity`, `Quantity.of` or `Quantity.of_milli`.

        `text` is the spelling to print, `is_whole` what `is_integer` says of an integral value.
        """
        self._nanos = nanos
        self._family = family
        self._text = text
        self._is_whole = is_whole

    @classmethod
    def of(cls, units: int, family: QuantityFormat = QuantityFormat.DECIMAL_SI) -> Quantity:
        """A whole number."""
        return cls(units * _NANOS, family)

    @classmethod
    def of_milli(cls, thousandths: int, family: QuantityFormat = QuantityFormat.DECIMAL_SI) -> Quantity:
        """A number of thousandths."""
        return cls(thousandths * _NANOS_PER_MILLI, family, is_whole=False)

    @property
    def nanos(self) -> int:
        """The exact value in billionths."""
        return self._nanos

    @property
    def family(self) -> QuantityFormat:
        """The family of suffixes it prints in."""
        return self._family

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self._nanos > 0) - (self._nanos < 0)

    @property
    def is_zero(self) -> bool:
        """Whether the value is 0."""
        return self._nanos == 0

    @property
    def is_integer(self) -> bool:
        """Whether Kubernetes treats it as an integer of 64 bits.

        It looks at how the number was written: `1.0` and `1000m` are none though they equal 1, and neither is `1Pi`,
        which it does not keep as an integer.
        """
        return self._is_whole and self._nanos % _NANOS == 0 and MIN_INT64 <= self._nanos // _NANOS <= MAX_INT64

    def as_integer(self) -> int | None:
        """The value as an integer; None unless `is_integer`."""
        return self._nanos // _NANOS if self.is_integer else None

    def as_approximate_float(self) -> float:
        """The nearest float; infinite beyond its range."""
        try:
            return self._nanos / _NANOS
        except OverflowError:
            return float("inf") * self.sign

    def as_exact_milli(self) -> int | None:
        """The value in thousandths; None if it is finer than that or beyond 64 bits."""
        thousandths, rest = divmod(self._nanos, _NANOS_PER_MILLI)
        return thousandths if rest == 0 and MIN_INT64 <= thousandths <= MAX_INT64 else None

    def value(self) -> int:
        """The value rounded away from zero to an integer, held within 64 bits."""
        return _saturate(_divide_away(self._nanos, _NANOS))

    def milli_value(self) -> int:
        """The value in thousandths, rounded away from zero, held within 64 bits."""
        return _saturate(_divide_away(self._nanos, _NANOS_PER_MILLI))

    def __add__(self, other: Quantity) -> Quantity:
        if other.__class__ is not Quantity:
            return NotImplemented
        return self._with_sum(other, self._nanos + other._nanos)

    def __sub__(self, other: Quantity) -> Quantity:
        if other.__class__ is not Quantity:
            return NotImplemented
        return self._with_sum(other, self._nanos - other._nanos)

    def _with_sum(self, other: Quantity, nanos: int) -> Quantity:
        if self._nanos == 0:
            return Quantity(nanos, other._family, is_whole=other._is_whole)
        return Quantity(nanos, self._family, is_whole=self._is_whole and (other._is_whole or other._nanos == 0))

    def __mul__(self, factor: int) -> Quantity:
        if factor.__class__ is not int:
            return NotImplemented
        return Quantity(self._nanos * factor, self._family, is_whole=self._is_whole or factor == 0)

    __rmul__ = __mul__

    def __neg__(self) -> Quantity:
        return Quantity(-self._nanos, self._family, is_whole=self._is_whole)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self._nanos == other._nanos

    def __lt__(self, other: Quantity) -> bool:
        return self._nanos < other._nanos if other.__class__ is Quantity else NotImplemented

    def __le__(self, other: Quantity) -> bool:
        return self._nanos <= other._nanos if other.__class__ is Quantity else NotImplemented

    def __gt__(self, other: Quantity) -> bool:
        return self._nanos > other._nanos if other.__class__ is Quantity else NotImplemented

    def __ge__(self, other: Quantity) -> bool:
        return self._nanos >= other._nanos if other.__class__ is Quantity else NotImplemented

    def __hash__(self) -> int:
        return hash(self._nanos)

    def __str__(self) -> str:
        text = self._text
        if text is None:
            text = self._text = _canonical_text(self._nanos, self._family)
        return text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"


def parse_quantity(text: str) -> Quantity:
    """Read a quantity, rounding away from zero what is finer than a nano.

    Values with a binary suffix are held within 2^63-1, as Kubernetes does. Blanks are not taken. Refuses with one of
    the three `QuantityError`s. Answers for short texts are remembered.
    """
    return _parse_remembered(text) if len(text) <= _REMEMBERED_LENGTH else _parse(text)


def format_quantity(quantity: Quantity) -> str:
    """Print a quantity: as it was spelled if Kubernetes keeps that spelling, else canonically."""
    return str(quantity)


def decode_quantity(json: str | float) -> Quantity:
    """Read a quantity from a decoded JSON string or number. A string may have blanks around it, but no line breaks."""
    if isinstance(json, str):
        return parse_quantity(json.strip(" "))
    if isinstance(json, bool):
        raise QuantityFormatError
    is_small_integer = abs(json) < 2**53 and json == int(json)
    return parse_quantity(str(int(json) if is_small_integer else json))


_DECIMAL_SUFFIXES: Final = {
    -9: "n",
    -6: "u",
    -3: "m",
    0: "",
    3: "k",
    6: "M",
    9: "G",
    12: "T",
    15: "P",
    18: "E",
}
_BINARY_SUFFIXES: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL_EXPONENTS: Final = {suffix: exponent for exponent, suffix in _DECIMAL_SUFFIXES.items()}
_BINARY_EXPONENTS: Final = {suffix: 10 * index for index, suffix in enumerate(_BINARY_SUFFIXES) if suffix}


def _canonical_text(nanos: int, family: QuantityFormat) -> str:
    """Print without a decimal point and with the largest suffix that loses nothing.

    The binary family is left where it would mislead or could not be read back: below 1024, for fractions, and beyond
    2^63-1. The decimal family goes over to an exponent beyond `E`.
    """
    if nanos == 0:
        return "0"
    is_binary = family is QuantityFormat.BINARY_SI and nanos % _NANOS == 0
    if is_binary and 1024 * _NANOS <= abs(nanos) <= _MAX_BINARY_NANOS:
        units, power = nanos // _NANOS, 0
        while units % 1024 == 0:
            units //= 1024
            power += 1
        return f"{units}{_BINARY_SUFFIXES[power]}"
    exponent = -9
    while nanos % 1000 == 0:
        nanos //= 1000
        exponent += 3
    if exponent == 0:
        return str(nanos)
    if family is QuantityFormat.DECIMAL_EXPONENT or exponent not in _DECIMAL_SUFFIXES:
        return f"{nanos}e{exponent}"
    return f"{nanos}{_DECIMAL_SUFFIXES[exponent]}"


def _divide_away(number: int, divisor: int) -> int:
    """Divide, rounding away from zero."""
    return -(-number // divisor) if number > 0 else number // divisor


def _saturate(number: int) -> int:
    return min(max(number, MIN_INT64), MAX_INT64)


_REMEMBERED_LENGTH: Final = 32
# Possessive, so that long nonsense is refused in linear time.
_GRAMMAR: Final = re.compile(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[+-]?+[0-9]*+)")
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)")


def _parse(text: str) -> Quantity:
    match = _GRAMMAR.fullmatch(text)
    if match is None or not text:
        raise QuantityFormatError
    sign, whole, fraction, suffix = match.groups()
    fraction = fraction or ""
    digits = whole + fraction
    binary_exponent = _BINARY_EXPONENTS.get(suffix)
    if len(digits) > _MAX_DIGITS:
        raise QuantityNumberError
    if binary_exponent is not None:
        return _parse_binary(text, sign, whole, fraction, binary_exponent)
    exponent = _DECIMAL_EXPONENTS.get(suffix)
    family = QuantityFormat.DECIMAL_SI
    if exponent is None:
        family = QuantityFormat.DECIMAL_EXPONENT
        exponent = _parse_exponent(suffix)
    scale = exponent - len(fraction)
    significant = whole.lstrip("0")
    # Kubernetes keeps a number of up to 18 digits as integer and scale, and with it a spelling that looks canonical.
    is_kept = len(significant or "0") + len(fraction) <= 18 and scale >= -9
    number = _read_digits(digits, is_kept=is_kept)
    nanos = _to_nanos(number, scale, len(digits))
    is_spelling_kept = is_kept and scale % 3 == 0 and significant and not digits.endswith("000")
    return Quantity(
        -nanos if sign == "-" else nanos,
        family,
        text=text if is_spelling_kept else None,
        is_whole=is_kept and scale >= 0,
    )


def _parse_binary(text: str, sign: str, whole: str, fraction: str, exponent: int) -> Quantity:
    significant = whole.lstrip("0")
    digits = whole + fraction
    # What Kubernetes keeps as an integer: its own estimate of 15 digits in all.
    is_kept = not fraction and len(significant or "0") + exponent * 3 // 10 <= 14
    number = _read_digits(digits, is_kept=is_kept)
    nanos = min(_to_nanos(number << exponent, -len(fraction), len(digits) + 20), _MAX_BINARY_NANOS)
    return Quantity(
        -nanos if sign == "-" else nanos,
        QuantityFormat.BINARY_SI if nanos == 0 or nanos >= _NANOS else QuantityFormat.DECIMAL_SI,
        text=text if is_kept and number % 8 else None,
        is_whole=is_kept,
    )


def _parse_exponent(suffix: str) -> int:
    match = _EXPONENT.fullmatch(suffix)
    if match is None or len(suffix) > 20:
        raise QuantitySuffixError
    exponent = int(match[1])
    if exponent > _MAX_DIGITS:
        raise QuantitySuffixError
    return exponent


def _read_digits(digits: str, *, is_kept: bool) -> int:
    """No digits are zero where Kubernetes keeps the number as an integer: `m`, `.` and `Gi` are 0, `Ei` is refused."""
    if not digits and not is_kept:
        raise QuantityNumberError
    return int(digits or "0")


def _to_nanos(number: int, scale: int, width: int) -> int:
    """`number` (at most `width` digits) times 10^scale in billionths, rounded up."""
    if scale >= -9:
        return int(number * 10 ** (scale + 9))
    if -9 - scale > width:
        return 1 if number else 0
    return int(-(-number // 10 ** (-9 - scale)))


_parse_remembered = lru_cache(maxsize=4096)(_parse)

ZERO: Final = Quantity(0)
"""Nothing, printed `0`."""

"""Names, keys and closed sets of values as faults of a field."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from dray.errors import FieldError, invalid, not_supported, required
from dray.values.fieldpath import FieldPath
from dray.values.names import (
    config_key_faults,
    dns_label_faults,
    dns_subdomain_faults,
    label_key_faults,
    label_value_faults,
)

__all__ = [
    "INT32_MAX",
    "choice_faults",
    "config_key_path_faults",
    "key_faults",
    "label_faults",
    "labels_faults",
    "range_faults",
    "required_choice_faults",
    "required_label_faults",
    "subdomain_faults",
    "suggest",
    "value_faults",
]

INT32_MAX = 2**31 - 1
_LIKENESS = 0.75
"""How like a known word must be to be suggested: `date` is like `data`, `gpu` is not like `cpu`."""


def suggest(word: str, known: Iterable[str]) -> str | None:
    """A hint that names the known word that was probably meant."""
    close = get_close_matches(word, list(known), n=1, cutoff=_LIKENESS)
    return f'did you mean "{close[0]}"?' if close else None


def label_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    """A DNS label."""
    for detail in dns_label_faults(text):
        yield invalid(path, text, detail)


def required_label_faults(text: str, path: FieldPath, *, hint: str | None = None) -> Iterator[FieldError]:
    """A DNS label that has to be given."""
    if text:
        yield from label_faults(text, path)
    else:
        yield required(path, hint=hint)


def subdomain_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    """A DNS subdomain, such as the name of an object."""
    for detail in dns_subdomain_faults(text):
        yield invalid(path, text, detail)


def key_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    """A key of a label, a taint, a gate or a condition."""
    for detail in label_key_faults(text):
        yield invalid(path, text, detail)


def value_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    """The value of a label."""
    for detail in label_value_faults(text):
        yield invalid(path, text, detail)


def labels_faults(labels: Mapping[str, str], path: FieldPath) -> Iterator[FieldError]:
    """Keys and values of labels; every fault is at the map, because a key may be unfit for a path."""
    for name, value in labels.items():
        yield from key_faults(name, path)
        yield from value_faults(value, path)


def config_key_path_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    """A key in a config map or secret, which has to be given."""
    if not text:
        yield required(path)
    for detail in config_key_faults(text) if text else ():
        yield invalid(path, text, detail)


def choice_faults(text: str, supported: Iterable[str], path: FieldPath) -> Iterator[FieldError]:
    """One of a closed set of values."""
    known = tuple(supported)
    if text not in known:
        yield not_supported(path, text, known, hint=suggest(text, known))


def required_choice_faults(text: str, supported: Iterable[str], path: FieldPath) -> Iterator[FieldError]:
    """One of a closed set of values, which has to be given."""
    if text:
        yield from choice_faults(text, supported, path)
    else:
        yield required(path)


def range_faults(number: int, low: int, high: int, path: FieldPath) -> Iterator[FieldError]:
    """A number between two others."""
    if not low <= number <= high:
        yield invalid(path, number, f"must be between {low} and {high}, inclusive")

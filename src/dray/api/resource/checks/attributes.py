"""Attributes of devices: one typed value, or a list of values of one type."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from dray.api.resource.checks.names import check_qualified_name, shorten_key
from dray.api.resource.checks.report import Report
from dray.api.resource.device import DeviceAttribute
from dray.errors import FieldError, invalid, too_long
from dray.values.fieldpath import FieldPath, key
from dray.values.names import byte_length
from dray.values.semver import attribute_version_faults

__all__ = ["count_values", "has_list", "inspect_attributes"]

_MAX_BYTES = 64
_MEMBERS = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
_LISTS = _MEMBERS[4:]
_ANY_MEMBER = ", ".join(f"`{member}`" for member in _MEMBERS)


def inspect_attributes(attributes: Mapping[str, DeviceAttribute], path: FieldPath, report: Report) -> None:
    """Names are sound and every attribute has exactly one value, or one list of them."""
    for name, attribute in attributes.items():
        report.add_all(check_qualified_name(name, path))
        if not _is_plain(attribute):
            report.add_all(_value_faults(attribute, path / key(shorten_key(name))))
            _inspect_members(attribute, path / key(name), report)


def has_list(attribute: DeviceAttribute) -> bool:
    """Whether a list of values is given, even an empty one."""
    return not (
        attribute.strings is None and attribute.ints is None and attribute.versions is None and attribute.bools is None
    )


def count_values(attribute: DeviceAttribute) -> int:
    """How many values count towards the limit of a device: the elements of lists, else 1, even if nothing is set."""
    if not has_list(attribute):
        return 1
    return sum(len(getattr(attribute, member) or ()) for member in _LISTS) or 1


def _is_plain(attribute: DeviceAttribute) -> bool:
    """Whether the attribute has one scalar that is sound: the usual case, decided without building anything."""
    if has_list(attribute):
        return False
    text = attribute.string
    others = (attribute.int is not None) + (attribute.bool is not None) + (attribute.version is not None)
    if text is None:
        return others == 1 and (attribute.version is None or _is_sound_version(attribute.version))
    return not others and not _is_too_long(text)


@lru_cache(maxsize=1024)
def _is_sound_version(text: str) -> bool:
    """Whether a version is sound. Devices of one driver repeat the same few, so the answer is remembered."""
    return len(text) <= _MAX_BYTES and not attribute_version_faults(text)


def _is_too_long(text: str) -> bool:
    return len(text) > _MAX_BYTES // 4 and byte_length(text) > _MAX_BYTES


def _value_faults(attribute: DeviceAttribute, path: FieldPath) -> Iterator[FieldError]:
    if attribute.string is not None:
        yield from _text_faults(attribute.string, path / "string")
    if attribute.version is not None:
        yield from _version_faults(attribute.version, path / "version")
    for member in _LISTS:
        if getattr(attribute, member) == ():
            yield invalid(path / member, (), "must not be empty if specified", hint=f"remove {member}, or give values")
    for index, text in enumerate(attribute.strings or ()):
        yield from _text_faults(text, path / "strings" / index)
    for index, text in enumerate(attribute.versions or ()):
        yield from _version_faults(text, path / "versions" / index)


def _text_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    if _is_too_long(text):
        yield too_long(path, _MAX_BYTES)


def _version_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    for detail in attribute_version_faults(text):
        yield invalid(path, text, detail, hint="write it as 1.2.3, or use string for other spellings")
    yield from _text_faults(text, path)


def _inspect_members(attribute: DeviceAttribute, path: FieldPath, report: Report) -> None:
    given = [member for member in _MEMBERS if getattr(attribute, member) is not None]
    if all(getattr(attribute, member) == () for member in given):  # an empty list is no value
        report.declare(invalid(path, "", f"must specify one of: {_ANY_MEMBER}", hint="give it a value, such as string"))
    elif len(given) > 1:
        shown, hint = f"{{{', '.join(given)}}}", f"keep {given[0]} alone"
        report.declare(invalid(path, shown, f"must specify exactly one of: {_ANY_MEMBER}", hint=hint))

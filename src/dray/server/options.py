"""Query parameters: what a request asks for besides its body, with every refusal in the API server's words.

Unknown parameters are ignored. A flag is set by `true`, `True`, `1`, `yes` or nothing at all.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl

from msgspec import Struct

from dray.api.meta import DeleteOptions, Preconditions
from dray.errors import (
    BadRequest,
    FieldError,
    Invalid,
    ObjectRef,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from dray.values.fieldpath import ROOT
from dray.values.quoting import quote

__all__ = [
    "NO_QUERY",
    "ListQuery",
    "Query",
    "Validation",
    "WriteQuery",
    "check_delete_options",
    "check_list",
    "is_flag_set",
    "parse_query",
    "read_delete_query",
    "read_list_query",
    "read_write_query",
]

Query = Mapping[str, Sequence[str]]
NO_QUERY: Final[Query] = {}

_ALL: Final = "All"
_FALSE: Final = frozenset({"false", "0", "False", "no"})
_MAX_MANAGER_BYTES: Final = 128
_POLICIES: Final = ("Foreground", "Background", "Orphan")


class Validation:
    """What is done about unknown and repeated fields."""

    STRICT: Final = "Strict"
    WARN: Final = "Warn"
    IGNORE: Final = "Ignore"


class WriteQuery(Struct, frozen=True):
    """How a write is made. `force` is None where it was not given."""

    field_manager: str = ""
    is_dry_run: bool = False
    validation: str = Validation.WARN
    force: bool | None = None


class ListQuery(Struct, frozen=True):
    """What a list or a watch is narrowed to."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    limit: int = 0
    continue_token: str = ""
    is_watch: bool = False
    allow_bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout_seconds: int | None = None


_PLAIN_WRITE: Final = WriteQuery()
_PLAIN_LIST: Final = ListQuery()


def parse_query(text: bytes) -> Query:
    """Split a query string; a parameter may be given more than once."""
    if not text:
        return NO_QUERY
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(text.decode("latin-1"), keep_blank_values=True):
        values.setdefault(name, []).append(value)
    return values


def _first(query: Query, name: str) -> str:
    values = query.get(name)
    return values[0] if values else ""


def is_flag_set(query: Query, name: str) -> bool:
    """Whether a flag is given, and not as false."""
    return bool(_flag(query, name))


def _flag(query: Query, name: str) -> bool | None:
    values = query.get(name)
    return None if values is None else values[0] not in _FALSE


def _integer(query: Query, name: str) -> int | None:
    text = _first(query, name)
    if not text:
        return None
    digits = text[1:] if text[0] in "+-" else text
    if not (digits.isascii() and digits.isdigit()):
        raise BadRequest(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    value = int(text) if len(digits) <= 20 else 2**64
    if not -(2**63) <= value < 2**63:
        raise BadRequest(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return value


def _refuse(name: str, faults: Sequence[FieldError]) -> None:
    if faults:
        raise Invalid(ObjectRef("meta.k8s.io", name), faults)


def read_write_query(query: Query, options: str, *, is_apply: bool = False) -> WriteQuery:
    """The options of a create, update or patch; `options` is their name in errors, such as `CreateOptions`."""
    if not query and not is_apply:
        return _PLAIN_WRITE
    manager, validation = _first(query, "fieldManager"), _first(query, "fieldValidation")
    force = _flag(query, "force") if options == "PatchOptions" else None
    faults: list[FieldError] = []
    if is_apply and not manager:
        faults.append(required(ROOT / "fieldManager", "is required for apply patch"))
    if force is not None and not is_apply:
        faults.append(forbidden(ROOT / "force", "may not be specified for non-apply patch"))
    if len(manager.encode()) > _MAX_MANAGER_BYTES:
        faults.append(too_long(ROOT / "fieldManager", _MAX_MANAGER_BYTES))
    faults += [
        invalid(ROOT / "fieldManager", manager, f"invalid character U+{ord(character):04X} (at position {index})")
        for index, character in enumerate(manager)
        if not character.isprintable()
    ]
    dry_run = query.get("dryRun", ())
    faults += _check_dry_run(dry_run)
    if validation not in ("", Validation.IGNORE, Validation.STRICT, Validation.WARN):
        supported = ("", Validation.IGNORE, Validation.STRICT, Validation.WARN)
        faults.append(not_supported(ROOT / "fieldValidation", validation, supported))
    _refuse(options, faults)
    return WriteQuery(manager, bool(dry_run), validation or Validation.WARN, force)


def _check_dry_run(values: Sequence[str]) -> list[FieldError]:
    if all(value == _ALL for value in values):
        return []
    return [not_supported(ROOT / "dryRun", list(values), (_ALL,))]


def read_list_query(query: Query, *, is_watch: bool = False) -> ListQuery:
    """The options of a list or a watch."""
    if not query and not is_watch:
        return _PLAIN_LIST
    asked = ListQuery(
        label_selector=_first(query, "labelSelector"),
        field_selector=_first(query, "fieldSelector"),
        resource_version=_first(query, "resourceVersion"),
        resource_version_match=_first(query, "resourceVersionMatch"),
        limit=max(_integer(query, "limit") or 0, 0),
        continue_token=_first(query, "continue"),
        is_watch=is_watch or bool(_flag(query, "watch")),
        allow_bookmarks=bool(_flag(query, "allowWatchBookmarks")),
        send_initial_events=_flag(query, "sendInitialEvents"),
        timeout_seconds=_integer(query, "timeoutSeconds"),
    )
    check_list(asked)
    return asked


def check_list(asked: ListQuery) -> None:
    """Refuse with Invalid what a list or a watch cannot mean."""
    _refuse("ListOptions", _check_watch(asked) if asked.is_watch else _check_list(asked))


_MATCH: Final = ROOT / "resourceVersionMatch"
_INITIAL: Final = ROOT / "sendInitialEvents"


def _check_list(asked: ListQuery) -> list[FieldError]:
    faults: list[FieldError] = []
    match, version = asked.resource_version_match, asked.resource_version
    if asked.send_initial_events is not None:
        faults.append(forbidden(_INITIAL, "sendInitialEvents is forbidden for list"))
    if not match:
        return faults
    if not version:
        faults.append(forbidden(_MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
    if asked.continue_token:
        faults.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    if match not in ("Exact", "NotOlderThan"):
        faults.append(not_supported(_MATCH, match, ("Exact", "NotOlderThan", "")))
    if match == "Exact" and version == "0":
        faults.append(forbidden(_MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    return faults


def _check_watch(asked: ListQuery) -> list[FieldError]:
    match = asked.resource_version_match
    if asked.send_initial_events is None:
        if not match:
            return []
        text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        faults = [forbidden(_MATCH, text)]
    elif not match:
        return [forbidden(_MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")]
    else:
        faults = []
    if match != "NotOlderThan":
        faults.append(not_supported(_MATCH, match, ("NotOlderThan",)))
    if asked.continue_token:
        faults.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    return faults


def read_delete_query(query: Query) -> DeleteOptions:
    """The options of a deletion without a body."""
    if not query:
        return DeleteOptions()
    uid, version = _first(query, "preconditions.uid"), _first(query, "preconditions.resourceVersion")
    return DeleteOptions(
        grace_period_seconds=_integer(query, "gracePeriodSeconds"),
        propagation_policy=_first(query, "propagationPolicy") or None,
        orphan_dependents=_flag(query, "orphanDependents"),
        dry_run=tuple(query.get("dryRun", ())),
        preconditions=Preconditions(uid=uid or None, resource_version=version or None) if uid or version else None,
    )


def check_delete_options(options: DeleteOptions) -> None:
    """Refuse with Invalid what a deletion cannot mean."""
    policy, path = options.propagation_policy, ROOT / "propagationPolicy"
    faults: list[FieldError] = []
    if policy is not None and options.orphan_dependents is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        faults.append(invalid(path, policy, text))
    if policy is not None and policy not in _POLICIES:
        faults.append(not_supported(path, policy, (*_POLICIES, "nil")))
    faults += _check_dry_run(options.dry_run)
    _refuse("DeleteOptions", faults)

"""What a write would store, or every reason why it may not.

One pure function for each way of writing: create, update, update of the status. Each fills in defaults, sets what the
server owns in the metadata, lets the kind reset what this way of writing may not touch, and then runs all checks,
those of metadata first. The server, the offline check of the command line and the conformance tool all plan their
writes here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from dray.api.checks import CheckContext
from dray.api.kind import Check, Kind
from dray.api.meta import ApiObject, ObjectMeta
from dray.api.metachecks import check_changed_metadata, check_new_metadata
from dray.errors import ApiError, BadRequest, Conflict, FieldError, Invalid, ObjectRef, invalid
from dray.values.fieldpath import METADATA
from dray.values.quoting import quote

__all__ = [
    "PlannedWrite",
    "get_reference",
    "parse_version",
    "plan_create",
    "plan_status_update",
    "plan_update",
    "require_name",
    "settle_namespace",
    "settle_resource_version",
]

K = TypeVar("K", bound=ApiObject)

_MAX_VERSION = 2**64


@dataclass(frozen=True, slots=True)
class PlannedWrite(Generic[K]):
    """The object as it would be stored, what is wrong with it, and what the client should be told anyway."""

    about: ObjectRef
    result: K
    faults: tuple[FieldError, ...]
    warnings: tuple[str, ...] = ()

    def require_valid(self) -> K:
        """The object to store. Raises Invalid with all faults if there are any."""
        if self.faults:
            raise Invalid(self.about, self.faults)
        return self.result


def get_reference(kind: Kind[K], thing: K) -> ObjectRef:
    """Which object this is, for errors about it."""
    meta = thing.metadata
    return ObjectRef(kind.group, kind.name, kind.plural, meta.namespace, meta.name)


def settle_namespace(kind: Kind[K], thing: K, namespace: str) -> K:
    """Put the object where the request goes. Raises BadRequest if it names another namespace.

    `namespace` is empty for kinds without namespaces, whose objects lose the one they name.
    """
    named = thing.metadata.namespace
    if named == namespace:
        return thing
    if named and namespace:
        text = "the namespace of the provided object does not match the namespace sent on the request"
        raise BadRequest(text, get_reference(kind, thing))
    return replace(thing, metadata=replace(thing.metadata, namespace=namespace))


def require_name(kind: Kind[K], thing: K, name: str) -> K:
    """The object of an update, which has to bear the name in its path. Raises BadRequest if it does not."""
    named = thing.metadata.name
    if named == name:
        return thing
    if named:
        text = f"the name of the object ({named}) does not match the name on the URL ({name})"
    else:
        text = f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
    raise BadRequest(text, get_reference(kind, thing))


def settle_resource_version(kind: Kind[K], version: str, new: K, old: K) -> K:
    """Hold an update against the stored object.

    Without a resource version, or with 0, it goes against whatever is stored, where this version of the kind allows
    that, and is refused with Invalid where not. Raises Conflict for any other than the stored one, ApiError for what is
    no number.
    """
    about = get_reference(kind, old)
    sent, stored = new.metadata.resource_version, old.metadata.resource_version
    if sent != stored and not parse_version(sent or "0"):
        served = kind.find_version(version)
        if served is not None and not served.unconditional_update:
            fault = invalid(METADATA / "resourceVersion", 0, "must be specified for an update")
            # The API server names the resource here where it otherwise names the kind.
            raise Invalid(ObjectRef(kind.group, kind.plural, kind.plural, about.namespace, about.name), [fault])
        return replace(new, metadata=replace(new.metadata, resource_version=stored))
    if sent != stored:
        text = (
            f'Operation cannot be fulfilled on {about.qualified_resource} "{about.name}": the object has been '
            "modified; please apply your changes to the latest version and try again"
        )
        raise Conflict(text, about)
    return new


def parse_version(text: str) -> int:
    """A resource version as the number that it is. Raises ApiError, in Go's words, for what is none."""
    if not (text.isascii() and text.isdigit()):
        raise ApiError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    if int(text) >= _MAX_VERSION:
        raise ApiError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)


def _is_of_a_stored_object(version: str) -> bool:
    """Whether it is the version of an object that is stored: what is no number is not looked at."""
    return version.isascii() and version.isdigit() and int(version) != 0


def plan_create(kind: Kind[K], new: K, context: CheckContext) -> PlannedWrite[K]:
    """Plan to store a new object, decoded and in its namespace.

    The caller gives the uid, and the name if it is to be generated; what the client says about either is not looked at.
    Raises ApiError for a resource version, which only stored objects have.
    """
    if _is_of_a_stored_object(new.metadata.resource_version):
        raise ApiError("resourceVersion should not be set on objects to be created", get_reference(kind, new))
    new = kind.default(new, context.now)
    meta = replace(
        new.metadata,
        creation_timestamp=context.now,
        deletion_timestamp=None,
        deletion_grace_period_seconds=None,
        self_link="",
        resource_version="",
        generation=1 if kind.counts_generations else new.metadata.generation,
    )
    new = kind.prepare_create(replace(new, metadata=meta))
    faults = check_new_metadata(new, kind)
    return _check(kind, kind.create_checks, (new, None), context, faults)


def plan_update(kind: Kind[K], new: K, old: K, context: CheckContext) -> PlannedWrite[K]:
    """Plan to replace a stored object, status aside."""
    new = kind.default(new, context.now)
    new = replace(new, metadata=_restore_system_fields(new.metadata, old.metadata))
    new = kind.prepare_update(new, old, context.now)
    return _check(kind, kind.update_checks, (new, old), context, check_changed_metadata(new, old))


def plan_status_update(kind: Kind[K], new: K, old: K, context: CheckContext) -> PlannedWrite[K]:
    """Plan to replace the status of a stored object, and nothing else of it."""
    new = kind.default(new, context.now)
    new = replace(new, metadata=_restore_system_fields(new.metadata, old.metadata))
    new = kind.prepare_status(new, old, context.now)
    return _check(kind, kind.status_checks, (new, old), context, check_changed_metadata(new, old))


def _restore_system_fields(new: ObjectMeta, old: ObjectMeta) -> ObjectMeta:
    """Take from the stored object what a client may leave out of an update, or cannot change by one."""
    deletion, grace = new.deletion_timestamp, new.deletion_grace_period_seconds
    return replace(
        new,
        self_link="",
        generation=old.generation,
        creation_timestamp=old.creation_timestamp,
        uid=new.uid or old.uid,
        resource_version=new.resource_version or old.resource_version,
        deletion_timestamp=deletion if old.deletion_timestamp is None else old.deletion_timestamp,
        deletion_grace_period_seconds=old.deletion_grace_period_seconds if grace is None else grace,
    )


def _check(
    kind: Kind[K],
    checks: Sequence[Check[Any]],
    written: tuple[K, K | None],
    context: CheckContext,
    faults: list[FieldError],
) -> PlannedWrite[K]:
    new, old = written
    for check in checks:
        faults += check(new, old, context)
    warnings = kind.warnings(new) if old is None or kind.warns_of_updates else ()
    return PlannedWrite(get_reference(kind, new), new, tuple(faults), tuple(warnings))

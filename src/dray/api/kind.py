"""`Kind`: everything the rest of dray needs to know about one kind of object.

Decoding, defaults, checks, discovery, routes, tables, field selectors and the command line all iterate over Kinds; no
other place lists them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from dray.api.checks import CheckContext
from dray.api.columns import AGE, NAME, Column, RowCondition
from dray.api.meta import ApiObject
from dray.api.struct import ApiStruct
from dray.errors import FieldError
from dray.values.names import dns_subdomain_faults
from dray.values.times import Time

__all__ = [
    "ALL_VERBS",
    "READ_WRITE_VERBS",
    "STATUS",
    "Check",
    "JsonObject",
    "Kind",
    "Operation",
    "Scope",
    "ServedVersion",
    "Subresource",
    "Upgrade",
]

K = TypeVar("K", bound=ApiObject)
JsonObject = dict[str, Any]

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
READ_WRITE_VERBS = ("get", "patch", "update")


class Scope(StrEnum):
    """Whether objects of a kind live in namespaces."""

    NAMESPACED = "Namespaced"
    CLUSTER = "Cluster"


class Operation(StrEnum):
    """The three ways an object is written; each kind may check and prepare them differently."""

    CREATE = "create"
    UPDATE = "update"
    UPDATE_STATUS = "updateStatus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """How one older wire shape becomes the declared one and back.

    `replaced` says which declared types look different in the old version: `{Device: v1beta1.Device}`. Everything that
    contains one of them follows by itself; strict decoding, type errors and the published schema of the old version
    come from it. Both functions take a JSON object that has the right types for its side (decoded through the old or
    the declared shape first), may change it in place, and return it. Neither touches apiVersion, which the codec sets.
    """

    replaced: Mapping[type[ApiStruct], type[ApiStruct]]
    to_declared: Callable[[JsonObject], JsonObject]
    from_declared: Callable[[JsonObject], JsonObject]


@dataclass(frozen=True, slots=True)
class ServedVersion:
    """One API version a kind is served in. `upgrade` is None where the shape equals the declared one."""

    name: str
    upgrade: Upgrade | None = None
    deprecation: str | None = None
    """Text of the warning that goes with every answer in this version, None where it is current."""
    unconditional_update: bool = True
    """Whether an update without resourceVersion replaces whatever is stored."""
    delete_returns_object: bool = True
    """Whether DELETE answers with the object it removed, not with a Status."""


@dataclass(frozen=True, slots=True)
class Subresource:
    """A part of an object, or an act on it, with a path of its own.

    `kind`, `group` and `version` say what its body is where that is not the object itself: `pods/eviction` takes an
    Eviction of policy/v1.
    """

    name: str
    verbs: tuple[str, ...] = READ_WRITE_VERBS
    kind: str = ""
    group: str = ""
    version: str = ""


STATUS = Subresource("status")

Check = Callable[[K, K | None, CheckContext], list[FieldError]]
"""`check(new, old, context)`; `old` is None on create."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind(Generic[K]):
    """One kind of object. Functions are pure; `default` and `prepare_*` return the object to go on with.

    Order of a write: decode, `default`, `prepare_*` (reset what this operation may not touch, set the generation), the
    metadata checks of every kind, then this kind's checks. Generic metadata (uid, timestamps, immutability, names) is
    no business of a kind; only `name_faults` is.
    """

    struct: type[K]
    group: str
    plural: str
    singular: str
    scope: Scope
    versions: tuple[ServedVersion, ...]
    """In order of preference. The first gives its name to objects in memory."""
    storage_version: str
    storage_group: str | None = None
    """Where objects are stored as those of another group, as Events are; None: the kind's own group."""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    name_faults: Callable[[str], Sequence[str]] = dns_subdomain_faults
    """What is wrong with a complete name."""
    counts_generations: bool = False
    """Whether generation starts at 1 (and `prepare_update` raises it)."""
    default: Callable[[K, Time], K] = lambda new, now: new
    prepare_create: Callable[[K], K] = lambda new: new
    prepare_update: Callable[[K, K, Time], K] = lambda new, old, now: new
    prepare_status: Callable[[K, K, Time], K] = lambda new, old, now: new
    create_checks: Sequence[Check[K]] = ()
    update_checks: Sequence[Check[K]] = ()
    status_checks: Sequence[Check[K]] = ()
    warnings: Callable[[K], list[str]] = lambda new: []
    warns_of_updates: bool = True
    """Whether who updates an object is warned too: not of kinds that programs update all the time."""
    columns: tuple[Column[K], ...] = (NAME, AGE)
    row_conditions: Callable[[K], tuple[RowCondition, ...]] = lambda thing: ()
    """What a table says of the whole row of an object."""
    field_selectors: Mapping[str, Callable[[K], str]] = field(default_factory=dict)
    """Fields besides metadata.name and metadata.namespace that `--field-selector` knows."""

    @property
    def name(self) -> str:
        """The kind's name, as in `kind:`."""
        return self.struct.__name__

    @property
    def has_status(self) -> bool:
        """Whether the status is written apart."""
        return STATUS in self.subresources

    @property
    def is_namespaced(self) -> bool:
        """Whether objects live in namespaces."""
        return self.scope is Scope.NAMESPACED

    @property
    def declared_version(self) -> str:
        """The version whose shape the Struct has, and which objects in memory name."""
        return self.versions[0].name

    def api_version(self, version: str) -> str:
        """`resource.k8s.io/v1`, or the bare version in the core group."""
        return f"{self.group}/{version}" if self.group else version

    def find_version(self, version: str) -> ServedVersion | None:
        """The served version of that name."""
        return next((each for each in self.versions if each.name == version), None)

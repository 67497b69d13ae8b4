"""What a kind of object is charged for: the shape in which pods, claims, services and all others say it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from dray.api.core.resourcequota import ScopedResourceSelectorRequirement
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.values.quantity import Quantity
from dray.values.times import Time

__all__ = ["ONE", "Amounts", "Meter", "Neighbours", "Surroundings"]

K = TypeVar("K", bound=ApiObject)
Amounts = Mapping[str, Quantity]
ONE = Quantity.of(1)


class Neighbours(Protocol):
    """The other objects that a charge depends on."""

    def find(self, kind: Kind[K], namespace: str, name: str, /) -> K | None:
        """One object."""
        ...

    def list(self, kind: Kind[K], namespace: str | None = None, /) -> Sequence[K]:
        """All objects of a kind, or those of a namespace."""
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What else a charge depends on."""

    objects: Neighbours
    now: Time


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter(Generic[K]):
    """How objects of one kind are charged."""

    kind: Kind[K]
    covers: Callable[[str], bool]
    """Whether objects of the kind can be charged under this quota name."""
    measure: Callable[[K, Surroundings], Amounts]
    """What one object is charged for, by quota name. Never negative."""
    is_in_scope: Callable[[K, ScopedResourceSelectorRequirement], bool] = lambda thing, condition: False
    """Whether a quota with this condition counts the object. Most kinds are in no scope."""
    find_gap: Callable[[K, Sequence[str]], str | None] = lambda thing, names: None
    """What the object must say because these names are limited, but does not."""
    charged_subresource: str = ""
    """Subresource whose updates are charged; the object's own updates if `charges_updates`."""
    charges_updates: bool = False

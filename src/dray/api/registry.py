"""The one table of served kinds.

Each package of kinds ends in a tuple `KINDS`; here they are put together. Adding a kind takes its module and one line
in its package's tuple.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from dray.api.authentication import kinds as authentication
from dray.api.authorization import kinds as authorization
from dray.api.coordination import kinds as coordination
from dray.api.core import kinds as core
from dray.api.events import kinds as events
from dray.api.kind import Kind
from dray.api.policy import kinds as policy
from dray.api.rbac import kinds as rbac
from dray.api.resource import kinds as resource
from dray.api.scheduling import kinds as scheduling

__all__ = ["SERVED", "AnyKind", "Registry"]

AnyKind = Kind[Any]


class Registry:
    """Kinds by every name a client may use for them. Iterates in the order given."""

    def __init__(self, kinds: Iterable[AnyKind]) -> None:
        self._kinds = tuple(kinds)
        self._by_resource: dict[tuple[str, str, str], AnyKind] = {}
        self._by_kind: dict[tuple[str, str], AnyKind] = {}
        for kind in self._kinds:
            for version in kind.versions:
                self._by_resource[kind.group, version.name, kind.plural] = kind
                self._by_kind[kind.api_version(version.name), kind.name] = kind

    def __iter__(self) -> Iterator[AnyKind]:
        return iter(self._kinds)

    def find_resource(self, group: str, version: str, plural: str) -> AnyKind | None:
        """The kind behind a path such as `/apis/<group>/<version>/<plural>`."""
        return self._by_resource.get((group, version, plural))

    def find_kind(self, api_version: str, kind: str) -> AnyKind | None:
        """The kind that a manifest names with `apiVersion` and `kind`."""
        return self._by_kind.get((api_version, kind))


SERVED = Registry(
    (
        *core.KINDS,
        *events.KINDS,
        *authentication.KINDS,
        *authorization.KINDS,
        *policy.KINDS,
        *rbac.KINDS,
        *scheduling.KINDS,
        *coordination.KINDS,
        *resource.KINDS,
    )
)
"""Every kind that dray serves, in the order in which Kubernetes lists the groups."""

"""A view of objects that stand still."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind

K = TypeVar("K", bound=ApiObject)


class StillView:
    """Shows the objects it is given, the same at every time."""

    def __init__(self, things: Iterable[tuple[AnyKind, Any]]) -> None:
        self._things = {(kind, each.metadata.namespace, each.metadata.name): each for kind, each in things}

    def find(self, kind: Kind[K], namespace: str, name: str) -> K | None:
        return cast("K | None", self._things.get((kind, namespace, name)))

    def list(self, kind: Kind[K], namespace: str | None = None) -> Sequence[K]:
        names = sorted(key[1:] for key in self._things if key[0] is kind and (namespace is None or key[1] == namespace))
        return [cast("K", self._things[kind, *name]) for name in names]

    def revision(self) -> int:
        return 7

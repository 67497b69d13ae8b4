"""Objects in memory, found by name, by namespace and by custom indexes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from dray.api.meta import ApiObject
from dray.client.port import ObjectName

__all__ = ["IndexFunction", "View", "name_of"]

K = TypeVar("K", bound=ApiObject)
IndexFunction = Callable[[K], Iterable[str]]
"""The values under which an object is found in one index; none if it is not to be found there."""


def name_of(thing: ApiObject) -> ObjectName:
    """What names an object within its kind."""
    return ObjectName(thing.metadata.name, thing.metadata.namespace)


def _order(thing: ApiObject) -> tuple[str, str]:
    return thing.metadata.namespace, thing.metadata.name


class View(Generic[K]):
    """Objects of one kind. Results are in the order of lists: by namespace, then by name.

    Objects are immutable, so what was found stays as it was found. Only the owner of the view calls `put` and `remove`;
    between two awaits of a reader the view does not change. A look-up costs what it finds.
    """

    def __init__(self, indexes: Mapping[str, IndexFunction[K]] | None = None) -> None:
        self._things: dict[ObjectName, K] = {}
        self._by_namespace: dict[str, dict[ObjectName, K]] = {}
        self._functions = dict(indexes or {})
        self._indexes: dict[str, dict[str, dict[ObjectName, K]]] = {name: {} for name in self._functions}

    def __len__(self) -> int:
        return len(self._things)

    def __contains__(self, name: ObjectName) -> bool:
        return name in self._things

    def __iter__(self) -> Iterator[K]:
        return iter(self.select())

    def find(self, name: ObjectName) -> K | None:
        """The object of that name."""
        return self._things.get(name)

    def select(self, namespace: str | None = None) -> list[K]:
        """All objects, or those of a namespace."""
        found = self._things if namespace is None else self._by_namespace.get(namespace, {})
        return sorted(found.values(), key=_order)

    def select_by(self, index: str, value: str) -> list[K]:
        """The objects that an index holds under a value. Raises KeyError for an index that was not declared."""
        return sorted(self._indexes[index].get(value, {}).values(), key=_order)

    def list_values(self, index: str) -> list[str]:
        """All values under which an index holds something. Raises KeyError for an index that was not declared."""
        return sorted(self._indexes[index])

    def add_index(self, index: str, function: IndexFunction[K]) -> None:
        """Find objects by one more index, those that are here already included.

        Readers may share an index: the same function under the same name changes nothing. Raises ValueError where the
        name is taken by another function.
        """
        known = self._functions.get(index)
        if known is function:
            return
        if known is not None:
            raise ValueError(f"there is another index {index!r} already")
        self._functions[index] = function
        shelves: dict[str, dict[ObjectName, K]] = {}
        self._indexes[index] = shelves
        for name, thing in self._things.items():
            for value in function(thing):
                shelves.setdefault(value, {})[name] = thing

    def put(self, thing: K) -> K | None:
        """Take an object in, in place of one of the same name, which is returned."""
        name = name_of(thing)
        old = self._things.get(name)
        self._things[name] = thing
        self._by_namespace.setdefault(name.namespace, {})[name] = thing
        for index, function in self._functions.items():
            shelves, values = self._indexes[index], tuple(function(thing))
            for value in () if old is None else function(old):
                if value not in values:
                    _drop(shelves, value, name)
            for value in values:
                shelves.setdefault(value, {})[name] = thing
        return old

    def remove(self, name: ObjectName) -> K | None:
        """Forget an object, which is returned if it was there."""
        old = self._things.pop(name, None)
        if old is None:
            return None
        _drop(self._by_namespace, name.namespace, name)
        for index, function in self._functions.items():
            for value in function(old):
                _drop(self._indexes[index], value, name)
        return old


def _drop(shelves: dict[str, dict[ObjectName, K]], value: str, name: ObjectName) -> None:
    shelf = shelves.get(value)
    if shelf is not None and shelf.pop(name, None) is not None and not shelf:
        del shelves[value]

"""A view of objects that are given."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from dray.api.codec import decode
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.registry import SERVED

K = TypeVar("K", bound=ApiObject)


class StillView:
    """Shows these objects until told otherwise. Counts how often it was asked for lists."""

    def __init__(self, things: Iterable[ApiObject] = ()) -> None:
        self._things: dict[tuple[str, str, str], ApiObject] = {}
        self._revision = 1
        self.lists = 0
        for thing in things:
            self.put(thing)

    def put(self, thing: ApiObject) -> None:
        self._things[type(thing).__name__, thing.metadata.namespace, thing.metadata.name] = thing
        self._revision += 1

    def remove(self, thing: ApiObject) -> None:
        del self._things[type(thing).__name__, thing.metadata.namespace, thing.metadata.name]
        self._revision += 1

    def find(self, kind: Kind[K], namespace: str, name: str) -> K | None:
        return cast("K | None", self._things.get((kind.name, namespace, name)))

    def list(self, kind: Kind[K], namespace: str | None = None) -> Sequence[K]:
        self.lists += 1
        found = (key for key in self._things if key[0] == kind.name and namespace in (None, key[1]))
        return [cast("K", self._things[key]) for key in sorted(found)]

    def revision(self) -> int:
        return self._revision


def read_manifest(manifest: Mapping[str, Any]) -> Any:  # of any kind
    """One object, from what stands in a manifest."""
    kind = SERVED.find_kind(manifest["apiVersion"], manifest["kind"])
    assert kind is not None, manifest
    return decode(kind, kind.declared_version, json.dumps(manifest).encode())


def read_manifests(manifests: Iterable[Mapping[str, Any]]) -> list[Any]:
    return [read_manifest(each) for each in manifests]

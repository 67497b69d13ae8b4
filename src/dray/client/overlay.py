"""A view with one's own writes laid over it, until the server's news has caught up with them.

An informer lags behind what was just written. Who reads through an overlay never takes an own write for undone.
"""

from typing import Final, Generic, TypeVar

from dray.api.meta import ApiObject
from dray.client.informer import Informer
from dray.client.port import ObjectName
from dray.client.view import name_of

__all__ = ["Overlay"]

K = TypeVar("K", bound=ApiObject)

_SWEEP_AT: Final = 1000
"""Writes kept before those are dropped that the view shows: more than are ever on their way at once."""


class Overlay(Generic[K]):
    """What is known of objects of one kind: from the view, or from the answer to a later write.

    A write counts until the view's revision reaches it; what the view shows from then on is as new or newer, also where
    the object is gone. Revisions are compared as numbers, which Kubernetes promises since 1.35.
    """

    def __init__(self, informer: Informer[K]) -> None:
        self._informer = informer
        self._written: dict[ObjectName, K] = {}
        self._sweep_at = _SWEEP_AT

    def note(self, thing: K) -> None:
        """Take in what the server answered to a write, or to a read that went past the view."""
        if not self._is_shown(thing):
            self._written[name_of(thing)] = thing
        if len(self._written) >= self._sweep_at:
            self._written = {name: each for name, each in self._written.items() if not self._is_shown(each)}
            self._sweep_at = max(_SWEEP_AT, 2 * len(self._written))

    def find(self, name: ObjectName) -> K | None:
        """The newest state known of an object."""
        written = self._written.get(name)
        if written is not None:
            if not self._is_shown(written):
                return written
            del self._written[name]
        return self._informer.view.find(name)

    def _is_shown(self, thing: K) -> bool:
        revision, version = self._informer.revision, thing.metadata.resource_version
        if revision.isdecimal() and version.isdecimal():
            return int(revision) >= int(version)
        shown = self._informer.view.find(name_of(thing))
        return shown is not None and shown.metadata.resource_version == version

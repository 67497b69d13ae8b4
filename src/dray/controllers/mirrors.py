"""Mirrors: the objects of some kinds as last heard of, on informers that are shared with the rest of the process.

What a mirror shows may be a moment old. Whoever is about to do what cannot be undone asks the server first.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.client.port import ObjectName
from dray.client.sharing import SharedInformers

__all__ = ["Listener", "Mirrors"]

K = TypeVar("K", bound=ApiObject)

Listener = Callable[[K | None, K | None], None]
"""Told of a change: what was there, and what is there now. Quick, and never fails."""


class Mirrors:
    """The latest objects of some kinds, and news of them."""

    def __init__(self, informers: SharedInformers, kinds: Iterable[AnyKind]) -> None:
        self._informers = informers
        self._kinds = tuple(kinds)
        for kind in self._kinds:
            informers.get(kind)

    @property
    def kinds(self) -> Sequence[AnyKind]:
        """The kinds that are mirrored."""
        return self._kinds

    def find(self, kind: Kind[K], namespace: str, name: str) -> K | None:
        """One object of a mirrored kind."""
        return self._informers.get(kind).view.find(ObjectName(name, namespace))

    def list(self, kind: Kind[K], namespace: str | None = None) -> Sequence[K]:
        """All objects of a mirrored kind, or those of a namespace."""
        return self._informers.get(kind).view.select(namespace)

    def listen(self, kind: Kind[K], listener: Listener[K]) -> None:
        """Tell of everything there is of a kind, and of every change; nothing of kinds that are not mirrored."""
        if kind not in self._kinds:
            return
        self._informers.get(kind).add_handler(lambda change: listener(change.old, change.new))

    async def wait_synced(self) -> None:
        """Wait until everything was heard of that was there at the start."""
        await self._informers.wait_synced(self._kinds)

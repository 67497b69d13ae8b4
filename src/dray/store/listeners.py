"""Who hears of committed changes, in the order in which they began to listen."""

from collections.abc import Callable, Sequence

from dray.store.port import Change, Listener

__all__ = ["Listeners"]


class Listeners:
    """The taps of one store."""

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}

    def add(self, listener: Listener) -> Callable[[], None]:
        """Tell this one too, until the function returned is called, which may be repeated."""
        token = object()
        self._listeners[token] = listener

        def stop() -> None:
            self._listeners.pop(token, None)

        return stop

    def tell(self, changes: Sequence[Change]) -> None:
        """Call everyone who listens now."""
        for listener in tuple(self._listeners.values()):
            listener(changes)

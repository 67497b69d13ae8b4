"""Which node agents the server reaches containers through."""

from dray.client.port import NodeStreams

__all__ = ["ReachableNodes"]


class ReachableNodes:
    """Those that are attached, asked in that order. Empty where no node agent runs in this process."""

    def __init__(self) -> None:
        self._attached: list[NodeStreams] = []

    def attach(self, streams: NodeStreams) -> None:
        """Reach the nodes that `streams` serves through it, from now on."""
        self._attached.append(streams)

    def detach(self, streams: NodeStreams) -> None:
        """Reach nothing through `streams` any more. Unknown ones are a no-op."""
        self._attached = [each for each in self._attached if each is not streams]

    def find(self, node: str) -> NodeStreams | None:
        """Who serves a node."""
        return next((each for each in self._attached if each.serves(node)), None)

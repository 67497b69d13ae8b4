"""What happened since pods that rest were last looked at: whom it may help is found out all at once."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Stir"]


@dataclass(slots=True)
class Stir:
    """Changes for the better. A `certain` one helps whoever it is told of, as far as anybody knows.

    `nodes` got better in themselves or in what is free on them; `anywhere` are plugins whose verdicts may have changed
    on other nodes too.
    """

    nodes: int = 0
    devices: int = 0
    """Nodes on which devices came or were freed."""
    anywhere: set[str] = field(default_factory=set)
    is_certain: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened."""
        return not (self.nodes or self.devices or self.anywhere or self.is_certain)

    def add(self, other: Stir) -> None:
        """Let something more have happened."""
        self.nodes |= other.nodes
        self.devices |= other.devices
        self.anywhere |= other.anywhere
        self.is_certain |= other.is_certain

    def copy(self) -> Stir:
        """The same, to be added to."""
        return Stir(self.nodes, self.devices, set(self.anywhere), self.is_certain)

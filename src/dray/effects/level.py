"""How much a line of a log matters. Apart from `log`, so that settings are read without loading clocks."""

from enum import StrEnum

__all__ = ["Level"]


class Level(StrEnum):
    """How much a line matters, from least to most."""

    DEBUG = "debug"
    INFO = "info"
    ERROR = "error"

    def covers(self, other: "Level") -> bool:
        """Whether a log at this level writes lines of the other."""
        order = list(Level)
        return order.index(other) >= order.index(self)

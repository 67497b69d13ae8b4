"""Where in an object a fault lies.

A path is a linked list from the fault up to the root, so that extending it costs one small object and printing is paid
only for faults. The printed form is Kubernetes': `spec.devices[0].attributes[example.com/a].string`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["METADATA", "ROOT", "SPEC", "STATUS", "FieldPath", "MapKey", "key"]


class MapKey(NamedTuple):
    """A path segment that is a key of a map, not the name of a field."""

    text: str


def key(text: str) -> MapKey:
    """Mark `text` as a map key, so that it prints in brackets."""
    return MapKey(text)


class FieldPath:
    """Immutable path to a field; extended with `/`, printed with `str()`."""

    __slots__ = ("_parent", "_segment")

    def __init__(self, parent: FieldPath | None = None, segment: str | int | MapKey | None = None) -> None:
        self._parent = parent
        self._segment = segment

    def __truediv__(self, segment: str | int | MapKey) -> FieldPath:
        """Go one step down: a field name, a list index, or a `key(...)` of a map."""
        return FieldPath(self, segment)

    def segments(self) -> tuple[str | int | MapKey, ...]:
        """All segments from the root down."""
        above = () if self._parent is None else self._parent.segments()
        return above if self._segment is None else (*above, self._segment)

    def __str__(self) -> str:
        text = ""
        for segment in self.segments():
            if isinstance(segment, int):
                text += f"[{segment}]"
            elif isinstance(segment, MapKey):
                text += f"[{segment.text}]"
            else:
                text += f".{segment}" if text else segment
        return text

    def __repr__(self) -> str:
        return f"FieldPath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldPath) and self.segments() == other.segments()

    def __hash__(self) -> int:
        return hash(self.segments())


ROOT = FieldPath()
"""The object itself."""
METADATA = ROOT / "metadata"
SPEC = ROOT / "spec"
STATUS = ROOT / "status"

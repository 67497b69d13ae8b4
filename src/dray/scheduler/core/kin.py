"""Pods that selectors cannot tell apart: the same namespace and the same labels."""

from __future__ import annotations

from collections.abc import Mapping

from dray.api.core.pod import Pod

__all__ = ["Kin", "Kinship"]


_Key = tuple[str, bool, tuple[tuple[str, str], ...]]


class Kin:
    """A namespace and labels, and whether its pods are on their way out. Those that `Kinship` counts are unique."""

    __slots__ = ("is_leaving", "key", "labels", "namespace")

    def __init__(self, pod: Pod) -> None:
        metadata = pod.metadata
        self.namespace = metadata.namespace
        self.labels: Mapping[str, str] = metadata.labels
        self.is_leaving = metadata.deletion_timestamp is not None
        self.key: _Key = (self.namespace, self.is_leaving, tuple(sorted(self.labels.items())))


class Kinship:
    """All kin with pods on nodes, and how many pods each has. What is known of a kin may be kept with the object."""

    def __init__(self) -> None:
        self._by_key: dict[_Key, Kin] = {}
        self._sizes: dict[Kin, int] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def join(self, kin: Kin) -> Kin:
        """Count a pod in, and get the one object for all of its kin."""
        known = self._by_key.setdefault(kin.key, kin)
        self._sizes[known] = self._sizes.get(known, 0) + 1
        return known

    def leave(self, kin: Kin) -> None:
        """Count a pod out."""
        self._sizes[kin] -= 1
        if not self._sizes[kin]:
            del self._sizes[kin], self._by_key[kin.key]

"""Pods that selectors cannot tell apart: the same namespace and the same labels."""

from __future__ import annotations

from collections.abc import Mapping

from dray.api.core.pod import Pod

__all__ = ["Kin", "Kinship"]


class Kin:
    """A namespace and labels, and whether its pods are on their way out. Equal ones are one object, see `Kinship`."""

    __slots__ = ("is_leaving", "labels", "namespace")

    def __init__(self, namespace: str, labels: Mapping[str, str], *, is_leaving: bool = False) -> None:
        self.namespace = namespace
        self.labels = labels
        self.is_leaving = is_leaving


class Kinship:
    """All kin with pods on nodes, and how many pods each has. What is known of a kin may be kept with the object."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[object, ...], Kin] = {}
        self._sizes: dict[Kin, int] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def find(self, pod: Pod) -> Kin:
        """The kin of a pod; one of its own, unknown to others, if no pod on a node is like it."""
        return self._by_key.get(_key(pod)) or _kin(pod)

    def join(self, pod: Pod) -> Kin:
        """Count a pod in."""
        key = _key(pod)
        kin = self._by_key.get(key)
        if kin is None:
            kin = self._by_key[key] = _kin(pod)
        self._sizes[kin] = self._sizes.get(kin, 0) + 1
        return kin

    def leave(self, pod: Pod) -> None:
        """Count a pod out."""
        key = _key(pod)
        kin = self._by_key[key]
        self._sizes[kin] -= 1
        if not self._sizes[kin]:
            del self._sizes[kin], self._by_key[key]


def _key(pod: Pod) -> tuple[object, ...]:
    metadata = pod.metadata
    return (metadata.namespace, metadata.deletion_timestamp is None, tuple(sorted(metadata.labels.items())))


def _kin(pod: Pod) -> Kin:
    metadata = pod.metadata
    return Kin(metadata.namespace, metadata.labels, is_leaving=metadata.deletion_timestamp is not None)

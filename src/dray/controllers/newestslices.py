"""Pools as controllers see them: the slices of the newest edition, whatever nodes they are for."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dray.api.resource.slice import ResourceSlice

__all__ = ["PoolKey", "choose_newest", "index_slices_by_pool"]


class PoolKey(NamedTuple):
    """Which pool of which driver. Its text is how indexes name it."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


def index_slices_by_pool(source: ResourceSlice) -> Iterable[str]:
    """Index of slices by their pool."""
    return (str(PoolKey(source.spec.driver, source.spec.pool.name)),)


def choose_newest(slices: Sequence[ResourceSlice]) -> list[ResourceSlice]:
    """Of the slices of one pool those of the highest edition: the others are about to be replaced."""
    newest = max((each.spec.pool.generation for each in slices), default=0)
    return [each for each in slices if each.spec.pool.generation == newest]

"""Deleting the ResourceSlices of a node whose driver is gone, so that the scheduler places no more pods for it."""

from collections.abc import Collection
from typing import Final

from dray.api.meta import DeleteOptions, Preconditions
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.client.port import ListOptions, ObjectName, Unreachable
from dray.errors import ApiError, Conflict, NotFound
from dray.node.surroundings import Surroundings

__all__ = ["wipe_slices"]

_FIRST_RETRY_SECONDS: Final = 1.0
_LONGEST_RETRY_SECONDS: Final = 300.0


async def wipe_slices(around: Surroundings, node: str, driver: str = "", *, keep: Collection[str] = ()) -> None:
    """Delete the slices of a node: of one driver, or of all but those to keep. Tries until it succeeds.

    Slices that are not bound to the node are left alone.
    """
    attempt = 0
    while True:
        try:
            await _wipe(around, node, driver, keep)
        except (ApiError, Unreachable) as fault:
            seconds = min(_FIRST_RETRY_SECONDS * 2.0 ** min(attempt, 10), _LONGEST_RETRY_SECONDS)
            attempt += 1
            around.log.error("slices are not wiped", node=node, driver=driver, attempt=attempt, err=fault)
            await around.clock.sleep(around.entropy.jitter(seconds, 0.2))
        else:
            return


async def _wipe(around: Surroundings, node: str, driver: str, keep: Collection[str]) -> None:
    selector = f"spec.nodeName={node}" + (f",spec.driver={driver}" if driver else "")
    listed = await around.client.list(RESOURCE_SLICE, ListOptions(field_selector=selector))
    for each in listed.items:
        if each.spec.driver in keep:
            continue
        options = DeleteOptions(preconditions=Preconditions(uid=each.metadata.uid))
        try:
            await around.client.delete(RESOURCE_SLICE, ObjectName(each.metadata.name), options)
        except (NotFound, Conflict):
            continue
        around.log.info("slice is wiped", node=node, driver=each.spec.driver, pool=each.spec.pool.name)

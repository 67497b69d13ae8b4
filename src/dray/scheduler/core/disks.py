"""Disks that pods name outright, in volumes of the old in-tree kinds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dray.api.core.pod import Pod
from dray.api.core.volumes import Volume

__all__ = ["Disk", "disks_of", "do_clash"]


class Disk(NamedTuple):
    """One way to reach a disk; a disk with several addresses is several of these.

    `is_shareable` tells that pods that only read may use it side by side.
    """

    identity: tuple[str, ...]
    is_shareable: bool


def disks_of(pod: Pod) -> tuple[Disk, ...]:
    """The disks of all volumes of a pod."""
    return tuple(disk for volume in pod.spec.volumes for disk in _disks(volume))


def do_clash(some: Iterable[Disk], others: Iterable[Disk]) -> bool:
    """Whether two pods cannot use their disks on one node at the same time."""
    by_identity = {each.identity: each for each in others}
    for disk in some:
        other = by_identity.get(disk.identity)
        if other is not None and not (disk.is_shareable and other.is_shareable):
            return True
    return False


def _disks(volume: Volume) -> Iterable[Disk]:
    if volume.gce_persistent_disk is not None:
        gce = volume.gce_persistent_disk
        yield Disk(("gce", gce.pd_name), gce.read_only)
    if volume.aws_elastic_block_store is not None:
        yield Disk(("aws", volume.aws_elastic_block_store.volume_id), is_shareable=False)
    if volume.iscsi is not None:
        yield Disk(("iscsi", volume.iscsi.iqn), volume.iscsi.read_only)
    if volume.rbd is not None:
        rbd = volume.rbd
        for monitor in rbd.monitors:
            yield Disk(("rbd", monitor, rbd.pool or "rbd", rbd.image), rbd.read_only)

"""Volumes. No kind of storage is served, so a claim for storage is never there; disks named outright are looked at."""

from __future__ import annotations

from collections.abc import Iterable

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.disks import disks_of, do_clash
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.verdicts import Code, Verdict
from dray.values.quoting import quote

__all__ = ["VolumeBindingFilter", "VolumeRestrictionsFilter"]


class VolumeRestrictionsFilter(Filter):
    """A disk that is written to is used by one pod of a node at a time."""

    plugin = "VolumeRestrictions"

    def reject(self, applicant: Applicant) -> Verdict | None:
        """A pod that mounts a PersistentVolumeClaim: there is none of any name."""
        for volume in applicant.pod.spec.volumes:
            if volume.persistent_volume_claim is not None:
                reason = f"persistentvolumeclaim {quote(volume.persistent_volume_claim.claim_name)} not found"
                return Verdict(self.plugin, (reason,), Code.UNRESOLVABLE)
        return None

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """The nodes where another pod uses one of the disks."""
        wanted = disks_of(applicant.pod)
        if not wanted:
            return
        clashing = 0
        for pod in self._snapshot.pods_with_disks():
            number = self._snapshot.find_number(pod.spec.node_name)
            if number is not None and do_clash(wanted, disks_of(pod)):
                clashing |= 1 << number
        if clashing:
            yield Refused(("node(s) had no available disk",), Code.UNSCHEDULABLE, clashing)

    def reads_pods(self, applicant: Applicant) -> bool:
        """Pods that name disks do."""
        return bool(disks_of(applicant.pod))


class VolumeBindingFilter(Filter):
    """Storage that is made for a pod is bound to it before the pod can go anywhere."""

    plugin = "VolumeBinding"

    def reject(self, applicant: Applicant) -> Verdict | None:
        """A pod with an ephemeral volume waits for its claim."""
        for volume in applicant.pod.spec.volumes:
            if volume.ephemeral is not None:
                claim = quote(f"{applicant.pod.metadata.name}-{volume.name}")
                reason = f"waiting for ephemeral volume controller to create the persistentvolumeclaim {claim}"
                return Verdict(self.plugin, (reason,), Code.UNRESOLVABLE)
        return None

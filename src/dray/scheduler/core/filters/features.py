"""Features of the node agent that a pod cannot do without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dray.api.core.containers import Container, EphemeralContainer
from dray.api.core.podspec import PodSpec
from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.verdicts import Code

__all__ = ["NodeDeclaredFeaturesFilter", "required_features"]


class NodeDeclaredFeaturesFilter(Filter):
    """A node must declare every feature that the spec of the pod makes use of."""

    plugin = "NodeDeclaredFeatures"

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """The nodes that lack one."""
        lacking = 0
        for feature in required_features(applicant.pod.spec):
            lacking |= self._snapshot.present & ~self._indexes.features.listing(feature)
        if lacking:
            yield Refused(("node(s) didn't match Pod's required features",), Code.UNRESOLVABLE, lacking)


def required_features(spec: PodSpec) -> Iterator[str]:
    """The features that show in the spec. Others are asked for by resizing, or concern devices."""
    containers = (*spec.init_containers, *spec.containers)
    if any(rule.action == "RestartAllContainers" for each in containers for rule in each.restart_policy_rules):
        yield "RestartAllContainersOnContainerExits"
    if spec.host_network and spec.host_users is False:
        yield "UserNamespacesHostNetworkSupport"
    mounting: tuple[Container | EphemeralContainer, ...] = (*containers, *spec.ephemeral_containers)
    if any(mount.bind_mount_options for each in mounting for mount in each.volume_mounts):
        yield "VolumeBindMountOptions"

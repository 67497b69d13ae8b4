"""What of a pod decides where it fits. Pods of one likeness fit on the same nodes, whichever of them is asked for."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import msgspec

from dray.api.core.containers import Container
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.podclaims import is_controlled_by
from dray.scheduler.core.podclaims import PodClaim

__all__ = ["likeness_of"]

_encoder = msgspec.json.Encoder(enc_hook=str, order="deterministic")


def likeness_of(pod: Pod, claims: Sequence[PodClaim]) -> Hashable:
    """A key that is equal for pods that no decision tells apart. A claim that others share stands for itself."""
    asked = tuple([_claim_key(each, pod) for each in claims])
    return pod.metadata.namespace, _encoder.encode(_telling(pod)), asked


def _telling(pod: Pod) -> tuple[object, ...]:
    spec = pod.spec
    return (
        pod.metadata.labels,
        spec.scheduler_name,
        spec.priority,
        spec.preemption_policy,
        spec.node_name,
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        spec.topology_spread_constraints,
        spec.overhead,
        spec.resources,
        spec.os,
        [_container(each) for each in spec.init_containers],
        [_container(each) for each in spec.containers],
        *_others(spec),
    )


def _others(spec: PodSpec) -> tuple[object, ...]:
    return spec.host_network, [each.persistent_volume_claim for each in spec.volumes if each.persistent_volume_claim]


def _container(container: Container) -> tuple[object, ...]:
    return (
        container.name,
        container.image,
        container.resources,
        container.restart_policy,
        [each for each in container.ports if each.host_port],
    )


def _claim_key(each: PodClaim, pod: Pod) -> Hashable:
    claim = each.claim
    if claim.status.allocation is not None or not _is_private(claim, pod):
        return claim.metadata.uid
    devices = claim.spec.devices
    return each.entry, _encoder.encode((devices.requests, devices.constraints))


def _is_private(claim: ResourceClaim, pod: Pod) -> bool:
    return is_controlled_by(claim, pod.metadata.uid)

"""Whom a claim is reserved for on behalf of a pod: the pod, or its group if the claim is one of the group's."""

from __future__ import annotations

from collections.abc import Mapping

from dray.api.core.pod import Pod
from dray.api.resource.allocation import ResourceClaimConsumerReference
from dray.api.scheduling.podgroup import PodGroup
from dray.scheduler.core.podclaims import group_name_of, pod_consumer

__all__ = ["consumer_of", "group_consumer"]


def consumer_of(
    groups: Mapping[tuple[str, str], PodGroup], pod: Pod, entry_name: str
) -> ResourceClaimConsumerReference:
    """Who is to use the claim of an entry. A group lists the entries that it shares, to the letter."""
    group = groups.get((pod.metadata.namespace, group_name_of(pod)))
    if group is None:
        return pod_consumer(pod)
    for entry in pod.spec.resource_claims:
        if entry.name == entry_name and any(
            (each.name, each.resource_claim_name, each.resource_claim_template_name)
            == (entry.name, entry.resource_claim_name, entry.resource_claim_template_name)
            for each in group.spec.resource_claims
        ):
            return group_consumer(group)
    return pod_consumer(pod)


def group_consumer(group: PodGroup) -> ResourceClaimConsumerReference:
    """How a claim names the group it is reserved for."""
    return ResourceClaimConsumerReference(
        api_group="scheduling.k8s.io", resource="podgroups", name=group.metadata.name, uid=group.metadata.uid
    )

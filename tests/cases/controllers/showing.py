"""How the tables show what is there.

A claim shows as `allocated`, `reserved for …`, `protected`, `deleting`, or as `idle` if it is none of these. A claim
with a made-up name is named by its owner and entry.
"""

from collections.abc import Callable
from typing import Any, Final

from dray.api.core.kinds import EVENT, NODE, POD
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_POOL_STATUS_REQUEST
from dray.api.resource.podclaims import FINALIZER, POD_CLAIM_ANNOTATION, find_controller
from dray.api.scheduling.kinds import POD_GROUP
from tests.unit.controllers.cluster import Cluster

__all__ = ["SHOWS"]


def show_claims(cluster: Cluster) -> dict[str, str]:
    """Every claim, by its name, or by owner and entry if the name is made up."""
    shown: dict[str, str] = {}
    for name in cluster.names(RESOURCE_CLAIM):
        claim = cluster.find(RESOURCE_CLAIM, name)
        assert claim is not None
        shown[_label(claim)] = _describe(claim)
    return shown


def _label(claim: ResourceClaim) -> str:
    owner = find_controller(claim.metadata)
    if owner is None or not claim.metadata.generate_name:
        return claim.metadata.name
    return f"{owner.name}/{claim.metadata.annotations[POD_CLAIM_ANNOTATION]}"


def _describe(claim: ResourceClaim) -> str:
    words = ["allocated"] if claim.status.allocation is not None else []
    if claim.status.reserved_for:
        words.append(f"reserved for {' '.join(each.name for each in claim.status.reserved_for)}")
    if FINALIZER in claim.metadata.finalizers:
        words.append("protected")
    if claim.metadata.deletion_timestamp is not None:
        words.append("deleting")
    return ", ".join(words) or "idle"


def show_names(cluster: Cluster) -> dict[str, dict[str, str | None]]:
    """What pods and groups say of their claims, as `show_claims` names them."""
    shown: dict[str, dict[str, str | None]] = {}
    pods = {name: cluster.find(POD, name) for name in cluster.names(POD)}
    groups = {name: cluster.find(POD_GROUP, name) for name in cluster.names(POD_GROUP)}
    for name, thing in (*pods.items(), *groups.items()):
        statuses = thing.status.resource_claim_statuses if thing is not None else ()
        if statuses:
            shown[name] = {each.name: _find_label(cluster, each.resource_claim_name) for each in statuses}
    return shown


def _find_label(cluster: Cluster, name: str | None) -> str | None:
    claim = cluster.find(RESOURCE_CLAIM, name) if name is not None else None
    return _label(claim) if claim is not None else name


def show_events(cluster: Cluster) -> list[str]:
    """What was told."""
    events = [cluster.find(EVENT, name, "ml") for name in cluster.names(EVENT)]
    return sorted({f"{each.type} {each.reason}: {each.message}" for each in events if each is not None})


def show_pods(cluster: Cluster) -> dict[str, str]:
    """Every pod: its phase if it is over, whether it goes, and why."""
    shown: dict[str, str] = {}
    for name in cluster.names(POD):
        pod = cluster.find(POD, name)
        assert pod is not None
        words = [pod.status.phase] if pod.status.phase in ("Failed", "Succeeded") else []
        if pod.metadata.deletion_timestamp is not None:
            words.append("going")
        words += ["not ready" for each in pod.status.conditions if (each.type, each.status) == ("Ready", "False")]
        words += [f"for {each.reason}" for each in pod.status.conditions if each.type == "DisruptionTarget"]
        shown[name] = " ".join(words) or "stays"
    return shown


def show_rules(cluster: Cluster) -> dict[str, str]:
    """What the status of every taint rule says."""
    shown: dict[str, str] = {}
    for name in cluster.names(DEVICE_TAINT_RULE):
        rule = cluster.find(DEVICE_TAINT_RULE, name)
        assert rule is not None
        for each in rule.status.conditions:
            seen = "" if each.observed_generation == rule.metadata.generation else " (stale)"
            shown[name] = f"{each.status} {each.reason}: {each.message}{seen}"
    return shown


def show_questions(cluster: Cluster) -> dict[str, str]:
    """The answer to every question about pools."""
    shown: dict[str, str] = {}
    for name in cluster.names(RESOURCE_POOL_STATUS_REQUEST):
        question = cluster.find(RESOURCE_POOL_STATUS_REQUEST, name)
        assert question is not None
        status = question.status
        if status is None:
            shown[name] = "open"
            continue
        pools = [f"{each.pool_name} {each.available_devices} of {each.total_devices}" for each in status.pools]
        shown[name] = f"{status.conditions[0].message}: {', '.join(pools)}"
    return shown


def show_nodes(cluster: Cluster) -> dict[str, str]:
    """Whether every node is ready, and its taints."""
    shown: dict[str, str] = {}
    for name in cluster.names(NODE):
        node = cluster.find(NODE, name)
        assert node is not None
        ready = [f"{each.status} {each.reason}".strip() for each in node.status.conditions if each.type == "Ready"]
        taints = [f"{each.effect} {each.key.rpartition('/')[2]}" for each in node.spec.taints]
        shown[name] = ", ".join([*ready, *taints])
    return shown


def show_groups(cluster: Cluster) -> list[str]:
    """The groups there are."""
    return cluster.names(POD_GROUP)


SHOWS: Final[dict[str, Callable[[Cluster], Any]]] = {
    "claims": show_claims,
    "names": show_names,
    "events": show_events,
    "pods": show_pods,
    "rules": show_rules,
    "questions": show_questions,
    "nodes": show_nodes,
    "groups": show_groups,
}
"""What a table can show, by the word for it."""

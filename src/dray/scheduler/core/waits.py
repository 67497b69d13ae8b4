"""What a pod or a claim waits for besides a node that has what it wants."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from msgspec.structs import replace

from dray.allocator.cluster import Cluster
from dray.allocator.ids import claim_ref
from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.podclaims import find_choice
from dray.scheduler.core.accounts import Wait, WaitCode
from dray.scheduler.core.admitting import find_group_key
from dray.scheduler.core.bindingconditions import ReadyState, judge_readiness
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.podclaims import Unresolved, resolve_claims
from dray.scheduler.core.state import SchedulerState

__all__ = ["list_claim_waits", "list_pod_waits"]

_DEFAULT_SCHEDULER = "default-scheduler"


def list_pod_waits(state: SchedulerState, pod: Pod, now: Moment) -> Iterator[Wait]:
    """What a pod that has no node waits for. Entries whose claims are not named yet are left out."""
    if pod.spec.scheduling_gates:
        gates = ", ".join(each.name for each in pod.spec.scheduling_gates)
        hint = "whoever put a gate there removes it from spec.schedulingGates"
        yield Wait(WaitCode.SCHEDULING_GATES, f"scheduling gates keep the pod away: {gates}", hint)
    if pod.spec.scheduler_name != _DEFAULT_SCHEDULER:
        text = f"scheduler {pod.spec.scheduler_name} decides on the pod, and may be set up in another way"
        yield Wait(WaitCode.OTHER_SCHEDULER, text, is_blocking=False)
    yield from _list_claims(state, pod, now)
    yield from _list_group(state, pod)


def _list_claims(state: SchedulerState, pod: Pod, now: Moment) -> Iterator[Wait]:
    for entry in pod.spec.resource_claims:
        if find_choice(pod, entry) is None:
            continue
        alone = replace(pod, spec=replace(pod.spec, resource_claims=(entry,)))
        found = resolve_claims(alone, state.claims)
        if not isinstance(found, Unresolved):
            for each in found:
                yield from list_claim_waits(state.cluster, each.claim)
                yield from _list_unready(state, pod, each.claim, now)
        elif found.name and state.claims.find(pod.metadata.namespace, found.name) is None:
            yield _missing_claim(state, pod, found.name)
        else:
            yield Wait(WaitCode.CLAIM_NOT_USABLE, found.message)


def _missing_claim(state: SchedulerState, pod: Pod, name: str) -> Wait:
    namespace = pod.metadata.namespace
    elsewhere = [claim_ref(each) for each in state.claims if each.metadata.name == name]
    names = [each.metadata.name for each in state.claims if each.metadata.namespace == namespace]
    close = elsewhere or difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]}?" if close else f"create the claim: nothing else makes {name}"
    return Wait(WaitCode.CLAIM_NOT_FOUND, f"there is no claim {namespace}/{name}", hint)


def list_claim_waits(cluster: Cluster, claim: ResourceClaim) -> Iterator[Wait]:
    """The device classes that a claim without devices names and that are not there."""
    if claim.status.allocation is not None:
        return
    for request in claim.spec.devices.requests or ():
        exactly = request.exactly
        wishes = (
            [(request.name, exactly.device_class_name)]
            if exactly is not None
            else [(f"{request.name}/{each.name}", each.device_class_name) for each in request.first_available]
        )
        for name, device_class in wishes:
            if device_class and cluster.find_class(device_class) is None:
                close = difflib.get_close_matches(device_class, sorted(cluster.plans.classes), n=1, cutoff=0.5)
                text = f"request {name} of claim {claim_ref(claim)} names device class {device_class}, which is missing"
                yield Wait(WaitCode.CLASS_NOT_FOUND, text, f"did you mean {close[0]}?" if close else "")


def _list_unready(state: SchedulerState, pod: Pod, claim: ResourceClaim, now: Moment) -> Iterator[Wait]:
    """Devices that were given to the claim and have yet to get ready."""
    if claim.status.allocation is None:
        return
    profile = state.profiles[pod.spec.scheduler_name]
    readiness = judge_readiness(claim, now.date, profile.binding_timeout_seconds)
    if readiness.state is ReadyState.READY:
        return
    conditions = dict.fromkeys(
        name for result in claim.status.allocation.devices.results for name in result.binding_conditions
    )
    text = f"devices of claim {claim.metadata.name} are not ready: their driver has yet to set {', '.join(conditions)}"
    yield Wait(WaitCode.DEVICES_NOT_READY, readiness.message or text)


def _list_group(state: SchedulerState, pod: Pod) -> Iterator[Wait]:
    """What the group of a pod lacks."""
    key = find_group_key(pod)
    if key is None:
        return
    group = state.groups.get(key)
    if group is None:
        yield Wait(WaitCode.GROUP_NOT_FOUND, f"there is no PodGroup {key[0]}/{key[1]}", "create the group")
        return
    gang = group.spec.scheduling_policy.gang
    members = len(state.members.get(key, {}).keys() | {pod.metadata.uid})
    if gang is not None and members < gang.min_count:
        text = f"group {key[1]} has {members} of the {gang.min_count} pods that are placed together"
        yield Wait(WaitCode.GROUP_INCOMPLETE, text, "create the other pods")

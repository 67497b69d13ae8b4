"""Why a pod or a claim waits, or where it would go, worked out from the state of a scheduler that only looks.

The same decision is made as by the scheduler at work, and then taken apart. Nothing is ordered; what is decided for
one pod may be laid over the state, so that others are explained beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from dray.allocator.allocate import allocate
from dray.allocator.bits import bits
from dray.allocator.explain import ClusterExplanation
from dray.allocator.ids import claim_ref
from dray.allocator.nodematch import find_only_node
from dray.allocator.outcome import Allocated, UnschedulableReason
from dray.api.core.pod import Pod
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.podclaims import is_terminal, list_claim_names
from dray.scheduler.core.accounts import Account, HeldDevice, Miss, Situation, Wait, WaitCode
from dray.scheduler.core.accounts import Refused as RefusedNodes
from dray.scheduler.core.admitting import find_group_key
from dray.scheduler.core.attempting import make_attempt, refusal_message
from dray.scheduler.core.decide import Chosen, Decision, Erred, decide_pod, on_node
from dray.scheduler.core.decide import Refused as NoNode
from dray.scheduler.core.devices import PLUGIN, variants
from dray.scheduler.core.extended import is_unmade
from dray.scheduler.core.groupfare import GroupFare, try_group
from dray.scheduler.core.misses import explain_devices, fold_refusals
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.orders import Evict, Order
from dray.scheduler.core.podclaims import is_reserved_for, pod_consumer
from dray.scheduler.core.preempting import preempt
from dray.scheduler.core.state import SchedulerState
from dray.scheduler.core.verdicts import Refusal
from dray.scheduler.core.waits import list_claim_waits, list_pod_waits

__all__ = ["explain_claim", "explain_pod"]

_CLAIM: Final = "ResourceClaim"
_SCHEDULED: Final = "PodScheduled"
_NO_DEVICES: Final = frozenset(UnschedulableReason)
_HOPELESS: Final = frozenset(
    {
        WaitCode.CLAIM_NOT_FOUND,
        WaitCode.CLAIM_NOT_USABLE,
        WaitCode.TEMPLATE_NOT_FOUND,
        WaitCode.CLASS_NOT_FOUND,
        WaitCode.PRIORITY_CLASS_NOT_FOUND,
    }
)
"""With these nothing can be said about nodes."""


def explain_pod(
    state: SchedulerState, pod: Pod, now: Moment, known: Sequence[Wait] = (), *, commit: bool = False
) -> Account:
    """Give account of a pod. `known` are waits that were found out before; with `commit` it takes its place after."""
    if is_terminal(pod):
        return _about(pod, "Pod", Situation.FINISHED, f"the pod has ended: {pod.status.phase}", pod.spec.node_name)
    if pod.spec.node_name:
        return _explain_placed(state, pod)
    if pod.metadata.deletion_timestamp is not None:
        return _about(pod, "Pod", Situation.DELETING, "the pod is being deleted and was never on a node")
    waits = (*known, *list_pod_waits(state, pod, now))
    if any(each.code in _HOPELESS for each in waits):
        return _quote(pod, _waiting(_about(pod, "Pod", Situation.WAITS, ""), waits))
    fare = try_group(state, pod, now)
    if fare is not None:
        return _quote(pod, _explain_member(state, pod, fare, waits, now))
    attempt = make_attempt(state, pod, now)
    decision = decide_pod(pod, attempt)
    account = _describe(state, pod, decision, now)
    if isinstance(decision, NoNode):
        evicted = preempt(state, pod, decision, attempt)
        if evicted.nominated:
            victims = ", ".join(_list_victims(evicted.orders))
            text = f"evicting {victims} from {evicted.nominated} makes room, which the scheduler does by itself"
            waits += (Wait(WaitCode.PREEMPTION, text, is_blocking=False),)
    if commit and isinstance(decision, Chosen):
        _commit(state, pod, decision)
    return _quote(pod, _waiting(account, waits))


def _quote(pod: Pod, account: Account) -> Account:
    """With what the scheduler at work has said of the pod, where that is something else than what it would say now."""
    said = next((each for each in pod.status.conditions if each.type == _SCHEDULED and each.status == "False"), None)
    if said is None or not said.message or account.code is Situation.FITS:
        return account
    is_the_same = account.message and said.message.startswith(account.message.removesuffix("."))
    return account if is_the_same else replace(account, message=said.message)


def _waiting(account: Account, waits: tuple[Wait, ...]) -> Account:
    """The account with what there is to wait for; what blocks comes before what nodes say."""
    blocking = [each for each in waits if each.is_blocking]
    if not blocking:
        return replace(account, waits=waits)
    summary = "; ".join(each.text for each in blocking)
    if account.summary:
        summary = f"{summary}. Without that: {account.summary}"
    return replace(account, code=Situation.WAITS, summary=summary, waits=waits)


def _about(thing: Pod | ResourceClaim, kind: str, code: Situation, summary: str, node: str = "") -> Account:
    meta = thing.metadata
    return Account(kind, meta.namespace, meta.name, code, summary, node=node)


# Pods on nodes


def _explain_placed(state: SchedulerState, pod: Pod) -> Account:
    claims = [each for name in list_claim_names(pod) if (each := state.claims.find(pod.metadata.namespace, name))]
    devices = [
        device
        for claim in claims
        if claim.status.allocation is not None
        for device in _list_devices(claim, claim.status.allocation)
    ]
    phase = pod.status.phase or "Pending"
    going = ", and is being deleted" if pod.metadata.deletion_timestamp is not None else ""
    code = Situation.DELETING if going else Situation.PLACED
    has = f" with {len(devices)} device{'s' * (len(devices) != 1)}" if devices else ""
    account = _about(pod, "Pod", code, f"the pod is on {pod.spec.node_name}{has}: {phase}{going}", pod.spec.node_name)
    waits = tuple(_list_unreserved(pod, claims))
    return replace(_waiting(account, waits), devices=tuple(devices))


def _list_unreserved(pod: Pod, claims: Iterable[ResourceClaim]) -> Iterator[Wait]:
    """Claims that its node may not prepare for the pod."""
    consumer = pod_consumer(pod)
    for claim in claims:
        for_group = any(each.api_group for each in claim.status.reserved_for)
        if not for_group and not is_reserved_for(claim, consumer):
            text = f"claim {claim.metadata.name} is not reserved for the pod, so that its node does not start it"
            hint = "a pod with spec.nodeName is not seen by the scheduler: leave nodeName out, or use a nodeSelector"
            yield Wait(WaitCode.CLAIM_NOT_RESERVED, text, hint)


# Pods that look for a node


def _explain_member(state: SchedulerState, pod: Pod, fare: GroupFare, waits: tuple[Wait, ...], now: Moment) -> Account:
    """Where a pod of a group goes with the others; or what the pod lacks that keeps them all from being placed."""
    last = list(fare.decisions.values())[-1] if fare.decisions else None
    if fare.obstacle:
        account = _about(pod, "Pod", Situation.WAITS, "")
        if isinstance(last, NoNode):
            account = replace(_describe_refusal(state, pod, last), summary="", message="")
            account = replace(account, nearest=_spare_siblings(state, pod, account.nearest))
        return _waiting(account, (*waits, Wait(WaitCode.GROUP_INCOMPLETE, fare.obstacle)))
    decision = fare.decisions.get(pod.metadata.uid, last)
    account = _about(pod, "Pod", Situation.WAITS, "") if decision is None else _describe(state, pod, decision, now)
    return _waiting(account, waits)


def _spare_siblings(state: SchedulerState, pod: Pod, miss: Miss | None) -> Miss | None:
    """Without the advice to take devices from those for whose sake the pod waits."""
    if miss is None:
        return None
    names = [
        f"{other.metadata.namespace}/{name}"
        for other in state.members.get(find_group_key(pod) or ("", ""), {}).values()
        for name in list_claim_names(other)
    ]
    ways = (each for each in miss.ways_out if not any(name in each.text for name in names))
    return replace(miss, ways_out=tuple(ways))


def _list_victims(orders: Iterable[Order]) -> Iterator[str]:
    for order in orders:
        if isinstance(order, Evict):
            yield from (f"{each.metadata.namespace}/{each.metadata.name}" for each in order.victims)


def _describe(state: SchedulerState, pod: Pod, decision: Decision, now: Moment) -> Account:
    match decision:
        case Chosen():
            return _describe_place(state, pod, decision)
        case Erred(message):
            summary = f"the scheduler cannot decide: {message}"
            return replace(_about(pod, "Pod", Situation.ATTEMPT_FAILED, summary), message=message)
        case _:
            return _describe_refusal(state, pod, decision)


def _describe_place(state: SchedulerState, pod: Pod, chosen: Chosen) -> Account:
    node = state.snapshot.names[chosen.number]
    given = [*chosen.wish.settled, *chosen.allocation.results]
    devices = tuple(device for claim, allocation in given for device in _list_devices(claim, allocation))
    number, nodes = chosen.feasible.bit_count(), state.snapshot.present.bit_count()
    summary = f"the pod would go to {node}: {number} of {nodes} node{'s' * (nodes != 1)} fit"
    account = _about(pod, "Pod", Situation.FITS, summary, node)
    return replace(account, devices=devices, nodes_fitting=number, nodes_examined=nodes)


def _describe_refusal(state: SchedulerState, pod: Pod, refused: NoNode) -> Account:
    message = refusal_message(refused, "")
    if not refused.nodes:
        return replace(_about(pod, "Pod", Situation.NO_NODES, "there are no nodes"), message=message)
    lacking = [each for each in refused.refusals if each.plugin == PLUGIN and each.reason in _NO_DEVICES]
    others = [each for each in refused.refusals if each not in lacking]
    refusals, nearest = _explain_lack(state, refused, lacking)
    reason = f": {'; '.join(refused.rejection)}" if refused.rejection else ""
    account = _about(pod, "Pod", Situation.NO_NODE_FITS, f"none of {_count_nodes(refused.nodes)} fits{reason}")
    return replace(
        account,
        message=message,
        refusals=(*refusals, *fold_refusals(others, state.snapshot.names)),
        nearest=nearest,
        nodes_fitting=0,
        nodes_examined=refused.nodes,
    )


def _explain_lack(
    state: SchedulerState, refused: NoNode, lacking: Iterable[Refusal]
) -> tuple[list[RefusedNodes], Miss | None]:
    """What nodes that would do otherwise lack of devices. Claims for extended resources differ by what nodes have."""
    found: list[RefusedNodes] = []
    nearest: Miss | None = None
    nodes = 0
    for each in lacking:
        nodes |= each.nodes
    if refused.wish is None or not nodes:
        return found, nearest
    for variant, some in variants(refused.wish, state.world.indexes, nodes):
        claims = refused.wish.open if variant is None else (*refused.wish.open, variant.claim)
        _, refusals, miss = explain_devices(claims, state.cluster, some)
        found += refusals
        nearest = nearest or miss
    return found, nearest


def _count_nodes(number: int) -> str:
    return f"{number} node{'s' * (number != 1)}"


def _commit(state: SchedulerState, pod: Pod, chosen: Chosen) -> None:
    """Let a decision count for what is explained next."""
    uid = pod.metadata.uid
    state.snapshot.put_pod(on_node(pod, state.snapshot.names[chosen.number], chosen.charges))
    for claim, allocation in chosen.allocation.results:
        if is_unmade(claim):
            state.claims.promise(claim, allocation, uid)
            continue
        status = replace(claim.status, allocation=allocation, reserved_for=(pod_consumer(pod),))
        version = str(int(claim.metadata.resource_version) + 1)
        state.claims.put(replace(claim, status=status, metadata=replace(claim.metadata, resource_version=version)))


# Claims


def explain_claim(state: SchedulerState, claim: ResourceClaim, users: Sequence[Pod] = ()) -> Account:
    """Give account of a claim by itself, whatever else the pods that use it may need."""
    allocation = claim.status.allocation
    names = tuple(f"{each.metadata.namespace}/{each.metadata.name}" for each in users)
    if claim.metadata.deletion_timestamp is not None:
        account = _about(claim, _CLAIM, Situation.DELETING, "the claim is being deleted")
    elif allocation is not None:
        account = _describe_allocated(claim)
    else:
        account = _describe_open(state, claim, users)
    devices = account.devices or (() if allocation is None else tuple(_list_devices(claim, allocation)))
    return replace(account, devices=devices, used_by=names)


def _describe_allocated(claim: ResourceClaim) -> Account:
    allocation = claim.status.allocation
    results = () if allocation is None else allocation.devices.results
    node = "" if allocation is None else find_only_node(allocation.node_selector)
    users = ", ".join(f"{each.resource}/{each.name}" for each in claim.status.reserved_for)
    reserved = f"reserved for {users}" if users else "reserved for nobody"
    number = len(results)
    summary = f"the claim has {number} device{'s' * (number != 1)}, {reserved}"
    return _about(claim, _CLAIM, Situation.ALLOCATED, summary, node)


def _describe_open(state: SchedulerState, claim: ResourceClaim, users: Sequence[Pod]) -> Account:
    waits = tuple(list_claim_waits(state.cluster, claim))
    if waits:
        return _waiting(_about(claim, _CLAIM, Situation.WAITS, ""), waits)
    if not users:
        text = "no pod uses the claim, and claims get their devices when a pod that uses them gets its node"
        waits = (Wait(WaitCode.NOT_USED, text, is_blocking=False),)
    explanation, refusals, nearest = explain_devices((claim,), state.cluster)
    if not explanation.nodes:
        return _about(claim, _CLAIM, Situation.NO_NODES, "there are no nodes")
    account = _about(claim, _CLAIM, Situation.NO_NODE_FITS, f"none of {_count_nodes(explanation.nodes)} fits")
    node, devices = _allocate_first(state, claim, refusing=explanation) if explanation.feasible else ("", ())
    if node:
        summary = f"the claim fits on {explanation.feasible} of {_count_nodes(explanation.nodes)}, {node} for one"
        account = _about(claim, _CLAIM, Situation.FITS, summary, node)
        nearest = None
    return replace(
        account,
        waits=waits,
        devices=devices,
        refusals=tuple(refusals),
        nearest=nearest,
        nodes_fitting=explanation.feasible,
        nodes_examined=explanation.nodes,
    )


def _allocate_first(
    state: SchedulerState, claim: ResourceClaim, *, refusing: ClusterExplanation
) -> tuple[str, tuple[HeldDevice, ...]]:
    """The first node that does not refuse, with the devices that the claim would get there."""
    nodes = state.snapshot.present
    for each in refusing.refusals:
        nodes &= ~each.numbers
    for number in bits(nodes):
        name = state.snapshot.names[number]
        outcome = allocate((claim,), state.cluster, name, share_ids=state.share_ids)
        if isinstance(outcome, Allocated):
            return name, tuple(_list_devices(claim, outcome.allocations[0]))
    return "", ()


def _list_devices(claim: ResourceClaim, allocation: AllocationResult) -> Iterator[HeldDevice]:
    for each in allocation.devices.results:
        yield HeldDevice(
            claim=claim_ref(claim),
            request=each.request,
            driver=each.driver,
            pool=each.pool,
            device=each.device,
            share_id=each.share_id or "",
            consumed={name: str(amount) for name, amount in each.consumed_capacity.items()},
            is_admin=bool(each.admin_access),
        )

"""Making room for a pod by evicting pods of less priority, devices included.

Kubernetes evicts nobody for the sake of devices, for allocations belong to claims. Here it is known which claims would
be free once their last user is gone, and the same search that refused the pod says whether that is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dray.allocator.bits import bits
from dray.allocator.ids import claim_uid
from dray.api.core.pod import Pod
from dray.scheduler.core.decide import Attempt, Refused
from dray.scheduler.core.devices import PLUGIN, DeviceFailure, DeviceWish, examine_devices
from dray.scheduler.core.nodeinfo import priority_of
from dray.scheduler.core.nodetrials import DevicesFit, holds_devices
from dray.scheduler.core.orders import Evict, Order
from dray.scheduler.core.preemption import Preemption, plan_preemption
from dray.scheduler.core.state import SchedulerState

__all__ = ["Eviction", "preempt", "release_devices"]


class Eviction(NamedTuple):
    """What preemption came to. `nominated` is the node that is being cleared; None leaves a nomination as it is."""

    message: str = ""
    orders: tuple[Order, ...] = ()
    nominated: str | None = None


def preempt(state: SchedulerState, pod: Pod, refused: Refused, attempt: Attempt) -> Eviction:
    """Find pods to evict so that the pod fits, the fewest and least important."""
    if not attempt.profile.has("DefaultPreemption") or not refused.nodes:
        return Eviction()
    uid = pod.metadata.uid
    state.counters.preemptions += 1
    if uid in state.evicting:
        return Eviction("preemption: not eligible due to a terminating pod on the nominated node.")
    wish = refused.wish
    allowed = 0
    if not refused.rejection and wish is not None:
        allowed = refused.examined.preemptible | _nodes_with_lesser_claims(state, pod, refused)
        allowed |= _charged_nodes(refused)
    ask = None if wish is None or wish.is_empty else _ask_devices(state, wish, attempt)
    planned = plan_preemption(attempt.placement, refused.examined, allowed, ask)
    if not isinstance(planned, Preemption):
        if not planned.clears_nomination or not pod.status.nominated_node_name:
            return Eviction(planned.message)
        state.snapshot.withdraw(uid)
        return Eviction(planned.message, nominated="")
    state.counters.victims += len(planned.victims)
    state.counters.violations += planned.violations
    state.evicting[uid] = frozenset(victim.metadata.uid for victim in planned.victims)
    state.snapshot.nominate(pod, planned.node_name)
    order = Evict(pod, planned.node_name, planned.victims)
    return Eviction(planned.message, (order,), planned.node_name)


def _charged_nodes(refused: Refused) -> int:
    """Nodes that lack what devices take of them besides, but would have it if they were empty."""
    found = 0
    for refusal in refused.refusals:
        if refusal.plugin == PLUGIN and refusal.code.value == "Unschedulable":
            found |= refusal.nodes
    return found


def _nodes_with_lesser_claims(state: SchedulerState, pod: Pod, refused: Refused) -> int:
    """Of the nodes that lack devices, those with pods of less priority that hold some."""
    priority = priority_of(pod)
    if refused.verdict is None or priority <= state.least_priority:
        return 0
    lacking = 0
    for refusal in refused.verdict.refusals:
        lacking |= refusal.nodes
    found = 0
    for number in bits(lacking & state.snapshot.present):
        placed = state.snapshot.node(number).pods.values()
        if any(each.priority < priority and holds_devices(each.pod) for each in placed):
            found |= 1 << number
    return found


def release_devices(state: SchedulerState, gone: Sequence[Pod]) -> None:
    """Let claims hold nothing that nobody uses with these pods gone. Whoever asks undoes it in the ledger."""
    uids = {pod.metadata.uid for pod in gone}
    for pod in gone:
        for claim in state.claims.used_by(pod):
            users = claim.status.reserved_for
            # What was allocated for nobody stays allocated when nobody uses it.
            if all(each.uid in uids for each in users) and (users or claim.status.allocation is None):
                state.cluster.release(claim_uid(claim))


def _ask_devices(state: SchedulerState, wish: DeviceWish, attempt: Attempt) -> DevicesFit:
    def ask(number: int, gone: Sequence[Pod]) -> tuple[str, ...]:
        """Why the pod would lack devices on the node of a number with these pods gone."""
        cluster = state.cluster
        mark = cluster.ledger.mark()
        try:
            release_devices(state, gone)
            seconds = attempt.profile.binding_timeout_seconds
            verdict = examine_devices(wish, state.world, 1 << number, attempt.now, seconds)
        finally:
            cluster.undo(mark)
        if isinstance(verdict, DeviceFailure):
            return (verdict.message,)
        return tuple(refusal.reason for refusal in verdict.refusals) if not verdict.fitting else ()

    return ask

"""What becomes of a node that is not heard of: its conditions and its taints. Pure.

A node that is lost is not known to have stopped: its pods may still run, and only taints, with the time that pods
tolerate them, make them go.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from dray.api.core.node import Node
from dray.api.core.nodestatus import NodeCondition
from dray.api.core.taints import Taint
from dray.values.times import Time

__all__ = ["READY", "find_ready", "is_ready", "plan_conditions", "plan_taints"]

READY: Final = "Ready"
_WATCHED: Final = (READY, "MemoryPressure", "DiskPressure", "PIDPressure")
_NEVER: Final = ("NodeStatusNeverUpdated", "Kubelet never posted node status.")
_NO_MORE: Final = ("NodeStatusUnknown", "Kubelet stopped posting node status.")

_NOT_READY: Final = "node.kubernetes.io/not-ready"
_UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
_BY_CONDITION: Final = {
    ("Ready", "False"): _NOT_READY,
    ("Ready", "Unknown"): _UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
"""The taints that conditions stand for."""
_OWN: Final = frozenset({*_BY_CONDITION.values(), _UNSCHEDULABLE})
_EVICTING: Final = frozenset({_NOT_READY, _UNREACHABLE})
"""Those that also make pods go. They come with the date from which pods count how long they tolerate them."""


def find_ready(node: Node) -> NodeCondition | None:
    """What the node says of itself as a whole."""
    return next((each for each in node.status.conditions if each.type == READY), None)


def is_ready(node: Node) -> bool:
    """Whether the node is known to be ready."""
    ready = find_ready(node)
    return ready is not None and ready.status == "True"


def plan_conditions(node: Node, now: Time) -> tuple[NodeCondition, ...]:
    """The conditions of a node that is lost: nothing is known of it any more."""
    known = {each.type: each for each in node.status.conditions}
    lost = [_lose(known.get(type_), type_, node, now) for type_ in _WATCHED]
    others = [each for each in node.status.conditions if each.type not in _WATCHED]
    return (*others, *lost)


def _lose(condition: NodeCondition | None, type_: str, node: Node, now: Time) -> NodeCondition:
    if condition is None:
        reason, message = _NEVER
        return NodeCondition(
            type=type_,
            status="Unknown",
            last_heartbeat_time=node.metadata.creation_timestamp,
            last_transition_time=now,
            reason=reason,
            message=message,
        )
    if condition.status == "Unknown":
        return condition
    reason, message = _NO_MORE
    return replace(condition, status="Unknown", last_transition_time=now, reason=reason, message=message)


def plan_taints(node: Node, now: Time) -> tuple[Taint, ...]:
    """The taints that a node should have: those that its conditions stand for, beside those of others.

    What is there already keeps its place and its date.
    """
    keys = [_BY_CONDITION.get((each.type, each.status)) for each in node.status.conditions]
    if node.spec.unschedulable:
        keys.append(_UNSCHEDULABLE)
    wanted = [Taint(key=key, effect="NoSchedule") for key in keys if key is not None]
    wanted += [Taint(key=key, effect="NoExecute", time_added=now) for key in keys if key in _EVICTING]
    kept = [each for each in node.spec.taints if not _is_own(each) or _find(each, wanted)]
    added = [each for each in wanted if not _find(each, node.spec.taints)]
    return (*kept, *_unique(added))


def _is_own(taint: Taint) -> bool:
    """Whether a taint is one of those that conditions stand for. Those that evict are ours for two keys only."""
    return taint.key in (_OWN if taint.effect == "NoSchedule" else _EVICTING if taint.effect == "NoExecute" else ())


def _find(taint: Taint, taints: Iterable[Taint]) -> bool:
    return any((each.key, each.effect) == (taint.key, taint.effect) for each in taints)


def _unique(taints: Sequence[Taint]) -> list[Taint]:
    return list({(each.key, each.effect): each for each in taints}.values())

"""Eviction of pods from tainted nodes, after the time that they tolerate.

As with devices, every look at a pod decides anew. A taint without a date counts from when it was first seen here.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.core.taints import Taint, Toleration
from dray.client.changes import Change
from dray.client.port import ObjectName
from dray.client.recording import EventType, refer
from dray.client.view import name_of
from dray.controllers.commons import Commons
from dray.controllers.evicting import Disruption, evict_pod
from dray.controllers.nodepods import PODS_BY_NODE, index_pods_by_node
from dray.controllers.runtime import Controller
from dray.controllers.writing import find_stored
from dray.values.times import Time

__all__ = ["NodeTaintEviction", "find_due"]

_WORKERS: Final = 8
_EFFECT: Final = "NoExecute"
_REASON: Final = "TaintManagerEviction"
_DISRUPTION: Final = Disruption("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")


_INTEGER: Final = re.compile(r"[+-]?(0|[1-9][0-9]{0,18})")


class _Sight(NamedTuple):
    """A taint on a node."""

    node: str
    key: str
    value: str


def find_due(taints: Iterable[tuple[Taint, Time]], tolerations: Sequence[Toleration]) -> Time | None:
    """When a pod has to go, given the taints and since when each is there; None if it may stay."""
    dues: list[Time] = []
    for taint, since in taints:
        matching = [each for each in tolerations if _tolerates(each, taint)]
        seconds = [each.toleration_seconds for each in matching if each.toleration_seconds is not None]
        if not matching:
            dues.append(since)
        elif seconds:
            dues.append(since.plus_seconds(max(0, min(seconds))))
    return min(dues, default=None)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Gt" | "Lt" if _INTEGER.fullmatch(taint.value) and _INTEGER.fullmatch(toleration.value):
            value, bound = int(taint.value), int(toleration.value)
            return value > bound if toleration.operator == "Gt" else value < bound
    return False


class NodeTaintEviction:
    """Makes pods go."""

    def __init__(self, commons: Commons) -> None:
        self._client = commons.client
        self._clock = commons.effects.clock
        self._recorder = commons.get_recorder("taint-eviction-controller")
        nodes, pods = commons.follow(NODE), commons.follow(POD)
        self._nodes, self._pods = nodes.view, pods.view
        self._scheduled: dict[ObjectName, str] = {}
        """Pods that have to go later, with their uid."""
        self._seen: dict[_Sight, Time] = {}
        self.controller: Controller[ObjectName] = Controller(
            "node taint eviction", self.reconcile, commons.effects, workers=_WORKERS
        )
        pods.view.add_index(PODS_BY_NODE, index_pods_by_node)
        nodes.add_handler(self._note_node)
        pods.add_handler(self._note_pod)

    def _note_node(self, change: Change[Node]) -> None:
        before = change.old.spec.taints if change.old is not None else ()
        after = change.new.spec.taints if change.new is not None else ()
        if _list_evicting(before) == _list_evicting(after):
            return
        for taint in _list_evicting(before):
            if taint not in after:
                self._seen.pop(_Sight(change.name.name, taint.key, taint.value), None)
        for pod in self._pods.select_by(PODS_BY_NODE, change.name.name):
            self.controller.wake(name_of(pod))

    def _note_pod(self, change: Change[Pod]) -> None:
        pod = change.new
        if change.name in self._scheduled:
            self.controller.wake(change.name)
        elif pod is not None and pod.spec.node_name:
            node = self._nodes.find(ObjectName(pod.spec.node_name))
            if node is not None and _list_evicting(node.spec.taints):
                self.controller.wake(change.name)

    async def reconcile(self, name: ObjectName) -> float | None:
        """See whether a pod has to go, and make it. Returns when it is time if that is not now."""
        pod = self._pods.find(name)
        due = self._find_due(pod) if pod is not None else None
        if pod is None or due is None:
            uid = self._scheduled.pop(name, None)
            if pod is not None and pod.metadata.uid == uid and pod.metadata.deletion_timestamp is None:
                self._tell(pod, "Cancelling deletion of")
            return None
        self._scheduled[name] = pod.metadata.uid
        seconds = (due.to_micro_time().unix_microseconds - self._clock.now().unix_microseconds) / 1e6
        if seconds > 0:
            return seconds
        await self._evict(pod)
        self._scheduled.pop(name, None)
        return None

    def _find_due(self, pod: Pod) -> Time | None:
        node = self._nodes.find(ObjectName(pod.spec.node_name)) if pod.spec.node_name else None
        if node is None or pod.metadata.deletion_timestamp is not None:
            return None
        now = self._clock.now().to_time()
        name = node.metadata.name
        dated = [
            (taint, taint.time_added or self._seen.setdefault(_Sight(name, taint.key, taint.value), now))
            for taint in _list_evicting(node.spec.taints)
        ]
        return find_due(dated, pod.spec.tolerations)

    async def _evict(self, pod: Pod) -> None:
        stored = await find_stored(self._client, POD, name_of(pod))
        if stored is None or stored.metadata.uid != pod.metadata.uid or stored.metadata.deletion_timestamp is not None:
            return
        self._tell(stored, "Marking for deletion")
        await evict_pod(self._client, stored, _DISRUPTION, self._clock.now().to_time())

    def _tell(self, pod: Pod, what: str) -> None:
        message = f"{what} Pod {pod.metadata.namespace}/{pod.metadata.name}"
        self._recorder.tell(refer(POD, pod), EventType.NORMAL, _REASON, message)


def _list_evicting(taints: Iterable[Taint]) -> list[Taint]:
    return [each for each in taints if each.effect == _EFFECT]

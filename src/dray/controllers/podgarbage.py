"""Pods that nobody looks after any more: of nodes that are gone, that never had one, and too many that ended.

Nobody is left to say that such a pod ended, so it is said here; only then its claims are free.
"""

from collections.abc import Callable, Sequence
from typing import Final

from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.resource.podclaims import is_terminal
from dray.client.port import ObjectName
from dray.controllers.commons import Commons
from dray.controllers.evicting import Disruption, delete_pod, mark_disrupted
from dray.controllers.nodehealth import is_ready
from dray.controllers.runtime import Controller
from dray.controllers.writing import find_stored
from dray.errors import Conflict
from dray.values.times import Time

__all__ = ["PodGarbage", "list_ended", "list_unplaced"]

_ROUND_SECONDS: Final = 20.0
_QUARANTINE_SECONDS: Final = 40.0
"""A node has to be missing for so long before its pods are taken for lost."""
_MOST_ENDED: Final = 12_500
_OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
_NODE_GONE: Final = Disruption("DeletionByPodGC", "PodGC: node no longer exists", "Failed")
_NODE_OUT: Final = Disruption(phase="Failed")


def list_ended(pods: Sequence[Pod], most: int) -> list[Pod]:
    """The pods that ended and are too many, oldest first."""
    ended = [pod for pod in pods if is_terminal(pod) and pod.metadata.deletion_timestamp is None]
    ended.sort(key=lambda pod: (pod.metadata.creation_timestamp or Time(0), pod.metadata.namespace, pod.metadata.name))
    return ended[: max(0, len(ended) - most)]


def list_unplaced(pods: Sequence[Pod]) -> list[Pod]:
    """The pods that go and never had a node: no node will say that they ended."""
    return [pod for pod in pods if pod.metadata.deletion_timestamp is not None and not pod.spec.node_name]


class PodGarbage:
    """Looks at all pods, round by round."""

    def __init__(self, commons: Commons, most_ended: int = _MOST_ENDED) -> None:
        self._client = commons.client
        self._clock = commons.effects.clock
        self._log = commons.effects.log
        self._most_ended = most_ended
        self._nodes, self._pods = commons.follow(NODE).view, commons.follow(POD).view
        self._missing: dict[str, float] = {}
        """Nodes that pods name and that are not there, and since when."""
        self.controller: Controller[str] = Controller("pod garbage", self.reconcile, commons.effects)
        self.controller.wake("pods")

    async def reconcile(self, key: str) -> float:
        """Delete what nobody looks after. Returns when to look again."""
        pods = self._pods.select()
        for pod in list_ended(pods, self._most_ended):
            await self._delete(pod)
        for pod in list_unplaced(pods):
            await self._delete(pod)
        for pod in self._list_stuck(pods):
            await self._end(pod, _NODE_OUT)
        gone = await self._find_gone(pods)
        for pod in pods:
            if pod.spec.node_name in gone:
                await self._end(pod, _NODE_GONE)
        return _ROUND_SECONDS

    def _list_stuck(self, pods: Sequence[Pod]) -> list[Pod]:
        """The pods that go, on nodes of which somebody said that they are out of service."""
        return [
            pod
            for pod in pods
            if pod.metadata.deletion_timestamp is not None and self._is_node(pod, _is_out_of_service)
        ]

    def _is_node(self, pod: Pod, holds: Callable[[Node], bool]) -> bool:
        node = self._nodes.find(ObjectName(pod.spec.node_name))
        return node is not None and holds(node)

    async def _find_gone(self, pods: Sequence[Pod]) -> set[str]:
        """Names of nodes that have been missing for long, by the server's word too."""
        now = self._clock.monotonic()
        named = {pod.spec.node_name for pod in pods if pod.spec.node_name}
        missing = sorted(name for name in named if ObjectName(name) not in self._nodes)
        self._missing = {name: self._missing.get(name, now) for name in missing}
        due = [name for name, since in self._missing.items() if now - since >= _QUARANTINE_SECONDS]
        return {name for name in due if await find_stored(self._client, NODE, ObjectName(name)) is None}

    async def _end(self, pod: Pod, why: Disruption) -> None:
        """Say that a pod ended, unless it did, and delete it."""
        if not is_terminal(pod):
            try:
                await mark_disrupted(self._client, pod, why, self._clock.now().to_time())
            except Conflict:
                return  # another pod of that name
        await self._delete(pod)

    async def _delete(self, pod: Pod) -> None:
        self._log.info("pod is collected", pod=f"{pod.metadata.namespace}/{pod.metadata.name}", node=pod.spec.node_name)
        try:
            await delete_pod(self._client, pod, grace_seconds=0)
        except Conflict:
            return


def _is_out_of_service(node: Node) -> bool:
    return not is_ready(node) and any(each.key == _OUT_OF_SERVICE for each in node.spec.taints)

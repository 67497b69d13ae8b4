"""The life of nodes: who renews no lease is lost, which its conditions, its taints and its pods then say.

Heartbeats are timed by our own clock, from when we saw them: clocks of nodes do not matter, and a controller that comes
back gives every node its time anew.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from dray.api.codec import encode_value
from dray.api.coordination.kinds import LEASE
from dray.api.coordination.lease import Lease
from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.client.changes import Change
from dray.client.overlay import Overlay
from dray.client.port import ObjectName, Patch, PatchType
from dray.client.recording import EventType, refer
from dray.client.view import name_of
from dray.controllers.commons import Commons
from dray.controllers.nodehealth import find_ready, is_ready, plan_conditions, plan_taints
from dray.controllers.nodepods import PODS_BY_NODE, index_pods_by_node
from dray.controllers.runtime import Controller
from dray.errors import NotFound
from dray.values.times import Time

__all__ = ["NodeLifecycle"]

_GRACE_SECONDS: Final = 50.0
"""Without a sign of life for so long a node is lost: five renewals of its lease."""
_STARTUP_SECONDS: Final = 60.0
"""The time a node has for its first sign."""
_LEASES: Final = "kube-node-lease"
_WORKERS: Final = 8


class NodeLifecycle:
    """Watches over nodes."""

    def __init__(self, commons: Commons) -> None:
        self._client = commons.client
        self._clock = commons.effects.clock
        self._recorder = commons.get_recorder("node-controller")
        nodes, pods = commons.follow(NODE), commons.follow(POD)
        self._nodes = Overlay(nodes)
        self._pod_view = pods.view
        self._heard: dict[str, float] = {}
        """When a sign of life of a node was seen last, by our own clock."""
        self._registered: set[str] = set()
        """Uids of the nodes that were told to be known."""
        self._turned: dict[ObjectName, tuple[str, Time | None]] = {}
        """When nodes ceased to be ready for whose pods that was said."""
        self.controller: Controller[ObjectName] = Controller(
            "node life cycle", self.reconcile, commons.effects, workers=_WORKERS
        )
        pods.view.add_index(PODS_BY_NODE, index_pods_by_node)
        nodes.add_handler(self._note_node)
        commons.follow(LEASE).add_handler(self._note_lease)
        pods.add_handler(self._note_pod)

    def _note_lease(self, change: Change[Lease]) -> None:
        new, old = change.new, change.old
        if new is None or new.metadata.namespace != _LEASES:
            return
        if old is None or old.spec.renew_time != new.spec.renew_time:
            self._hear(new.metadata.name)

    def _note_node(self, change: Change[Node]) -> None:
        new, old = change.new, change.old
        name = change.name.name
        if new is None:
            self._heard.pop(name, None)
            self._turned.pop(change.name, None)
            self._registered.discard(change.latest.metadata.uid)
            return
        if old is None or _heartbeat(old) != _heartbeat(new):
            self._hear(name)
        if old is None or (old.spec, _states(old)) != (new.spec, _states(new)):
            self.controller.wake(change.name)

    def _note_pod(self, change: Change[Pod]) -> None:
        """A pod says that it is ready on a node of which nobody knows."""
        pod = change.new
        if pod is not None and pod.spec.node_name and _claims_readiness(pod):
            node = self._nodes.find(ObjectName(pod.spec.node_name))
            if node is not None and _is_lost(node):
                self.controller.wake(name_of(node))

    def _hear(self, node: str) -> None:
        self._heard[node] = self._clock.monotonic()

    async def reconcile(self, name: ObjectName) -> float | None:
        """See to the conditions, taints and pods of a node; returns when it is lost if it is not heard of before."""
        node = self._nodes.find(name)
        if node is None:
            return None
        self._tell_registered(node)
        now = self._clock.now().to_time()
        left = self._count_left(node)
        if left <= 0:
            node = await self._lose(node)
        taints = plan_taints(node, now)
        if taints != node.spec.taints:
            await self._taint(replace(node, spec=replace(node.spec, taints=taints)))
        ready = find_ready(node)
        if ready is not None and ready.status != "True":
            turned = (node.metadata.uid, ready.last_transition_time)
            # An agent that lives may say of its pods what it likes, after this was said once.
            if _is_lost(node) or self._turned.get(name) != turned:
                await self._unready_pods(node)
            self._turned[name] = turned
        return left if left > 0 else None

    def _tell_registered(self, node: Node) -> None:
        if node.metadata.uid not in self._registered:
            self._registered.add(node.metadata.uid)
            message = f"Node {node.metadata.name} event: Registered Node {node.metadata.name} in Controller"
            self._recorder.tell(refer(NODE, node), EventType.NORMAL, "RegisteredNode", message)

    def _count_left(self, node: Node) -> float:
        """Seconds until a node is lost."""
        grace = _STARTUP_SECONDS if find_ready(node) is None else _GRACE_SECONDS
        now = self._clock.monotonic()
        return self._heard.setdefault(node.metadata.name, now) + grace - now

    async def _lose(self, node: Node) -> Node:
        """Say that nothing is known of a node any more."""
        conditions = plan_conditions(node, self._clock.now().to_time())
        if conditions == node.status.conditions:
            return node
        was_ready = is_ready(node)
        lost = replace(node, status=replace(node.status, conditions=conditions))
        stored = await self._client.update(NODE, lost, subresource="status")
        self._nodes.note(stored)
        if was_ready:
            message = f"Node {node.metadata.name} status is now: NodeNotReady"
            self._recorder.tell(refer(NODE, node), EventType.NORMAL, "NodeNotReady", message)
        return stored

    async def _taint(self, node: Node) -> None:
        taints = [msgspec.Raw(encode_value(each)) for each in node.spec.taints]
        body = {"metadata": {"resourceVersion": node.metadata.resource_version}, "spec": {"taints": taints}}
        patch = Patch(PatchType.MERGE, msgspec.json.encode(body))
        try:
            self._nodes.note(await self._client.patch(NODE, name_of(node), patch))
        except NotFound:
            return

    async def _unready_pods(self, node: Node) -> None:
        """Pods on a node that is not ready are not ready either: nothing should be sent to them."""
        for pod in self._pod_view.select_by(PODS_BY_NODE, node.metadata.name):
            if not _claims_readiness(pod):
                continue
            now = str(self._clock.now().to_time())
            condition = {"type": "Ready", "status": "False", "reason": "NodeNotReady", "lastTransitionTime": now}
            body = {"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [condition]}}
            patch = Patch(PatchType.STRATEGIC, msgspec.json.encode(body))
            try:
                await self._client.patch(POD, name_of(pod), patch, subresource="status")
            except NotFound:
                continue
            self._recorder.tell(refer(POD, pod), EventType.WARNING, "NodeNotReady", "Node is not ready")


def _is_lost(node: Node) -> bool:
    ready = find_ready(node)
    return ready is not None and ready.status == "Unknown"


def _states(node: Node) -> list[tuple[str, str]]:
    return [(each.type, each.status) for each in node.status.conditions]


def _heartbeat(node: Node) -> object:
    ready = find_ready(node)
    return None if ready is None else (ready.last_heartbeat_time, ready.status)


def _claims_readiness(pod: Pod) -> bool:
    return any((each.type, each.status) == ("Ready", "True") for each in pod.status.conditions)

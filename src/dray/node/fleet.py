"""Agents of many nodes in one process: they share one view of pods, one row of timers, one stream of heartbeats.

This is what runs nodes: `open_fleet`, then `Fleet.add_node` for each. One node is a fleet of one.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from dray.api.core.pod import Pod
from dray.client.changes import Change
from dray.client.informer import Informer
from dray.client.port import Client, Unreachable
from dray.client.recording import EventRecorder
from dray.client.retrying import Pace
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.errors import ApiError
from dray.node.agent import NodeAgent, NodeParts
from dray.node.heartbeat import Heartbeat
from dray.node.metrics import NodeMetrics
from dray.node.registration import NodeFacts, register_node
from dray.node.streams import AgentStreams
from dray.node.surroundings import PREPARE_RETRY_SECONDS, Surroundings
from dray.node.timers import Timers

__all__ = ["Fleet", "FleetParts", "open_fleet"]

_POD_INDEX = "node agent: by node"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetParts:
    """What a fleet works with.

    `pods` may be shared with other parts of the process, and then shows the pods of all nodes; whoever made it runs it.
    """

    client: Client
    clock: Clock
    entropy: Entropy
    log: Log
    pods: Informer[Pod]
    metrics: NodeMetrics | None = None
    prepare_retry_seconds: float = PREPARE_RETRY_SECONDS


def _list_places(pod: Pod) -> list[str]:
    """The node of a pod. One function for all fleets, since they may share a view."""
    return [pod.spec.node_name] if pod.spec.node_name else []


class Fleet:
    """The agents of some nodes. Owns them, and all tasks in which they work."""

    def __init__(self, around: Surroundings, pods: Informer[Pod]) -> None:
        self.around = around
        self._pods = pods
        self._heartbeat = Heartbeat(around)
        self._agents: dict[str, NodeAgent] = {}
        pods.view.add_index(_POD_INDEX, _list_places)

    @property
    def agents(self) -> Mapping[str, NodeAgent]:
        """By node."""
        return self._agents

    @property
    def streams(self) -> AgentStreams:
        """Logs of the fleet's containers and commands in them."""
        return AgentStreams(self._agents)

    async def add_nodes(self, nodes: Sequence[tuple[NodeFacts, NodeParts]]) -> list[NodeAgent]:
        """Register nodes side by side, and run their pods from then on."""
        return list(await asyncio.gather(*(self.add_node(*each) for each in nodes)))

    async def add_node(self, facts: NodeFacts, parts: NodeParts) -> NodeAgent:
        """Register a node, trying until the server takes it, and run its pods from then on."""
        await self.register(facts)
        return await self.start_agent(parts)

    async def start_agent(self, parts: NodeParts) -> NodeAgent:
        """Run the pods of a node that is registered."""
        await self._pods.synced.wait()
        agent = NodeAgent(parts, self.around)
        self._agents[parts.name] = agent
        await agent.start(self._pods.view.select_by(_POD_INDEX, parts.name))
        if parts.plugin_root is not None:
            # Loaded where drivers may come: gRPC takes long, and simulated nodes never need it.
            from dray.node.plugins import Registry  # noqa: PLC0415

            registry = Registry(parts.plugin_root / "plugins_registry", agent.drivers, self.around)
            self.around.begin(registry.run(), f"plugins of {parts.name}")
            socket = parts.plugin_root / "pod-resources" / "kubelet.sock"
            self.around.begin(self._list_resources(agent, socket), f"pod resources of {parts.name}")
        self.around.log.debug("node is up", node=parts.name)
        return agent

    async def _list_resources(self, agent: NodeAgent, socket: Path) -> None:
        from dray.node.podresources import serve_pod_resources  # noqa: PLC0415  # as above

        async with serve_pod_resources(agent, socket, self.around.clock):
            await asyncio.Event().wait()

    async def register(self, facts: NodeFacts) -> None:
        """Write the Node, trying until the server takes it, and keep it alive. Its pods wait for an agent."""
        attempt = 0
        while True:
            try:
                node = await register_node(self.around.client, facts, self.around.clock.now().to_time())
                await self._heartbeat.add(facts, node)
            except (ApiError, Unreachable) as fault:
                self.around.log.error("node is not registered", node=facts.name, attempt=attempt, err=fault)
                await self.around.pace.pause(attempt)
                attempt += 1
            else:
                return

    def note(self, change: Change[Pod]) -> None:
        """Tell the agent concerned of a change to a pod."""
        pod = change.latest
        agent = self._agents.get(pod.spec.node_name)
        if agent is None:
            return
        if change.new is None:
            agent.observe_gone(pod)
        else:
            agent.observe(change.new)

    async def run(self) -> None:
        """Serve all nodes until cancelled."""
        self._pods.add_handler(self.note)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.around.timers.run(), name="timers of nodes")
            tasks.create_task(self._heartbeat.run(), name="heartbeats of nodes")
            tasks.create_task(self.around.events.run(), name="events of nodes")

    async def aclose(self) -> None:
        """End all agents. Containers and slices stay as they are."""
        for agent in self._agents.values():
            await agent.aclose()


class _Closing(Exception):
    """Ends a fleet."""


@asynccontextmanager
async def open_fleet(parts: FleetParts) -> AsyncIterator[Fleet]:
    """A fleet without nodes, at work for the length of a block; its tasks end with the block."""
    pace = Pace(parts.clock, parts.entropy)
    try:
        async with asyncio.TaskGroup() as tasks:
            around = Surroundings(
                client=parts.client,
                clock=parts.clock,
                entropy=parts.entropy,
                log=parts.log,
                metrics=parts.metrics or NodeMetrics(),
                timers=Timers(parts.clock),
                events=EventRecorder(parts.client, "kubelet", pace, parts.log),
                tasks=tasks,
                prepare_retry_seconds=parts.prepare_retry_seconds,
            )
            fleet = Fleet(around, parts.pods)
            tasks.create_task(fleet.run(), name="fleet")
            yield fleet
            await fleet.aclose()
            raise _Closing
    except* _Closing:
        pass

"""Logs of containers and commands in them, for whoever reaches the agents of this process: the port `NodeStreams`."""

from collections.abc import AsyncGenerator, Iterable, Mapping

from dray.client.port import Command, ContainerAddress, Execution, LogOptions
from dray.errors import BadRequest, NotFound
from dray.node.agent import NodeAgent
from dray.node.core.podstate import Run, RunPhase
from dray.node.podtask import PodTask

__all__ = ["AgentStreams"]


class AgentStreams:
    """Answers for the containers of some agents; `agents` is asked anew each time."""

    def __init__(self, agents: Mapping[str, NodeAgent]) -> None:
        self._agents = agents

    def serves(self, node: str) -> bool:
        """See `NodeStreams.serves`."""
        return node in self._agents

    async def open_log(self, container: ContainerAddress, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """See `NodeStreams.open_log`."""
        agent, task = self._find(container)
        run = self._find_run(task, container)
        if run.phase in (RunPhase.WAITING, RunPhase.STARTING) and run.last is None and not options.previous:
            why = run.waiting_reason or ("PodInitializing" if task.pod.spec.init_containers else "ContainerCreating")
            raise BadRequest(f'container "{container.container}" in pod "{container.pod}" is waiting to start: {why}')
        pieces = await agent.runtime.open_log(task.pod, container.container, options)
        return pieces if options.limit_bytes is None else _limit(pieces, options.limit_bytes)

    async def start(self, container: ContainerAddress, command: Command) -> Execution:
        """See `NodeStreams.start`."""
        agent, task = self._find(container)
        run = self._find_run(task, container)
        if not run.is_running:
            raise BadRequest(f"container {container.container} of pod {container.pod} does not run")
        return await agent.runtime.execute(run.container_id, command)

    def _find(self, container: ContainerAddress) -> tuple[NodeAgent, PodTask]:
        for agent in self._select(container.node):
            for task in agent.pods:
                meta = task.pod.metadata
                is_named = (meta.namespace, meta.name) == (container.namespace, container.pod)
                if is_named and container.pod_uid in ("", meta.uid):
                    return agent, task
        raise NotFound(f'pods "{container.pod}" not found')

    def _select(self, node: str) -> Iterable[NodeAgent]:
        if not node:
            return list(self._agents.values())
        return [self._agents[node]] if node in self._agents else []

    def _find_run(self, task: PodTask, container: ContainerAddress) -> Run:
        if container.container not in {each.name for each in task.plan.containers}:
            raise BadRequest(f"container {container.container} is not valid for pod {container.pod}")
        return task.state.run(container.container)


async def _limit(pieces: AsyncGenerator[bytes, None], most_bytes: int) -> AsyncGenerator[bytes, None]:
    left = most_bytes
    try:
        async for piece in pieces:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return
    finally:
        await pieces.aclose()

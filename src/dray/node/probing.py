"""Looking into containers: probes that say whether they are well, and hooks at their start and end."""

import asyncio
from collections.abc import Callable
from typing import Final

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.probes import HTTPGetAction, LifecycleHandler, Probe
from dray.client.recording import EventType, refer
from dray.node.core.podplan import ContainerPlan
from dray.node.core.podstate import Event, Probed, ProbeKind
from dray.node.runtime.port import FoundContainer, Runtime
from dray.node.surroundings import Surroundings

__all__ = ["Prober"]

Offer = Callable[[Event], None]

_NAMES: Final = {ProbeKind.STARTUP: "Startup", ProbeKind.READINESS: "Readiness", ProbeKind.LIVENESS: "Liveness"}
_MESSAGE_LETTERS: Final = 1000


class Prober:
    """Probes of the containers of one node. Owns a task for every container that has probes."""

    def __init__(self, runtime: Runtime, around: Surroundings) -> None:
        self._runtime = runtime
        self._around = around
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, pod: Pod, container: ContainerPlan, found: FoundContainer, offer: Offer) -> None:
        """Probe a container from now on, until it ends."""
        spec = container.spec
        if spec.startup_probe or spec.readiness_probe or spec.liveness_probe:
            watched = _Watched(self._runtime, self._around, pod, container)
            watching = watched.watch(found.container_id, offer)
            title = f"probes of {pod.metadata.name} {container.name}"
            task = self._around.begin(watching, title)
            if task is not None:
                self._tasks[found.container_id] = task

    def end(self, container_id: str) -> None:
        """Probe a container no longer. Unknown ones are a no-op."""
        task = self._tasks.pop(container_id, None)
        if task is not None:
            task.cancel()

    async def run_start_hook(self, pod: Pod, container: ContainerPlan, found: FoundContainer, offer: Offer) -> None:
        """Run the hook at the start of a container; where it fails, the container is ended."""
        hook = container.spec.lifecycle.post_start if container.spec.lifecycle is not None else None
        if hook is None or not self._runtime.can_probe:
            return
        is_good, text = await self._run_hook(pod, container, hook, found.container_id)
        if not is_good:
            self._around.events.tell(
                refer(POD, pod), EventType.WARNING, "FailedPostStartHook", f"PostStartHook failed: {text}"
            )
            offer(Probed(container.name, ProbeKind.LIVENESS, is_good=False, container_id=found.container_id))

    async def run_stop_hook(self, pod: Pod, container: ContainerPlan, container_id: str, grace_seconds: float) -> None:
        """Run the hook before a container is told to stop, within the time it has left."""
        hook = container.spec.lifecycle.pre_stop if container.spec.lifecycle is not None else None
        if hook is None or not self._runtime.can_probe or grace_seconds <= 0:
            return
        try:
            async with asyncio.timeout(grace_seconds):
                is_good, text = await self._run_hook(pod, container, hook, container_id)
        except TimeoutError:
            is_good, text = False, "it took longer than the pod's grace period"
        if not is_good:
            self._around.events.tell(
                refer(POD, pod), EventType.WARNING, "FailedPreStopHook", f"PreStopHook failed: {text}"
            )

    async def _run_hook(
        self, pod: Pod, container: ContainerPlan, hook: LifecycleHandler, container_id: str
    ) -> tuple[bool, str]:
        if hook.sleep is not None:
            await self._around.clock.sleep(hook.sleep.seconds)
            return True, ""
        probe = Probe(exec=hook.exec, http_get=hook.http_get)
        return await _Watched(self._runtime, self._around, pod, container).ask(container_id, probe)


class _Watched:
    """One container that is probed."""

    def __init__(self, runtime: Runtime, around: Surroundings, pod: Pod, container: ContainerPlan) -> None:
        self._runtime = runtime
        self._around = around
        self._pod = pod
        self._container = container

    async def watch(self, container_id: str, offer: Offer) -> None:
        """Probe until cancelled: the startup probe first, then the two others side by side."""
        spec = self._container.spec
        if spec.startup_probe is not None and not await self._follow(
            ProbeKind.STARTUP, spec.startup_probe, container_id, offer
        ):
            return
        async with asyncio.TaskGroup() as tasks:
            for kind, probe in ((ProbeKind.READINESS, spec.readiness_probe), (ProbeKind.LIVENESS, spec.liveness_probe)):
                if probe is not None:
                    tasks.create_task(self._follow(kind, probe, container_id, offer))

    async def _follow(self, kind: ProbeKind, probe: Probe, container_id: str, offer: Offer) -> bool:
        """Probe again and again, and tell of every turn. Ends, True, once a startup probe succeeds."""
        await self._around.clock.sleep(probe.initial_delay_seconds)
        verdict: bool | None = None
        in_a_row, last = 0, None
        while True:
            is_good, text = await self._ask_in_time(container_id, probe)
            in_a_row = in_a_row + 1 if is_good is last else 1
            last = is_good
            if not is_good:
                self._complain(kind, text)
            enough = probe.success_threshold if is_good else probe.failure_threshold
            if in_a_row >= max(1, enough) and verdict is not is_good:
                verdict = is_good
                offer(Probed(self._container.name, kind, is_good=is_good, container_id=container_id))
                if kind is not ProbeKind.READINESS and not is_good:
                    return False
                if kind is ProbeKind.STARTUP:
                    return True
            await self._around.clock.sleep(max(1, probe.period_seconds))

    def _complain(self, kind: ProbeKind, text: str) -> None:
        message = f"{_NAMES[kind]} probe failed: {text[:_MESSAGE_LETTERS]}"
        self._around.events.tell(refer(POD, self._pod), EventType.WARNING, "Unhealthy", message)

    async def _ask_in_time(self, container_id: str, probe: Probe) -> tuple[bool, str]:
        seconds = max(1, probe.timeout_seconds)
        try:
            async with asyncio.timeout(seconds):
                return await self.ask(container_id, probe)
        except TimeoutError:
            return False, f"no answer within {seconds}s"

    async def ask(self, container_id: str, probe: Probe) -> tuple[bool, str]:
        """Probe once: whether the container is well, and if not, why."""
        if probe.exec is not None:
            return await self._runtime.run_probe(container_id, probe.exec)
        # Loaded once somebody probes so: the libraries take long, and most nodes never need them.
        from dray.node.networkprobes import check_grpc, connect, get  # noqa: PLC0415

        if probe.http_get is not None:
            return await get(*self._plan_get(probe.http_get))
        if probe.tcp_socket is not None:
            return await connect(self._host(probe.tcp_socket.host), self._port(probe.tcp_socket.port))
        if probe.grpc is not None:
            return await check_grpc(f"{self._host('')}:{probe.grpc.port}", probe.grpc.service or "")
        return True, ""

    def _plan_get(self, action: HTTPGetAction) -> tuple[str, list[tuple[str, str]]]:
        scheme = (action.scheme or "HTTP").lower()
        path = action.path if action.path.startswith("/") else f"/{action.path}"
        url = f"{scheme}://{self._host(action.host)}:{self._port(action.port)}{path}"
        return url, [(each.name, each.value) for each in action.http_headers]

    def _host(self, host: str) -> str:
        return host or self._pod.status.pod_ip or "127.0.0.1"

    def _port(self, port: int | str) -> int:
        if isinstance(port, int):
            return port
        named = {each.name: each.container_port for each in self._container.spec.ports}
        return named.get(port, int(port) if port.isdecimal() else 0)

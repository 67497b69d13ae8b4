"""Containers that only seem to run: they start, do nothing, and end when their pod's annotations say so.

What a container would have been given is worked out as for a real one, CDI devices included, and is all that its log
says. Nothing costs more than a few objects in memory, so a process holds tens of thousands of them.
"""

import itertools
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dray import __version__
from dray.api.core.pod import Pod
from dray.api.core.probes import ExecAction
from dray.client.port import Command, Execution, LogOptions
from dray.effects.clock import Clock
from dray.errors import BadRequest
from dray.node.core.cdi import ContainerShape, UnresolvableDevices, apply_edits
from dray.node.core.simulation import Life, plan_life
from dray.node.runtime.devices import CdiDevices
from dray.node.runtime.lines import LogLine, render_lines, select_lines
from dray.node.runtime.port import CannotStart, ContainerEnd, ContainerOrder, FoundContainer, Report
from dray.node.timers import Timer, Timers
from dray.values.times import MicroTime, Time

__all__ = ["SimulatedNetwork", "SimulatedRuntime"]

_TERMINATED: Final = 143
"""128 + SIGTERM: what a program returns that does not listen to the signal."""
_KILLED: Final = 137
"""128 + SIGKILL."""


@dataclass(slots=True)
class _Container:
    """One container that seems to run, or has."""

    id: str
    started_at: MicroTime
    life: Life
    report: Report
    lines: tuple[str, ...]
    alarm: Timer | None = None
    has_ended: bool = False


@dataclass(slots=True)
class _Logs:
    """What can be read of a container: of its run, and of the one before."""

    now: _Container
    before: _Container | None = None


class SimulatedNetwork:
    """Addresses of pods, from 10.64.0.0/10 in turn, and numbers of containers; all nodes of a process share them."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._addresses = itertools.count(1)

    def next_address(self) -> str:
        """An address that no pod had for a long time."""
        number = next(self._addresses) % (1 << 22)
        return ".".join(map(str, (10, 64 + (number >> 16), (number >> 8) & 255, number & 255)))

    def next_number(self) -> int:
        """A number that no container had."""
        return next(self._numbers)


class SimulatedRuntime:
    """Containers of a simulated node."""

    can_probe = False

    def __init__(self, clock: Clock, timers: Timers, devices: CdiDevices, network: SimulatedNetwork) -> None:
        self._clock = clock
        self._timers = timers
        self._devices = devices
        self._network = network
        self._running: dict[str, _Container] = {}
        self._logs: dict[tuple[str, str], _Logs] = {}
        self._sandboxes: dict[str, str] = {}

    @property
    def version(self) -> str:
        """See `Runtime.version`."""
        return f"simulated://{__version__}"

    async def open_sandbox(self, pod: Pod) -> tuple[str, ...]:
        """See `Runtime.open_sandbox`."""
        uid = pod.metadata.uid
        if uid not in self._sandboxes:
            self._sandboxes[uid] = self._network.next_address()
        return (self._sandboxes[uid],)

    async def close_sandbox(self, pod: Pod) -> None:
        """See `Runtime.close_sandbox`."""
        self._sandboxes.pop(pod.metadata.uid, None)

    async def forget(self, pod: Pod) -> None:
        """See `Runtime.forget`."""
        for container in _names(pod):
            self._logs.pop((pod.metadata.uid, container), None)

    async def forget_others(self, known: Collection[str]) -> None:
        """See `Runtime.forget_others`; nothing outlives the process."""

    async def start(self, order: ContainerOrder, report: Report) -> FoundContainer:
        """See `Runtime.start`."""
        life = plan_life(order.pod, order.name, order.attempt)
        if life.start_error:
            raise CannotStart("CreateContainerError", life.start_error)
        try:
            edits = self._devices.find_edits(order.cdi_ids)
        except UnresolvableDevices as fault:
            raise CannotStart("CreateContainerError", f"CDI device injection failed: {fault}") from fault
        shape = apply_edits(ContainerShape(env=order.env, mounts=order.mounts), edits)
        if life.start_seconds > 0:
            await self._clock.sleep(life.start_seconds)
        container_id = f"simulated://{order.pod.metadata.uid[:8]}-{self._network.next_number():x}"
        lines = tuple(_describe(order, shape))
        container = _Container(container_id, self._clock.now(), life, report, lines)
        self._keep(order.pod, order.name, container)
        if life.run_seconds is not None:
            self._end_after(container, life.run_seconds, life.exit_code)
        return FoundContainer(order.name, container_id, container.started_at.to_time())

    def _keep(self, pod: Pod, name: str, container: _Container) -> None:
        self._running[container.id] = container
        key = pod.metadata.uid, name
        old = self._logs.get(key)
        self._logs[key] = _Logs(container, old.now if old is not None else None)

    def _end_after(self, container: _Container, seconds: float, exit_code: int) -> None:
        if container.alarm is not None:
            container.alarm.cancel()
        container.alarm = self._timers.set(seconds, lambda: self._end(container, exit_code))

    def _end(self, container: _Container, exit_code: int) -> None:
        if self._running.pop(container.id, None) is not None:
            container.has_ended = True
            container.report(ContainerEnd(exit_code, self._clock.now().to_time()))

    async def stop(self, container_id: str, grace_seconds: float) -> None:
        """See `Runtime.stop`; the end comes later, unless the container stops at once."""
        container = self._running.get(container_id)
        if container is None:
            return
        wanted = container.life.stop_seconds
        code = _TERMINATED if wanted <= grace_seconds else _KILLED
        seconds = min(wanted, grace_seconds)
        if seconds > 0:
            self._end_after(container, seconds, code)
        else:
            self._end(container, code)

    async def find_running(self, pod: Pod, report: Callable[[str, ContainerEnd], None]) -> Sequence[FoundContainer]:
        """What the pod's status says runs goes on running: its life began when the status says."""
        found: list[FoundContainer] = []
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
            running = status.state.running
            if running is None or running.started_at is None or not status.container_id.startswith("simulated://"):
                continue
            self._take_up(pod, (status.name, status.container_id), (running.started_at, status.restart_count), report)
            found.append(FoundContainer(status.name, status.container_id, running.started_at))
        if found and pod.status.pod_ip:
            self._sandboxes[pod.metadata.uid] = pod.status.pod_ip
        return found

    def _take_up(
        self,
        pod: Pod,
        named: tuple[str, str],
        begun: tuple[Time, int],
        report: Callable[[str, ContainerEnd], None],
    ) -> None:
        """Go on with a container of an earlier process."""
        (name, container_id), (started_at, attempt) = named, begun
        life = plan_life(pod, name, attempt)
        lines = ("(this container was started by an agent before this one)",)
        since = started_at.to_micro_time()
        container = _Container(container_id, since, life, lambda end: report(name, end), lines)
        self._keep(pod, name, container)
        if life.run_seconds is not None:
            left = life.run_seconds - self._clock.now().seconds_since(since)
            self._end_after(container, max(0.0, left), life.exit_code)

    async def run_probe(self, container_id: str, action: ExecAction) -> tuple[bool, str]:
        """Nothing runs, so nothing fails."""
        return container_id in self._running, ""

    async def open_log(self, pod: Pod, container: str, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """See `Runtime.open_log`."""
        logs = self._logs.get((pod.metadata.uid, container))
        chosen = None if logs is None else logs.before if options.previous else logs.now
        if chosen is None:
            which = "previous terminated container" if options.previous else "container"
            raise BadRequest(f'{which} "{container}" in pod "{pod.metadata.name}" not found')
        return self._read(chosen, options)

    async def _read(self, chosen: _Container, options: LogOptions) -> AsyncGenerator[bytes, None]:
        lines = [LogLine(str(chosen.started_at).encode(), each.encode()) for each in chosen.lines]
        for piece in render_lines(select_lines(lines, options, self._clock.now()), options):
            yield piece
        while options.follow and not chosen.has_ended:
            await self._clock.sleep(0.2)

    async def execute(self, container_id: str, command: Command) -> Execution:
        """Refused: there is no program to run beside."""
        raise BadRequest("a simulated container runs no program, so no command can be run in it")


def _names(pod: Pod) -> Iterator[str]:
    yield from (each.name for each in (*pod.spec.init_containers, *pod.spec.containers))
    yield from (each.name for each in pod.spec.ephemeral_containers)


def _describe(order: ContainerOrder, shape: ContainerShape) -> Iterator[str]:
    """What the container was given, line by line."""
    yield f"simulated container {order.name} of pod {order.pod.metadata.namespace}/{order.pod.metadata.name}"
    if order.words:
        yield f"command: {' '.join(order.words)}"
    for name in order.cdi_ids:
        yield f"device: {name}"
    for name, value in shape.env.items():
        yield f"{name}={value}"
    for node in shape.device_nodes:
        yield f"device node: {node.path}"
    for net in shape.net_devices:
        yield f"network interface: {net.name} (on the host {net.host_interface_name})"
    for mount in shape.mounts:
        yield f"mount: {mount.container_path} from {mount.host_path}"
    for hook in shape.hooks:
        yield f"hook: {hook.hook_name} {hook.path}"

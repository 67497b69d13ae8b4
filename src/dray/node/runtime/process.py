"""Containers as processes of this machine: real commands with the environment that devices give them, and no image.

There is no isolation: a container sees the machine's files, network and processes. Of its devices it gets variables and
processors; device nodes are there anyway, and mounts and hooks are left out, which an event says. Processes that an
agent before this one left behind are ended, because their output and their exit codes are lost.
"""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from dray import __version__
from dray.api.core.containers import Container, EphemeralContainer
from dray.api.core.pod import Pod
from dray.api.core.probes import ExecAction
from dray.client.port import Command, Execution, LogOptions
from dray.driver.cdi import ContainerEdits
from dray.effects.clock import Clock
from dray.errors import ApiError, BadRequest
from dray.node.core.cdi import ContainerShape, UnresolvableDevices, apply_edits
from dray.node.runtime.devices import CdiDevices
from dray.node.runtime.executing import start_execution
from dray.node.runtime.logfiles import KeptLog, LogFile
from dray.node.runtime.port import CannotStart, ContainerEnd, ContainerOrder, FoundContainer, Report
from dray.node.runtime.spawning import (
    Pieces,
    ProcessOrder,
    Spawner,
    find_cpus,
    kill_group,
    kill_session,
    read_stat,
    wait_for_exit,
)

__all__ = ["ProcessRuntime"]

_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NETWORK_NAMESPACE: Final = "DRAY_NETWORK_NAMESPACE"
"""In this variable a driver says which network namespace the pod's containers are to be in."""
_STARTED: Final = 19
"""The field of `/proc/<pid>/stat` that has the start, counted from the state."""
_MESSAGE_LINES: Final = 80
_MESSAGE_BYTES: Final = 2048
"""Of a log that stands in for a last message, as in Kubernetes."""


class _Mark(msgspec.Struct, frozen=True):
    """What is left on disk of a process, so that the next agent finds it."""

    pid: int
    started: str
    """When the kernel started it: another process with its number has another time."""


@dataclass(eq=False, slots=True)
class _Container:
    """One process, from its start on."""

    id: str
    order: ContainerOrder
    process: subprocess.Popen[bytes]
    around: ProcessOrder
    log: LogFile
    mark: Path
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class ProcessRuntime:
    """See the module. What it keeps of pods is below `root`; `tasks` is where output is read."""

    can_probe = True

    def __init__(self, root: Path, devices: CdiDevices, clock: Clock, tasks: asyncio.TaskGroup, host_ip: str) -> None:
        self._root = root
        self._devices = devices
        self._clock = clock
        self._tasks = tasks
        self._host_ip = host_ip
        self._spawner = Spawner()
        self._containers: dict[str, _Container] = {}
        self._logs: dict[tuple[str, str], list[KeptLog]] = {}

    @property
    def version(self) -> str:
        """See `Runtime.version`."""
        return f"process://{__version__}"

    def _folder(self, pod: Pod) -> Path:
        return self._root / "pods" / pod.metadata.uid

    async def open_sandbox(self, pod: Pod) -> tuple[str, ...]:
        """See `Runtime.open_sandbox`; the pod has the addresses of the machine."""
        try:
            self._folder(pod).mkdir(mode=0o750, parents=True, exist_ok=True)
        except OSError as fault:
            raise CannotStart("CreatePodSandboxError", str(fault)) from fault
        return (self._host_ip,)

    async def close_sandbox(self, pod: Pod) -> None:
        """See `Runtime.close_sandbox`; logs stay until the pod is forgotten."""

    async def forget(self, pod: Pod) -> None:
        """See `Runtime.forget`."""
        for key in [key for key in self._logs if key[0] == pod.metadata.uid]:
            del self._logs[key]
        await asyncio.to_thread(shutil.rmtree, self._folder(pod), ignore_errors=True)

    async def forget_others(self, known: Collection[str]) -> None:
        """See `Runtime.forget_others`."""
        others = [each for each in self._root.glob("pods/*") if each.name not in known]
        for each in others:
            await asyncio.to_thread(shutil.rmtree, each, ignore_errors=True)

    async def start(self, order: ContainerOrder, report: Report) -> FoundContainer:
        """See `Runtime.start`."""
        if not order.words:
            raise CannotStart(
                "CreateContainerError",
                "the process runtime does not read images, so it needs a command: set command in the container's spec",
            )
        try:
            edits = self._devices.find_edits(order.cdi_ids)
        except UnresolvableDevices as fault:
            raise CannotStart("CreateContainerError", f"CDI device injection failed: {fault}") from fault
        around = _surround(order, edits, self._folder(order.pod) / order.name)
        container = await self._spawn(order, around)
        self._containers[container.id] = container
        self._tasks.create_task(self._follow(container, report), name=f"container {order.name}")
        return FoundContainer(order.name, container.id, self._clock.now().to_time(), _list_notes(order, edits))

    async def _spawn(self, order: ContainerOrder, around: ProcessOrder) -> _Container:
        """Start the process, with a log and a mark of it on disk."""
        folder, logs = self._folder(order.pod) / order.name, self._find_logs(order.pod, order.name)
        try:
            folder.mkdir(mode=0o750, parents=True, exist_ok=True)
            log = LogFile(folder / f"{order.attempt}.log", self._clock)
        except OSError as fault:
            raise CannotStart("CreateContainerError", f"log of the container: {fault}") from fault
        try:
            process = await self._spawner.spawn(around)
        except OSError as fault:
            log.close()
            log.remove()
            where = f" {fault.filename}" if fault.filename not in (None, *around.words) else ""
            text = f'exec: "{order.words[0]}": {fault.strerror or fault}{where}'
            raise CannotStart("RunContainerError", f"failed to start container: {text}") from fault
        self._logs[order.pod.metadata.uid, order.name] = logs = [*logs, log]
        while len(logs) > 2:  # that of this run, and that of the one before
            logs.pop(0).remove()
        container_id = f"process://{order.pod.metadata.uid}-{order.name}-{order.attempt}-{process.pid}"
        container = _Container(container_id, order, process, around, log, folder / "process.json")
        with suppress(OSError):  # on a full disk, the next agent does not find it
            container.mark.write_bytes(msgspec.json.encode(_Mark(process.pid, _read_start(process.pid))))
        return container

    def _find_logs(self, pod: Pod, container: str) -> list[KeptLog]:
        """The logs of a container that are kept, oldest first; those of an agent before this one, if it has none."""
        known = self._logs.get((pod.metadata.uid, container))
        if known is not None:
            return known
        files = (each for each in (self._folder(pod) / container).glob("*.log") if each.stem.isdecimal())
        return [KeptLog(each, self._clock) for each in sorted(files, key=lambda each: int(each.stem))]

    async def _follow(self, container: _Container, report: Report) -> None:
        process = container.process
        pipes = [("stdout", process.stdout), ("stderr", process.stderr)]
        streams = [(name, Pieces(pipe.fileno())) for name, pipe in pipes if pipe is not None]
        readers = [asyncio.ensure_future(_read(name, pieces, container.log)) for name, pieces in streams]
        try:
            code = await wait_for_exit(process)
            for _, pieces in streams:
                pieces.end_when_empty()  # a daemon that left the session may keep the other end open for ever
            await asyncio.gather(*readers)
        except asyncio.CancelledError:
            kill_session(process.pid)  # the runtime ends, and its containers with it
            process.wait()
            raise
        finally:
            for reader in readers:
                reader.cancel()
            for _, pipe in pipes:
                if pipe is not None:
                    pipe.close()
            container.log.close()
            container.mark.unlink(missing_ok=True)
            self._containers.pop(container.id, None)
            container.ended.set()
        report(
            ContainerEnd(
                exit_code=code if code >= 0 else 128 - code,
                finished_at=self._clock.now().to_time(),
                signal=-min(code, 0),
                message=_find_message(container, code),
            )
        )

    async def stop(self, container_id: str, grace_seconds: float) -> None:
        """See `Runtime.stop`."""
        container = self._containers.get(container_id)
        if container is None:
            return
        pid = container.process.pid
        kill_group(pid, _find_signal(container.order.stop_signal))
        try:
            async with asyncio.timeout(grace_seconds):
                await container.ended.wait()
        except TimeoutError:
            kill_session(pid)
            await container.ended.wait()

    async def find_running(self, pod: Pod, report: Callable[[str, ContainerEnd], None]) -> Sequence[FoundContainer]:
        """Ends what runs of the pod from an agent before this one: nothing is found."""
        for mark in self._folder(pod).glob("*/process.json"):
            end_leftover(mark)
        return ()

    def end_leftovers(self) -> None:
        """End every process of an agent before this one, also of pods that are gone."""
        for mark in self._root.glob("pods/*/*/process.json"):
            end_leftover(mark)

    async def run_probe(self, container_id: str, action: ExecAction) -> tuple[bool, str]:
        """See `Runtime.run_probe`."""
        try:
            execution = await self.execute(container_id, Command(action.command, stdout=True, stderr=True))
        except ApiError as fault:
            return False, str(fault)
        try:
            said = b"".join([piece.body async for piece in execution.output()])
            return await execution.wait() == 0, said.decode(errors="replace")
        finally:
            await execution.aclose()

    async def open_log(self, pod: Pod, container: str, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """See `Runtime.open_log`."""
        logs = self._find_logs(pod, container)
        wanted = logs[-2] if options.previous and len(logs) > 1 else logs[-1] if logs and not options.previous else None
        if wanted is None:
            which = "previous terminated container" if options.previous else "container"
            raise BadRequest(f'{which} "{container}" in pod "{pod.metadata.name}" not found')
        return wanted.read(options)

    async def execute(self, container_id: str, command: Command) -> Execution:
        """See `Runtime.execute`."""
        container = self._containers.get(container_id)
        if container is None:
            raise BadRequest("the container does not run")
        return await start_execution(self._spawner, container.around, command)


def _surround(order: ContainerOrder, edits: ContainerEdits, folder: Path) -> ProcessOrder:
    """The process that stands for a container."""
    env = {"PATH": _PATH, "HOSTNAME": order.pod.spec.hostname or order.pod.metadata.name, **order.env}
    env = dict(apply_edits(ContainerShape(env=env), edits).env)
    present = os.sched_getaffinity(0)
    # Drivers of network interfaces name the namespace into which they moved them; the pod's own variables cannot.
    given = dict(each.partition("=")[::2] for each in edits.env)
    namespace = given.get(_NETWORK_NAMESPACE, "")
    return ProcessOrder(
        words=order.words,
        within=("nsenter", f"--net={namespace}", "--") if namespace else (),
        env=env,
        folder=order.working_dir or str(folder),
        cpus=find_cpus(env) & present,
    )


def _list_notes(order: ContainerOrder, edits: ContainerEdits) -> tuple[tuple[str, str], ...]:
    """What a user should know about how the container runs."""
    image = next((each.image for each in _specs(order.pod) if each.name == order.name), "")
    notes = [("ImageIgnored", f'Image "{image}" is not used: the command runs as a process of the node')]
    ignored = [
        f"{len(parts)} {name}"
        for name, parts in (
            ("mounts", (*order.mounts, *edits.mounts)),
            ("hooks", edits.hooks),
            ("network interfaces", edits.net_devices),
        )
        if parts
    ]
    if ignored:
        notes.append(("EditsIgnored", f"Not applied to a process of the node: {', '.join(ignored)}"))
    return tuple(notes)


def _specs(pod: Pod) -> Sequence[Container | EphemeralContainer]:
    return (*pod.spec.init_containers, *pod.spec.containers, *pod.spec.ephemeral_containers)


async def _read(stream: str, pieces: Pieces, log: LogFile) -> None:
    async for piece in pieces:
        log.write(stream, piece)


def _find_message(container: _Container, code: int) -> str:
    """The last message of a container whose spec takes it from the log."""
    order = container.order
    policies = [each.termination_message_policy for each in _specs(order.pod) if each.name == order.name]
    if code == 0 or policies != ["FallbackToLogsOnError"]:
        return ""
    return container.log.tail(lines=_MESSAGE_LINES, size_bytes=_MESSAGE_BYTES)


def _find_signal(name: str) -> int:
    found = getattr(signal, name, signal.SIGTERM)
    return int(found) if isinstance(found, signal.Signals) else int(signal.SIGTERM)


def end_leftover(mark: Path) -> None:
    """End the process that a mark names, if it is still that one."""
    try:
        left = msgspec.json.decode(mark.read_bytes(), type=_Mark)
    except (OSError, msgspec.DecodeError):
        return
    if left.started and _read_start(left.pid) == left.started:
        kill_session(left.pid)
    mark.unlink(missing_ok=True)


def _read_start(pid: int) -> str:
    """When the kernel started a process, in its own ticks; empty for one that is gone."""
    stat = read_stat(pid)
    return stat[_STARTED] if len(stat) > _STARTED else ""

"""What is done for pods: drivers, sandboxes and containers. Every action ends in an event, also where it fails."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from dray.api.core.containers import Container
from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.client.recording import EventType, refer
from dray.driver.cdi import Mount
from dray.node.claimkeeper import ClaimKeeper, ReleaseFailed
from dray.node.configuration import find_configuration
from dray.node.core.claims import PreparationFailed
from dray.node.core.containerstatus import describe_exit
from dray.node.core.devicemapping import ClaimMissing, GrantedDevice, find_cdi_ids, find_granted_devices
from dray.node.core.environment import ConfigurationMissing, expand, render_env
from dray.node.core.health import HealthBook, render_health
from dray.node.core.podplan import ContainerPlan, Role
from dray.node.core.podstate import (
    ClaimsEvent,
    ClaimsPhase,
    Event,
    Exited,
    Probed,
    ProbeKind,
    Run,
    SandboxReady,
    Started,
    StartFailed,
)
from dray.node.core.status import StatusFrame
from dray.node.probing import Prober
from dray.node.runtime.port import CannotStart, ContainerEnd, ContainerOrder, FoundContainer, Runtime
from dray.node.surroundings import Surroundings
from dray.values.times import MicroTime

__all__ = ["Offer", "Place", "PodWork"]

Offer = Callable[[Event], None]

_RELEASE_RETRY_SECONDS: Final = 10.0
_CHANCE_RETRY_SECONDS: Final = 0.5
_RETRY_SPREAD: Final = 0.5
_PATHS: Final = {Role.INIT: "initContainers", Role.SIDECAR: "initContainers", Role.REGULAR: "containers"}


class Place(NamedTuple):
    """The node that the work is done on."""

    node: str
    host_ip: str


class PodWork:
    """Everything that pods of one node have done for them."""

    def __init__(self, around: Surroundings, place: Place, keeper: ClaimKeeper, runtime: Runtime) -> None:
        self.around = around
        self.place = place
        self.health = HealthBook()
        self._keeper = keeper
        self._runtime = runtime
        self._prober = Prober(runtime, around)

    def frame(self, pod: Pod) -> StatusFrame:
        """What a status needs to know besides the pod."""
        now = self.around.clock.now().to_time()
        health = render_health(pod, self._keeper.claims, self.health, now) if pod.spec.resource_claims else {}
        return StatusFrame(now, self.place.host_ip, health)

    def tell(self, pod: Pod, type_: str, reason: str, message: str, *, container: ContainerPlan | None = None) -> None:
        """Tell people of something that happened to a pod, or to one of its containers."""
        about = refer(POD, pod)
        if container is not None:
            field = f"spec.{_PATHS.get(container.role, 'ephemeralContainers')}{{{container.name}}}"
            about = replace(about, field_path=field)
        self.around.events.tell(about, type_, reason, message)

    async def prepare(self, pod: Pod) -> Event:
        """Have the pod's devices made ready."""
        chances = self._keeper.chances
        try:
            await self._keeper.prepare(pod)
        except PreparationFailed as fault:
            text = f"Failed to prepare dynamic resources: prepare dynamic resources: {fault}"
            self.tell(pod, EventType.WARNING, "FailedPrepareDynamicResources", text)
            usual = self.around.prepare_retry_seconds
            return ClaimsEvent(ClaimsPhase.WANTED, self._later(self._pause(chances, usual)))
        return ClaimsEvent(ClaimsPhase.READY)

    async def release(self, pod: Pod) -> Event:
        """Give the sandbox up and have the devices taken back."""
        chances = self._keeper.chances
        try:
            await self._runtime.close_sandbox(pod)
            await self._keeper.release(pod.metadata.uid)
        except ReleaseFailed as fault:
            self.around.log.error("claims of pod are not released", pod=_title(pod), node=self.place.node, err=fault)
            return ClaimsEvent(ClaimsPhase.READY, self._later(self._pause(chances, _RELEASE_RETRY_SECONDS)))
        return ClaimsEvent(ClaimsPhase.RELEASED)

    def _pause(self, chances: int, usual: float) -> float:
        """How long to wait after a failure: not long if what may have been missing came before it was known."""
        return usual if self._keeper.chances == chances else _CHANCE_RETRY_SECONDS

    async def forget(self, pod: Pod) -> None:
        """Keep nothing of a pod that is gone."""
        await self._runtime.forget(pod)

    async def open_sandbox(self, pod: Pod) -> Event:
        """Make a place for the pod's containers."""
        try:
            return SandboxReady(await self._runtime.open_sandbox(pod))
        except CannotStart as fault:
            self.tell(pod, EventType.WARNING, "FailedCreatePodSandBox", f"Failed to create pod sandbox: {fault}")
            return SandboxReady(retry_at=self._later(_RELEASE_RETRY_SECONDS))

    async def start(
        self, pod: Pod, one: tuple[ContainerPlan, Run], pod_ips: tuple[str, ...], offer: Offer
    ) -> Event | None:
        """Start a container; tells of its start, and later of its end, through `offer`."""
        container, run = one
        try:
            order = await self._order(pod, container, run, pod_ips)
            ending = _Ending(container.name, offer, self._prober)
            found = await self._runtime.start(order, ending.report)
        except (CannotStart, ClaimMissing, ConfigurationMissing) as fault:
            reason = fault.reason if isinstance(fault, CannotStart) else "CreateContainerConfigError"
            self.tell(pod, EventType.WARNING, "Failed", f"Error: {fault}", container=container)
            return StartFailed(container.name, reason, str(fault), self.around.clock.now())
        self.tell(pod, EventType.NORMAL, "Started", "Container started", container=container)
        for note_reason, text in found.notes if run.restarts == 0 else ():
            self.tell(pod, EventType.NORMAL, note_reason, text, container=container)
        self._announce(pod, container, found, offer)
        ending.begin(found)
        await self._prober.run_start_hook(pod, container, found, offer)
        return None

    def _announce(self, pod: Pod, container: ContainerPlan, found: FoundContainer, offer: Offer) -> None:
        offer(Started(container.name, found.container_id, found.started_at))
        if self._runtime.can_probe:
            self._prober.begin(pod, container, found, offer)
            return
        for kind in (ProbeKind.STARTUP, ProbeKind.READINESS):
            offer(Probed(container.name, kind, is_good=True, container_id=found.container_id))

    async def _order(self, pod: Pod, container: ContainerPlan, run: Run, pod_ips: tuple[str, ...]) -> ContainerOrder:
        spec = container.spec
        granted: list[GrantedDevice] = []
        if isinstance(spec, Container) and (
            pod.spec.resource_claims or pod.status.extended_resource_claim_status is not None
        ):
            granted = find_granted_devices(pod, spec, self._keeper.claims)
        sources = await find_configuration(self.around.client, pod.metadata.namespace, spec)
        env = render_env(pod, spec, sources, self.place.host_ip, pod_ips)
        return ContainerOrder(
            pod=pod,
            name=spec.name,
            attempt=run.restarts,
            words=tuple(expand(word, env) for word in (*spec.command, *spec.args)),
            working_dir=spec.working_dir,
            env=env,
            mounts=tuple(_list_mounts(pod.spec, container)),
            cdi_ids=find_cdi_ids(granted),
            stop_signal=(spec.lifecycle.stop_signal or "") if spec.lifecycle is not None else "",
        )

    async def stop(self, pod: Pod, one: tuple[ContainerPlan, Run], grace_seconds: float) -> Event | None:
        """Have a container end; that it did is told by whoever started it."""
        container, run = one
        if run.is_condemned:
            text = f"Container {container.name} failed liveness probe, will be restarted"
        else:
            text = f"Stopping container {container.name}"
        self.tell(pod, EventType.NORMAL, "Killing", text, container=container)
        self._prober.end(run.container_id)
        begun = self.around.clock.monotonic()
        await self._prober.run_stop_hook(pod, container, run.container_id, grace_seconds)
        left = grace_seconds - (self.around.clock.monotonic() - begun)
        await self._runtime.stop(run.container_id, max(0.0, left))
        return None

    async def take_up(self, pod: Pod, containers: Mapping[str, ContainerPlan], offer: Offer) -> list[FoundContainer]:
        """Find what runs of a pod from before the agent's time, and follow it as if it had been started now."""
        found_by_name: dict[str, _Ending] = {name: _Ending(name, offer, self._prober) for name in containers}
        found = await self._runtime.find_running(pod, lambda name, end: found_by_name[name].report(end))
        for each in found:
            if each.name in containers:
                self._announce(pod, containers[each.name], each, offer)
                found_by_name[each.name].begin(each)
        return list(found)

    def _later(self, seconds: float) -> MicroTime:
        return self.around.clock.now().plus_seconds(self.around.entropy.jitter(seconds, _RETRY_SPREAD))


class _Ending:
    """Tells of the end of a container after its start was told, also where it ended first."""

    def __init__(self, name: str, offer: Offer, prober: Prober) -> None:
        self._name = name
        self._offer = offer
        self._prober = prober
        self._found: FoundContainer | None = None
        self._end: ContainerEnd | None = None

    def begin(self, found: FoundContainer) -> None:
        """The start has been told."""
        self._found = found
        if self._end is not None:
            self._tell(found, self._end)

    def report(self, end: ContainerEnd) -> None:
        """The container has ended."""
        self._end = end
        if self._found is not None:
            self._tell(self._found, end)

    def _tell(self, found: FoundContainer, end: ContainerEnd) -> None:
        self._prober.end(found.container_id)
        how = describe_exit(
            end.exit_code,
            found.started_at,
            end.finished_at,
            container_id=found.container_id,
            message=end.message,
        )
        self._offer(Exited(self._name, replace(how, signal=end.signal)))


def _list_mounts(spec: PodSpec, container: ContainerPlan) -> list[Mount]:
    """Where volumes of the pod appear, with the folder of the host for those that have one."""
    folders = {each.name: each.host_path.path for each in spec.volumes if each.host_path is not None}
    return [
        Mount(
            host_path=folders.get(each.name, f"volume {each.name}"),
            container_path=each.mount_path,
            options=("ro",) if each.read_only else (),
        )
        for each in container.spec.volume_mounts
    ]


def _title(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"

"""One pod on its node: the only owner of its state, from the moment it is seen until nothing is left of it.

Events come in, the core decides, actions go out as tasks whose results come back as events. A pod in which nothing
happens has no task. All changes that come together are one write of the pod's status.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec.structs import replace

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.meta import DeleteOptions, Preconditions
from dray.client.port import ObjectName, Unreachable
from dray.errors import ApiError, Conflict, NotFound
from dray.node.core.claims import PreparationFailed, find_claim_uses
from dray.node.core.desired import Action, Advance, Verb, advance, plan_retry
from dray.node.core.podplan import PodPlan, plan_pod
from dray.node.core.podstate import ClaimsEvent, ClaimsPhase, DeletionAsked, Event, PodState
from dray.node.core.status import render_status
from dray.node.core.transitions import fold
from dray.node.podwork import PodWork
from dray.node.timers import Timer

__all__ = ["PodTask"]

_SETTLE_SECONDS: Final = 0.05
"""How long a status waits for actions under way, so that what is quick is told in one write."""
_WRITE_RETRY_SECONDS: Final = 1.0


class PodTask:
    """See the module. `work` does what is decided; `finished` is called once nothing is left of the pod."""

    def __init__(self, pod: Pod, state: PodState, work: PodWork, finished: Callable[[str], None]) -> None:
        self.pod = pod
        self.state = state
        self._work = work
        self._around = work.around
        self._finished = finished
        self._plan: PodPlan = plan_pod(pod)
        self._inbox: list[Event] = []
        self._under_way = 0
        self._is_awake = False
        self._is_stale = True
        self._is_gone = False
        self._alarm: Timer | None = None
        self._settling: Timer | None = None

    @property
    def plan(self) -> PodPlan:
        """What the pod's spec means."""
        return self._plan

    @property
    def is_active(self) -> bool:
        """Whether the pod counts as running on the node."""
        return not self.state.is_done

    @property
    def claim_names(self) -> list[str]:
        """The claims that the pod needs, as far as they are known; none once it has them."""
        if self.state.claims not in (ClaimsPhase.WANTED, ClaimsPhase.PREPARING):
            return []
        try:
            return [each.claim_name for each in find_claim_uses(self.pod)]
        except PreparationFailed:
            return []

    def offer(self, event: Event) -> None:
        """Tell of something that happened to the pod."""
        self._inbox.append(event)
        self.wake()

    def retry_claims(self) -> None:
        """Try again now what drivers did not do, also where that is not decided on yet."""
        self._inbox = [replace(each, retry_at=None) if isinstance(each, ClaimsEvent) else each for each in self._inbox]
        if self.state.claims in (ClaimsPhase.WANTED, ClaimsPhase.READY) and self.state.claims_retry_at is not None:
            self.offer(ClaimsEvent(self.state.claims))

    def observe(self, pod: Pod) -> None:
        """Take the pod as the API server has it now. What is older than what is known already is passed over."""
        if _is_older(pod, self.pod):
            return
        self.pod = pod
        if pod.spec.ephemeral_containers != () and len(self._plan.containers) != _count(pod):
            self._plan = plan_pod(pod)
        if pod.status.extended_resource_claim_status is not None and not self._plan.has_claims:
            self._plan = plan_pod(pod)
        self._note_deletion(pod)
        self.wake()

    def observe_gone(self) -> None:
        """The pod was taken out of the API server, perhaps by force: whatever still runs is ended at once."""
        self._is_gone = True
        self.offer(DeletionAsked(self._around.clock.now()))

    def wake(self) -> None:
        """Decide again soon."""
        self._is_stale = True
        if not self._is_awake:
            self._is_awake = True
            self._around.begin(self._run(), f"pod {self._title}")

    def _note_deletion(self, pod: Pod) -> None:
        meta = pod.metadata
        if meta.deletion_timestamp is None:
            return
        kill_at = meta.deletion_timestamp.to_micro_time()
        if not self.state.is_deleted or (self.state.kill_at is not None and kill_at < self.state.kill_at):
            self._inbox.append(DeletionAsked(kill_at))

    async def _run(self) -> None:
        try:
            while self._is_stale:
                self._is_stale = False
                self._step()
                if self._under_way and self._is_unsettled():
                    continue
                await self._report()
        finally:
            self._is_awake = False

    def _step(self) -> None:
        """Fold what came in, decide, and start what was decided."""
        inbox, self._inbox = self._inbox, []
        for event in inbox:
            self.state = fold(self._plan, self.state, event)
        decision: Advance = advance(self._plan, self.state, self._around.clock.now())
        self.state = decision.state
        for action in decision.actions:
            self._begin(action)
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if decision.wake_at is not None:
            seconds = decision.wake_at.seconds_since(self._around.clock.now())
            self._alarm = self._around.timers.set(seconds, self.wake)

    def _begin(self, action: Action) -> None:
        self._under_way += 1
        title = f"{action.verb.name.lower()} {action.container} of {self.pod.metadata.name}"
        self._around.begin(self._perform(action, self._choose(action)), title)

    def _choose(self, action: Action) -> Callable[[], Awaitable[Event | None]]:
        """What an action is to do, with the pod and the state that it was decided for."""
        work, pod, container = self._work, self.pod, action.container
        if action.verb is Verb.PREPARE:
            return lambda: work.prepare(pod)
        if action.verb is Verb.OPEN_SANDBOX:
            return lambda: work.open_sandbox(pod)
        if action.verb is Verb.RELEASE:
            return lambda: work.release(pod)
        one, pod_ips = (self._plan.get(container), self.state.run(container)), self.state.pod_ips
        if action.verb is Verb.START:
            return lambda: work.start(pod, one, pod_ips, self.offer)
        return lambda: work.stop(pod, one, action.grace_seconds)

    async def _perform(self, action: Action, act: Callable[[], Awaitable[Event | None]]) -> None:
        try:
            event = await act()
        except Exception as fault:  # whatever breaks in one pod must not end the others, nor the node
            text = f"{type(fault).__name__}: {fault}"
            self._around.log.error("action broke off", pod=self._title, action=action.verb.name.lower(), err=text)
            event = plan_retry(action, text, self._around.clock.now())
        finally:
            self._under_way -= 1
        if event is not None:
            self.offer(event)
        elif not self._under_way:
            self.wake()

    def _is_unsettled(self) -> bool:
        """Whether the status can wait a little for what is under way. It waits once, not for ever."""
        if self._settling is None:
            self._settling = self._around.timers.set(_SETTLE_SECONDS, self.wake)
        return self._settling.is_set

    async def _report(self) -> None:
        """Bring the API server up to date; when all is over, take the pod out of it."""
        if self._settling is not None:
            self._settling.cancel()
            self._settling = None
        if not self._is_gone and not await self._write_status():
            self._around.timers.set(_WRITE_RETRY_SECONDS, self.wake)
            return
        if not self.state.is_done or self._inbox:
            return
        if self._is_gone:
            await self._work.forget(self.pod)
            self._finished(self.pod.metadata.uid)
        elif self.pod.metadata.deletion_timestamp is not None:
            await self._delete()

    async def _write_status(self) -> bool:
        """Write the status if it has changed. False where the server has to be tried again."""
        while not self._is_gone:
            frame = self._work.frame(self.pod)
            status = render_status(self.pod, self._plan, self.state, frame)
            if status == self.pod.status:
                return True
            try:
                self.pod = await self._around.client.update(POD, replace(self.pod, status=status), subresource="status")
            except Conflict:
                if not await self._refresh():
                    return False
            except NotFound:
                self._is_gone = True
            except (ApiError, Unreachable) as fault:
                self._around.log.error("status of pod is not written", pod=self._title, err=fault)
                return False
        return True

    async def _refresh(self) -> bool:
        """Read the pod again. False where the server has to be tried again."""
        meta = self.pod.metadata
        try:
            pod = await self._around.client.get(POD, ObjectName(meta.name, meta.namespace))
        except NotFound:
            self._is_gone = True
            return True
        except (ApiError, Unreachable) as fault:
            self._around.log.error("pod is not readable", pod=self._title, err=fault)
            return False
        if pod.metadata.uid != meta.uid:
            self._is_gone = True
            return True
        self.pod = pod
        self._note_deletion(pod)
        self._is_stale = self._is_stale or bool(self._inbox)
        return True

    async def _delete(self) -> None:
        meta = self.pod.metadata
        options = DeleteOptions(grace_period_seconds=0, preconditions=Preconditions(uid=meta.uid))
        try:
            await self._around.client.delete(POD, ObjectName(meta.name, meta.namespace), options)
        except (NotFound, Conflict):
            return
        except (ApiError, Unreachable) as fault:
            self._around.log.error("pod is not deleted", pod=self._title, err=fault)
            self._around.timers.set(_WRITE_RETRY_SECONDS, self.wake)

    @property
    def _title(self) -> str:
        return f"{self.pod.metadata.namespace}/{self.pod.metadata.name}"


def _count(pod: Pod) -> int:
    return len(pod.spec.init_containers) + len(pod.spec.containers) + len(pod.spec.ephemeral_containers)


def _is_older(one: Pod, other: Pod) -> bool:
    """Whether a pod was read before another; versions that are no numbers say nothing."""
    versions = one.metadata.resource_version, other.metadata.resource_version
    return all(each.isdecimal() for each in versions) and int(versions[0]) < int(versions[1])

"""Eviction of pods from tainted devices, after the time that their allocations tolerate.

Every look at a pod decides anew, from the views alone, whether and when it has to go; only events and counters depend
on what was decided before. Nothing is deallocated here: devices are free again once the pod has ended.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.client.changes import Change
from dray.client.port import ObjectName
from dray.client.recording import EventType, refer
from dray.client.view import name_of
from dray.controllers.commons import Commons
from dray.controllers.evicting import Disruption, evict_pod
from dray.controllers.newestslices import PoolKey
from dray.controllers.ruleconditions import Progress
from dray.controllers.runtime import Controller
from dray.controllers.taintverdicts import AT_ONCE, Verdict
from dray.controllers.taintviews import TaintViews
from dray.controllers.writing import find_stored

__all__ = ["DeviceTaintEviction"]

_WORKERS: Final = 8
_MOST_REMEMBERED: Final = 500
"""Uids of pods that were made to go, as in Kubernetes, so that none counts twice."""
_REASON: Final = "DeviceTaintManagerEviction"
_DISRUPTION: Final = Disruption("DeletionByDeviceTaintManager", "Device Taint manager: deleting due to NoExecute taint")


class DeviceTaintEviction:
    """Makes pods go. `listen` tells of rules whose progress changed."""

    def __init__(self, commons: Commons, taints: TaintViews) -> None:
        self._client = commons.client
        self._clock = commons.effects.clock
        self._metrics = commons.metrics
        self._recorder = commons.get_recorder("device-taint-eviction")
        self._taints = taints
        self.controller: Controller[ObjectName] = Controller(
            "device taint eviction", self.reconcile, commons.effects, workers=_WORKERS
        )
        self.listen: Callable[[str], None] = lambda rule_uid: None
        self._scheduled: dict[ObjectName, tuple[str, Verdict]] = {}
        """Pods that have to go, by name, with their uid: what was told of them."""
        self._gone: OrderedDict[str, None] = OrderedDict()
        """Uids of pods that were made to go."""
        self._evicted: Counter[str] = Counter()
        """Pods that were made to go, by the uid of each rule that had a part in it."""
        commons.follow(POD).add_handler(self._note_pod)
        commons.follow(RESOURCE_CLAIM).add_handler(self._note_claim)
        commons.follow(RESOURCE_SLICE).add_handler(self._note_slice)

    def _note_pod(self, change: Change[Pod]) -> None:
        is_candidate = change.new is not None and change.new.spec.node_name and change.new.spec.resource_claims
        if (is_candidate and not self._taints.is_calm) or change.name in self._scheduled:
            self.controller.wake(change.name)

    def _note_claim(self, change: Change[ResourceClaim]) -> None:
        if not self._taints.is_calm or self._scheduled:
            self.wake_pods(self._taints.list_pods_of_claim(change.name))

    def _note_slice(self, change: Change[ResourceSlice]) -> None:
        pool = PoolKey(change.latest.spec.driver, change.latest.spec.pool.name)
        if self._taints.is_tainted(pool) or self._scheduled:
            self.wake_pods(self._taints.list_pods_of_pool(pool))

    def wake_pods(self, pods: Iterable[Pod]) -> None:
        """Look at pods again."""
        for pod in pods:
            if pod.spec.node_name:
                self.controller.wake(name_of(pod))

    def forget_rule(self, uid: str) -> None:
        """A rule is gone, and its count with it."""
        self._evicted.pop(uid, None)

    def get_progress(self, rule: DeviceTaintRule) -> Progress:
        """How far the eviction for a rule is."""
        uid = rule.metadata.uid
        waiting = [
            pod
            for pod in self._taints.list_pods_of_rule(rule).values()
            if self._is_open(pod) and (verdict := self._taints.judge(pod)) is not None and uid in verdict.rule_uids
        ]
        namespaces = {pod.metadata.namespace for pod in waiting}
        return Progress(len(waiting), len(namespaces), self._evicted[uid])

    def _is_open(self, pod: Pod) -> bool:
        """Whether it is still to be decided if a pod stays."""
        return pod.metadata.deletion_timestamp is None and pod.metadata.uid not in self._gone

    async def reconcile(self, name: ObjectName) -> float | None:
        """See whether a pod has to go, and make it. Returns when it is time if that is not now."""
        pod = self._taints.pods.find(name)
        verdict = self._taints.judge(pod) if pod is not None and self._is_open(pod) else None
        if pod is None or verdict is None:
            self._cancel(name, pod)
            return None
        before = self._scheduled.get(name)
        self._scheduled[name] = (pod.metadata.uid, verdict)
        if before is None or before[1].rule_uids != verdict.rule_uids:
            self._tell_rules(verdict.rule_uids | (before[1].rule_uids if before is not None else frozenset()))
        seconds = (verdict.due.to_micro_time().unix_microseconds - self._clock.now().unix_microseconds) / 1e6
        if seconds > 0:
            return seconds
        await self._evict(pod, verdict)
        return None

    def _cancel(self, name: ObjectName, pod: Pod | None) -> None:
        """A pod stays after all, or is gone."""
        before = self._scheduled.pop(name, None)
        if before is None:
            return
        uid, verdict = before
        self._tell_rules(verdict.rule_uids)
        if pod is not None and pod.metadata.uid == uid and self._is_open(pod):
            self._recorder.tell(refer(POD, pod), EventType.NORMAL, _REASON, "Cancelling deletion")

    async def _evict(self, pod: Pod, verdict: Verdict) -> None:
        stored = await find_stored(self._client, POD, name_of(pod))
        if stored is not None and stored.metadata.uid == pod.metadata.uid and self._is_open(stored):
            self._recorder.tell(refer(POD, stored), EventType.NORMAL, _REASON, "Marking for deletion")
            await evict_pod(self._client, stored, _DISRUPTION, self._clock.now().to_time())
            self._count(stored, verdict)
        self._scheduled.pop(name_of(pod), None)
        self._tell_rules(verdict.rule_uids)

    def _count(self, pod: Pod, verdict: Verdict) -> None:
        self._gone[pod.metadata.uid] = None
        if len(self._gone) > _MOST_REMEMBERED:
            self._gone.popitem(last=False)
        self._evicted.update(verdict.rule_uids)
        self._metrics.pod_deletions.inc()
        if verdict.due != AT_ONCE:
            late = self._clock.now().unix_microseconds - verdict.due.to_micro_time().unix_microseconds
            self._metrics.pod_deletion_seconds.observe(max(0.0, late / 1e6))

    def _tell_rules(self, uids: Iterable[str]) -> None:
        for uid in sorted(uids):
            self.listen(uid)

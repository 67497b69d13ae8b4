"""What the views say of tainted devices and of the pods that use them. Reads only."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from dray.allocator.taintrules import rule_selects
from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.resource.podclaims import find_choice, find_controller
from dray.api.resource.request import TaintEffect
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.api.scheduling.kinds import POD_GROUP
from dray.client.changes import Change
from dray.client.port import ObjectName
from dray.client.view import name_of
from dray.controllers.claimants import PODS_BY_CLAIM, find_group_name, index_pods_by_claim, path_of
from dray.controllers.commons import Commons
from dray.controllers.newestslices import PoolKey, choose_newest, index_slices_by_pool
from dray.controllers.ruleconditions import Forecast
from dray.controllers.taintverdicts import Verdict, judge_claim, list_taints, merge_verdicts

__all__ = ["TaintViews"]

_BY_POOL: Final = "by pool"


class TaintViews:
    """Pods, claims, slices and rules, and what follows from them. Owned by the eviction of one process."""

    def __init__(self, commons: Commons) -> None:
        pods, claims = commons.follow(POD), commons.follow(RESOURCE_CLAIM)
        slices, rules = commons.follow(RESOURCE_SLICE), commons.follow(DEVICE_TAINT_RULE)
        self.pods, self.claims, self.rules = pods.view, claims.view, rules.view
        self._slices = slices.view
        self._tainted: dict[ObjectName, PoolKey] = {}
        """Slices whose devices have taints that evict."""
        pods.view.add_index(PODS_BY_CLAIM, index_pods_by_claim)
        claims.view.add_index(_BY_POOL, _index_claims_by_pool)
        slices.view.add_index(_BY_POOL, index_slices_by_pool)
        slices.add_handler(self._note_slice)

    def _note_slice(self, change: Change[ResourceSlice]) -> None:
        source = change.new
        if source is not None and _evicts(source):
            self._tainted[change.name] = PoolKey(source.spec.driver, source.spec.pool.name)
        else:
            self._tainted.pop(change.name, None)

    @property
    def is_calm(self) -> bool:
        """Whether nothing is tainted, and no rule there that might change that."""
        return not self._tainted and not len(self.rules)

    def is_tainted(self, pool: PoolKey) -> bool:
        """Whether some slice of a pool, of whatever edition, has taints that evict."""
        return pool in self._tainted.values()

    def list_pods_of_pool(self, pool: PoolKey) -> Iterator[Pod]:
        """The pods that use devices of a pool; some may come twice."""
        for claim in self.claims.select_by(_BY_POOL, str(pool)):
            yield from self.list_pods_of_claim(name_of(claim))

    def list_pods_of_claim(self, name: ObjectName) -> Sequence[Pod]:
        """The pods that refer to a claim."""
        return self.pods.select_by(PODS_BY_CLAIM, path_of(name))

    def list_pods_of_rule(self, rule: DeviceTaintRule) -> dict[str, Pod]:
        """The pods that use a device which a rule selects, by uid."""
        claims = (claim for claim in self.claims if _list_selected(rule, claim))
        return {pod.metadata.uid: pod for claim in claims for pod in self.list_pods_of_claim(name_of(claim))}

    def judge(self, pod: Pod) -> Verdict | None:
        """Whether and when a pod has to go."""
        return self._judge_by(pod, self._judge_claim)

    def forecast(self, rule: DeviceTaintRule) -> Forecast:
        """What would follow if a rule had the effect NoExecute, and nothing else was tainted."""
        strict = _make_evicting(rule)
        published = {
            (source.spec.driver, source.spec.pool.name, device.name)
            for pool in self._slices.list_values(_BY_POOL)
            for source in choose_newest(self._slices.select_by(_BY_POOL, pool))
            for device in source.spec.devices or ()
            if rule_selects(rule, source.spec.driver, source.spec.pool.name, device.name)
        }
        allocated = {device for claim in self.claims for device in _list_selected(rule, claim)}
        leaving = [
            pod
            for pod in self.list_pods_of_rule(rule).values()
            if self._judge_by(pod, lambda claim: _judge_alone(claim, strict)) is not None
        ]
        namespaces = {pod.metadata.namespace for pod in leaving}
        return Forecast(len(published), len(allocated), len(leaving), len(namespaces))

    def _judge_by(self, pod: Pod, judge: Callable[[ResourceClaim], Verdict | None]) -> Verdict | None:
        if not pod.spec.node_name:
            return None
        claims = (self._find_used_claim(pod, entry) for entry in pod.spec.resource_claims)
        return merge_verdicts(judge(claim) for claim in claims if claim is not None)

    def _find_used_claim(self, pod: Pod, entry: PodResourceClaim) -> ResourceClaim | None:
        """The allocated claim behind an entry, if the pod may use it. Claims for extended resources do not count."""
        choice = find_choice(pod, entry)
        claim = self.claims.find(ObjectName(choice.name, pod.metadata.namespace)) if choice is not None else None
        if choice is None or claim is None or claim.status.allocation is None:
            return None
        if choice.is_generated and not _is_owned(claim, pod):
            return None
        return claim if _is_reserved(claim, pod) else None

    def _judge_claim(self, claim: ResourceClaim) -> Verdict | None:
        allocation = claim.status.allocation
        if allocation is None:
            return None
        pools = {PoolKey(result.driver, result.pool) for result in allocation.devices.results}
        newest = {pool: choose_newest(self._slices.select_by(_BY_POOL, str(pool))) for pool in pools}
        rules = list(self.rules)
        return judge_claim(
            claim,
            [
                (result, list_taints(result, newest[PoolKey(result.driver, result.pool)], rules))
                for result in allocation.devices.results
            ],
        )


def _judge_alone(claim: ResourceClaim, rule: DeviceTaintRule) -> Verdict | None:
    results = claim.status.allocation.devices.results if claim.status.allocation is not None else ()
    return judge_claim(claim, [(result, list_taints(result, (), (rule,))) for result in results])


def _list_selected(rule: DeviceTaintRule, claim: ResourceClaim) -> list[tuple[str, str, str]]:
    """The devices of a claim that a rule selects."""
    results = claim.status.allocation.devices.results if claim.status.allocation is not None else ()
    return [
        (each.driver, each.pool, each.device)
        for each in results
        if rule_selects(rule, each.driver, each.pool, each.device)
    ]


def _is_owned(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether a claim was made for a pod, or for its group."""
    owner, group = find_controller(claim.metadata), find_group_name(pod)
    if owner is None:
        return False
    return owner.uid == pod.metadata.uid or (
        group is not None and (owner.kind, owner.name) == (POD_GROUP.name, group.name)
    )


def _is_reserved(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether a claim is reserved for a pod, or for its group, of which pods know only the name."""
    group = find_group_name(pod)
    return any(
        each.uid == pod.metadata.uid
        or (group is not None and (each.api_group, each.resource, each.name) == (*_GROUPS, group.name))
        for each in claim.status.reserved_for
    )


_GROUPS: Final = (POD_GROUP.group, POD_GROUP.plural)


def _make_evicting(rule: DeviceTaintRule) -> DeviceTaintRule:
    return replace(rule, spec=replace(rule.spec, taint=replace(rule.spec.taint, effect=TaintEffect.NO_EXECUTE)))


def _evicts(source: ResourceSlice) -> bool:
    return any(
        taint.effect == TaintEffect.NO_EXECUTE for device in source.spec.devices or () for taint in device.taints
    )


def _index_claims_by_pool(claim: ResourceClaim) -> Iterable[str]:
    results = claim.status.allocation.devices.results if claim.status.allocation is not None else ()
    return {str(PoolKey(each.driver, each.pool)) for each in results}

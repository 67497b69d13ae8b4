"""The status of taint rules: first that a rule was seen, then how far its eviction is, at most every ten seconds.

Pods go only after the status was written once for the rule as it is now. A rule that only informs is told once what it
would do.
"""

from typing import Final

import msgspec

from dray.api.codec import encode_value
from dray.api.meta import Condition
from dray.api.resource.kinds import DEVICE_TAINT_RULE
from dray.api.resource.request import TaintEffect
from dray.api.resource.taintrule import DeviceTaintRule
from dray.client.changes import Change
from dray.client.overlay import Overlay
from dray.client.port import ObjectName, Patch, PatchType, WriteOptions
from dray.client.view import name_of
from dray.controllers.commons import Commons
from dray.controllers.devicetainteviction import DeviceTaintEviction
from dray.controllers.ruleconditions import describe_rule, find_condition
from dray.controllers.runtime import Controller
from dray.controllers.taintviews import TaintViews
from dray.errors import NotFound

__all__ = ["TaintRuleStatus"]

_MANAGER: Final = "device-taint-eviction-controller"
_SPACING_SECONDS: Final = 10.0
"""Between two looks at a rule that did not change: each counts pods, and most are followed by a write."""


class TaintRuleStatus:
    """Keeps the status of rules, and sends `eviction` after the pods of each."""

    def __init__(self, commons: Commons, taints: TaintViews, eviction: DeviceTaintEviction) -> None:
        self._client = commons.client
        self._clock = commons.effects.clock
        self._taints = taints
        self._eviction = eviction
        self.controller: Controller[ObjectName] = Controller("taint rule status", self.reconcile, commons.effects)
        rules = commons.follow(DEVICE_TAINT_RULE)
        self._rules = Overlay(rules)
        self._names: dict[str, ObjectName] = {}
        """Names of rules by uid."""
        self._looked: dict[ObjectName, float] = {}
        rules.add_handler(self._note_rule)
        eviction.listen = self._wake_by_uid

    def _note_rule(self, change: Change[DeviceTaintRule]) -> None:
        rule, old = change.new, change.old
        if old is not None and (rule is None or rule.metadata.uid != old.metadata.uid):
            self._names.pop(old.metadata.uid, None)
            self._looked.pop(change.name, None)
            self._eviction.forget_rule(old.metadata.uid)
        if rule is None:
            self._eviction.wake_pods(self._taints.list_pods_of_rule(change.latest).values())
            return
        self._names[rule.metadata.uid] = change.name
        if old is None or old.spec != rule.spec:
            self._looked.pop(change.name, None)
            self.controller.wake(change.name)
        if old is not None and old.spec.device_selector != rule.spec.device_selector:
            self._eviction.wake_pods(self._taints.list_pods_of_rule(old).values())

    def _wake_by_uid(self, uid: str) -> None:
        name = self._names.get(uid)
        if name is not None:
            self.controller.wake(name)

    async def reconcile(self, name: ObjectName) -> float | None:
        """Write what is news; returns when to look again."""
        rule = self._rules.find(name)
        if rule is None:
            return None
        told = find_condition(rule)
        is_fresh = told is not None and told.observed_generation == rule.metadata.generation
        if is_fresh and rule.spec.taint.effect == TaintEffect.NONE:
            return None
        looked, now = self._looked.get(name), self._clock.monotonic()
        if is_fresh and looked is not None and now < looked + _SPACING_SECONDS:
            return looked + _SPACING_SECONDS - now
        try:
            await self._report(rule, told)
            self._looked[name] = now
        finally:
            # A status that cannot be written must not keep a broken device in use.
            if looked is None:
                self._eviction.wake_pods(self._taints.list_pods_of_rule(rule).values())
        return None

    async def _report(self, rule: DeviceTaintRule, told: Condition | None) -> None:
        forecast = self._taints.forecast(rule) if rule.spec.taint.effect == TaintEffect.NONE else None
        wanted = describe_rule(rule, self._eviction.get_progress(rule), forecast)
        if told is not None and _is_same(told, wanted):
            return
        condition = msgspec.structs.replace(wanted, last_transition_time=self._clock.now().to_time())
        body = {
            "apiVersion": DEVICE_TAINT_RULE.api_version(DEVICE_TAINT_RULE.declared_version),
            "kind": DEVICE_TAINT_RULE.name,
            "metadata": {"name": rule.metadata.name, "uid": rule.metadata.uid},
            "status": {"conditions": [msgspec.Raw(encode_value(condition))]},
        }
        patch = Patch(PatchType.APPLY, msgspec.json.encode(body))
        options = WriteOptions(field_manager=_MANAGER, force=True)
        try:
            changed = await self._client.patch(DEVICE_TAINT_RULE, name_of(rule), patch, options, subresource="status")
        except NotFound:
            return
        self._rules.note(changed)


def _is_same(one: Condition, other: Condition) -> bool:
    """Whether two conditions say the same, whenever they said it."""
    return msgspec.structs.replace(one, last_transition_time=None) == msgspec.structs.replace(
        other, last_transition_time=None
    )

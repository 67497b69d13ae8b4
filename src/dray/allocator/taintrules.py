"""Taints that administrators put on devices by rule, laid over what drivers publish.

The slice as published is left alone: what the allocator is given is a copy with more taints. A rule without a selector
selects nothing, as the API says.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from dray.api.resource.device import Device, DeviceTaint
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule

__all__ = ["apply_taint_rules", "rule_selects"]


def rule_selects(rule: DeviceTaintRule, driver: str, pool: str, device: str) -> bool:
    """Whether the rule's taint is put on a device. Criteria that are not given match everything."""
    selector = rule.spec.device_selector
    if selector is None:
        return False
    wanted = ((selector.driver, driver), (selector.pool, pool), (selector.device, device))
    return all(criterion is None or criterion == name for criterion, name in wanted)


def apply_taint_rules(source: ResourceSlice, rules: Iterable[DeviceTaintRule]) -> ResourceSlice:
    """The slice with the taints of matching rules after its devices' own; the slice itself if no rule matches.

    Rules count in the order of their names, so that the result does not depend on the order in which they came.
    """
    spec = source.spec
    ordered = sorted(rules, key=lambda rule: rule.metadata.name)
    devices = spec.devices or ()
    tainted = tuple(_tainted(device, spec.driver, spec.pool.name, ordered) for device in devices)
    if all(after is before for after, before in zip(tainted, devices, strict=True)):
        return source
    return msgspec.structs.replace(source, spec=msgspec.structs.replace(spec, devices=tainted))


def _tainted(device: Device, driver: str, pool: str, rules: Iterable[DeviceTaintRule]) -> Device:
    added: tuple[DeviceTaint, ...] = tuple(
        rule.spec.taint for rule in rules if rule_selects(rule, driver, pool, device.name)
    )
    return msgspec.structs.replace(device, taints=device.taints + added) if added else device

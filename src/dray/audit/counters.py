"""Whether devices of one pool draw more on shared counters than there is, or do not go together on them."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Iterator

from dray.audit.pools import SeenPool
from dray.audit.violations import Violation, ViolationCode

__all__ = ["audit_counters", "audit_groups"]


def audit_counters(pool: SeenPool, in_use: Collection[str]) -> Iterator[Violation]:
    """Devices of the pool named in `in_use` draw at most what each counter holds. Each draws once."""
    drawn: Tally[tuple[str, str]] = Tally()
    for published in pool.devices:
        if published.device.name in in_use:
            for consumption in published.device.consumes_counters:
                for name, counter in consumption.counters.items():
                    drawn[consumption.counter_set, name] += counter.value.nanos
    for counter_set in pool.counter_sets:
        for name, counter in counter_set.counters.items():
            if drawn[counter_set.name, name] > counter.value.nanos:
                subject = f"pool {pool.key} counter {counter_set.name}/{name}"
                text = f"{drawn[counter_set.name, name]} billionths are drawn of {counter.value}"
                yield Violation(ViolationCode.COUNTERS_EXCEEDED, subject, text)


def audit_groups(pool: SeenPool, in_use: Collection[str], counter_sets: Collection[str]) -> Iterator[Violation]:
    """Devices that draw on one of the counter sets have a compatibility group in common, or none names any."""
    for name in sorted(counter_sets):
        groups = [
            frozenset(consumption.compatibility_groups)
            for published in pool.devices
            if published.device.name in in_use
            for consumption in published.device.consumes_counters
            if consumption.counter_set == name
        ]
        if any(groups) and not frozenset.intersection(*groups):
            text = f"devices in use name the groups {sorted(map(sorted, groups))}"
            yield Violation(ViolationCode.GROUPS_INCOMPATIBLE, f"pool {pool.key} counter set {name}", text)

"""Charging a write to the quotas of its namespace, and counting anew what a quota has in use.

Admission charges against what the status says is in use; a controller counts deletions and everything else that
admission does not see. Both take the same measure of an object, so that they agree.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from msgspec.structs import replace

from dray.api.core.resourcequota import ResourceQuota, ResourceQuotaStatus, ScopedResourceSelectorRequirement
from dray.api.meta import ApiObject
from dray.api.quotas.meter import Amounts, Meter, Surroundings
from dray.api.quotas.meters import METERS
from dray.values.quantity import ZERO, Quantity

__all__ = ["ChargedWrite", "QuotaRefusal", "add_charges", "charge_quotas", "measure_growth", "recount"]

K = TypeVar("K", bound=ApiObject)

_UNSERVED: Final = frozenset({"persistentvolumeclaims", "replicationcontrollers", "requests.storage"})
"""Quotas of kinds that are not served: nothing of them is ever in use."""


class QuotaRefusal(Exception):
    """The write goes beyond a quota, or cannot be held against it; the message is Kubernetes'."""


@dataclass(frozen=True, slots=True)
class ChargedWrite(Generic[K]):
    """An object to be stored, and what it replaces."""

    meter: Meter[K]
    new: K
    old: K | None = None


def charge_quotas(
    write: ChargedWrite[Any], quotas: Iterable[ResourceQuota], surroundings: Surroundings
) -> tuple[ResourceQuota, ...]:
    """The quotas whose use grows by this write, each with its new status. Raises QuotaRefusal if one is too small."""
    counting = [quota for quota in quotas if _counts(quota, write.meter, write.new)]
    for quota in counting:
        _check_measurable(quota, write)
    if not counting:
        return ()
    growth = measure_growth(write, surroundings)
    charged = (_charge(quota, growth) for quota in counting)
    return tuple(quota for quota in charged if quota is not None)


def measure_growth(write: ChargedWrite[Any], surroundings: Surroundings) -> Amounts:
    """What the write adds: all of a new object, of a changed one only what grew. Nothing in it is zero or less."""
    after = write.meter.measure(write.new, surroundings)
    before = write.meter.measure(write.old, surroundings) if write.old is not None else {}
    growth = {name: amount - before.get(name, ZERO) for name, amount in after.items()}
    return {name: amount for name, amount in growth.items() if amount.sign > 0}


def add_charges(used: Amounts, growth: Amounts, hard: Amounts) -> Amounts:
    """What is in use afterwards, under the names that are limited."""
    added = {name: used.get(name, ZERO) + amount for name, amount in growth.items() if name in hard}
    return {**used, **added}


def recount(quota: ResourceQuota, surroundings: Surroundings) -> ResourceQuotaStatus:
    """The status the quota should have: its limits, and what the objects of its namespace use."""
    hard = quota.spec.hard
    used = {name: amount for name, amount in quota.status.used.items() if name in hard}
    used |= {name: ZERO for name in hard if name in _UNSERVED}
    for name, amount in _sum_use(quota, surroundings):
        used[name] = amount
    return ResourceQuotaStatus(hard=hard, used={name: used[name] for name in hard if name in used})


def _sum_use(quota: ResourceQuota, surroundings: Surroundings) -> Iterator[tuple[str, Quantity]]:
    total: dict[str, Quantity] = {}
    conditions = list(_list_conditions(quota))
    for meter in METERS.values():
        names = [name for name in quota.spec.hard if meter.covers(name)]
        if not names:
            continue
        total |= {name: ZERO for name in names if name not in total}
        for thing in surroundings.objects.list(meter.kind, quota.metadata.namespace):
            if all(meter.is_in_scope(thing, condition) for condition in conditions):
                charged = meter.measure(thing, surroundings)
                total |= {name: total[name] + charged[name] for name in names if name in charged}
    yield from total.items()


def _list_conditions(quota: ResourceQuota) -> Iterator[ScopedResourceSelectorRequirement]:
    for scope in quota.spec.scopes:
        yield ScopedResourceSelectorRequirement(scope_name=scope, operator="Exists")
    if quota.spec.scope_selector is not None:
        yield from quota.spec.scope_selector.match_expressions


def _counts(quota: ResourceQuota, meter: Meter[K], thing: K) -> bool:
    """Whether the quota, by the limits that are in force, is about the object."""
    if not any(map(meter.covers, quota.status.hard)):
        return False
    return all(meter.is_in_scope(thing, condition) for condition in _list_conditions(quota))


def _check_measurable(quota: ResourceQuota, write: ChargedWrite[Any]) -> None:
    """Refuse an object that leaves open how much it needs, and a quota of which nobody has said what is in use."""
    names = [name for name in quota.status.hard if write.meter.covers(name)]
    gap = write.meter.find_gap(write.new, names)
    if gap is not None:
        raise QuotaRefusal(f"failed quota: {quota.metadata.name}: {gap}")
    if any(name not in quota.status.used for name in names):
        listed = ",".join(sorted(names))
        raise QuotaRefusal(f"status unknown for quota: {quota.metadata.name}, resources: {listed}")


def _charge(quota: ResourceQuota, growth: Amounts) -> ResourceQuota | None:
    """The quota with the growth in use; None if it is not about any of it."""
    hard, used = quota.status.hard, quota.status.used
    requested = {name: amount for name, amount in growth.items() if name in hard}
    if not requested:
        return None
    after = add_charges(used, requested, hard)
    exceeded = sorted(name for name in requested if after[name] > hard[name])
    if exceeded:
        parts = ", ".join(
            f"{word}: {_format_amounts(amounts, exceeded)}"
            for word, amounts in (("requested", requested), ("used", used), ("limited", hard))
        )
        raise QuotaRefusal(f"exceeded quota: {quota.metadata.name}, {parts}")
    return replace(quota, status=replace(quota.status, used=after))


def _format_amounts(amounts: Mapping[str, Quantity], names: Sequence[str]) -> str:
    return ",".join(f"{name}={amounts.get(name, ZERO)}" for name in names)

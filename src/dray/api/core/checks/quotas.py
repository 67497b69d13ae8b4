"""Resource quotas and limit ranges: amounts that can be, of resources that can be limited."""

from collections.abc import Iterator, Mapping

from dray.api.checks import CheckContext
from dray.api.core.checks.resources import amount_faults, container_resource_name_faults, resource_name_faults
from dray.api.core.limitrange import LimitRange, LimitRangeItem
from dray.api.core.resourcequota import SCOPES, ResourceQuota, ScopedResourceSelectorRequirement
from dray.errors import FieldError, duplicate, forbidden, invalid, required
from dray.values.fieldpath import SPEC, STATUS, FieldPath, key
from dray.values.names import label_key_faults
from dray.values.quantity import Quantity

__all__ = ["check_limit_range", "check_quota", "check_quota_status", "check_quota_update"]

_KNOWN_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_CONTRADICTIONS = (frozenset({"Terminating", "NotTerminating"}), frozenset({"BestEffort", "NotBestEffort"}))
_AMOUNTS = ("cpu", "memory", "ephemeral-storage")
_LIMITED = frozenset(
    {
        *(prefix + name for prefix in ("", "requests.", "limits.") for name in _AMOUNTS),
        *("requests.storage", "pods", "services", "services.nodeports", "services.loadbalancers", "configmaps"),
        *("secrets", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas"),
    }
)
_COUNTED_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity")


def check_quota(new: ResourceQuota, old: ResourceQuota | None, context: CheckContext) -> list[FieldError]:
    """Limits and scopes."""
    return [
        *_amounts_faults(new.spec.hard, SPEC / "hard"),
        *_scope_faults(new),
        *_amounts_faults(new.status.hard, STATUS / "hard"),
        *_amounts_faults(new.status.used, STATUS / "used"),
    ]


def check_quota_status(new: ResourceQuota, old: ResourceQuota | None, context: CheckContext) -> list[FieldError]:
    """Limits and use as counted."""
    hard = _amounts_faults(new.status.hard, STATUS / "hard")
    return [*hard, *_amounts_faults(new.status.used, STATUS / "used")]


def _amounts_faults(amounts: Mapping[str, Quantity], path: FieldPath) -> Iterator[FieldError]:
    for name, amount in amounts.items():
        at = path / key(name)
        yield from resource_name_faults(name, at)
        if "/" not in name and not _is_limited(name):
            yield invalid(at, name, "must be a standard resource for quota")
        yield from amount_faults(name, amount, at)


def _is_limited(name: str) -> bool:
    """Whether quotas know the resource: an amount that pods ask for, or a kind that is counted."""
    return name in _LIMITED or name.removeprefix("requests.").startswith("hugepages-")


def _scope_faults(quota: ResourceQuota) -> Iterator[FieldError]:
    path = SPEC / "scopes"
    scopes = set(quota.spec.scopes)
    for scope in quota.spec.scopes:
        if scope not in SCOPES:
            yield invalid(path, list(quota.spec.scopes), "unsupported scope")
    if "BestEffort" in scopes and any(_is_compute(name) for name in quota.spec.hard):
        yield invalid(path, list(quota.spec.scopes), "unsupported scope applied to resource")
    if any(pair <= scopes for pair in _CONTRADICTIONS):
        yield invalid(path, list(quota.spec.scopes), "conflicting scopes")
    selector = quota.spec.scope_selector
    for condition in selector.match_expressions if selector is not None else ():
        yield from _condition_faults(condition, SPEC / "scopeSelector" / "matchExpressions")


def _is_compute(name: str) -> bool:
    return name.removeprefix("requests.").removeprefix("limits.") in _AMOUNTS


def _condition_faults(condition: ScopedResourceSelectorRequirement, path: FieldPath) -> Iterator[FieldError]:
    if condition.scope_name not in SCOPES:
        yield invalid(path / "scopeName", condition.scope_name, "unsupported scope")
    if condition.scope_name in _COUNTED_SCOPES and condition.operator != "Exists":
        detail = (
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
            "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
            "ResourceQuotaScopeCrossNamespacePodAffinity"
        )
        yield invalid(path / "operator", condition.operator, detail, hint="use Exists")
    if condition.operator in ("In", "NotIn"):
        if not condition.values:
            detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            yield required(path / "values", detail)
    elif condition.operator in ("Exists", "DoesNotExist"):
        if condition.values:
            detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            yield invalid(path / "values", list(condition.values), detail)
    else:
        yield invalid(path / "operator", condition.operator, "not a valid selector operator")


def check_quota_update(new: ResourceQuota, old: ResourceQuota | None, context: CheckContext) -> list[FieldError]:
    """The scopes never change: what was counted would be wrong."""
    if old is None or set(new.spec.scopes) == set(old.spec.scopes):
        return []
    return [invalid(SPEC / "scopes", list(new.spec.scopes), "field is immutable")]


def check_limit_range(new: LimitRange, old: LimitRange | None, context: CheckContext) -> list[FieldError]:
    """One entry a sort of thing, and in each: min, requests, limits, max in this order."""
    return list(_limit_range_faults(new))


def _limit_range_faults(limits: LimitRange) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, item in enumerate(limits.spec.limits):
        at = SPEC / "limits" / index
        if item.type not in _KNOWN_LIMIT_TYPES:
            details = label_key_faults(item.type)
            for detail in details:
                yield invalid(at / "type", item.type, detail)
            if not details and "/" not in item.type:
                yield invalid(at / "type", item.type, "must be a standard limit type or fully qualified")
        if item.type in seen:
            yield duplicate(at / "type", item.type)
        seen.add(item.type)
        yield from _item_faults(item, at)


def _item_faults(item: LimitRangeItem, path: FieldPath) -> Iterator[FieldError]:
    parts = {
        "max": item.max,
        "min": item.min,
        "default": item.default,
        "defaultRequest": item.default_request,
        "maxLimitRequestRatio": item.max_limit_request_ratio,
    }
    is_pod = item.type == "Pod"
    for part, amounts in parts.items():
        for name in amounts:
            at = path / part / key(name)
            rule = container_resource_name_faults if item.type == "Container" else resource_name_faults
            yield from rule(name, at)
    for part in ("default", "defaultRequest") if is_pod else ():
        if parts[part]:
            yield forbidden(path / part, f"may not be specified when `type` is '{item.type}'")
    if item.type == "PersistentVolumeClaim" and "storage" not in item.min and "storage" not in item.max:
        yield required(path / "limits", "either minimum or maximum storage value is required, but neither was provided")
    for name in sorted(item.max.keys() | item.min.keys() | item.default.keys() | item.default_request.keys()):
        yield from _order_faults(item, name, path)
    yield from _ratio_faults(item, path / "maxLimitRequestRatio")


def _order_faults(item: LimitRangeItem, name: str, path: FieldPath) -> Iterator[FieldError]:
    least, most = item.min.get(name), item.max.get(name)
    limit, request = item.default.get(name), item.default_request.get(name)
    for part, low, high, words in (
        ("min", least, most, "min value {} is greater than max value {}"),
        ("defaultRequest", least, request, "min value {} is greater than default request value {}"),
        ("defaultRequest", request, most, "default request value {} is greater than max value {}"),
        ("default", least, limit, "min value {} is greater than default value {}"),
        ("default", limit, most, "default value {} is greater than max value {}"),
        ("defaultRequest", request, limit, "default request value {} is greater than default limit value {}"),
    ):
        if low is not None and high is not None and low > high:
            shown = high if (part == "default") != (words.startswith("min value") and part != "min") else low
            yield invalid(path / part / key(name), str(shown), words.format(low, high))


def _ratio_faults(item: LimitRangeItem, path: FieldPath) -> Iterator[FieldError]:
    for name, ratio in item.max_limit_request_ratio.items():
        if ratio.milli_value() < 1000:
            yield invalid(path / key(name), str(ratio), f"ratio {ratio} is less than 1")
        least, most = item.min.get(name), item.max.get(name)
        if least is not None and most is not None and least.milli_value() > 0:
            widest = most.milli_value() / least.milli_value()
            if ratio.milli_value() / 1000 > widest:
                yield invalid(path / key(name), str(ratio), f"ratio {ratio} is greater than max/min = {widest:f}")

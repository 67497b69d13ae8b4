"""Settings of single plugins: what is wrong with them, and what they change in a profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from dray.allocator.policy import parse_policy
from dray.api.struct import ApiStruct
from dray.errors import FieldError, duplicate, forbidden, invalid, not_supported, required
from dray.scheduler.configfile import (
    DefaultPreemptionFile,
    DynamicResourcesFile,
    InterPodAffinityFile,
    NodeAffinityFile,
    NodeResourcesBalancedAllocationFile,
    NodeResourcesFitFile,
    PodTopologySpreadFile,
    RatioFile,
    ResourceEntry,
    VolumeBindingFile,
)
from dray.scheduler.core.profile import FitScore, FitStrategy, Profile, UtilizationPoint
from dray.scheduler.durations import parse_seconds
from dray.values.fieldpath import FieldPath

__all__ = ["READERS", "Args"]


class Args(NamedTuple):
    """How the settings of one plugin are read. `apply` is called for settings without a fault alone."""

    struct: type[ApiStruct]
    check: Callable[[Any, FieldPath], Iterable[FieldError]]
    apply: Callable[[Profile, Any], Profile]


def _check_fit(file: NodeResourcesFitFile, path: FieldPath) -> Iterator[FieldError]:
    strategy, at = file.scoring_strategy, path / "scoringStrategy"
    if strategy.type and strategy.type not in set(FitStrategy):
        yield not_supported(at / "type", strategy.type, sorted(FitStrategy))
    yield from _resource_faults(strategy.resources, at / "resources", most=100)
    ratio = strategy.requested_to_capacity_ratio
    if strategy.type == FitStrategy.REQUESTED_TO_CAPACITY_RATIO or ratio is not None:
        yield from _curve_faults(ratio or RatioFile(), at / "requestedToCapacityRatio" / "shape")
    for index, group in enumerate(file.ignored_resource_groups):
        if "/" in group:
            yield invalid(path / "ignoredResourceGroups" / index, group, "resource group name can't contain '/'")


def _resource_faults(resources: Iterable[ResourceEntry], path: FieldPath, *, most: int) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, each in enumerate(resources):
        if not each.name:
            yield required(path / index / "name")
        if each.name in seen:
            yield duplicate(path / index / "name", each.name)
        seen.add(each.name)
        if not 0 <= each.weight <= most:
            detail = f"must be from 1 to {most}" if most > 1 else "must be 1"
            yield invalid(path / index / "weight", each.weight, detail)


def _curve_faults(ratio: RatioFile, path: FieldPath) -> Iterator[FieldError]:
    if not ratio.shape:
        yield required(path, hint="give at least one point")
    last = -1
    for index, point in enumerate(ratio.shape):
        if not 0 <= point.utilization <= 100:
            yield invalid(path / index / "utilization", point.utilization, "must be from 0 to 100")
        elif point.utilization <= last:
            yield invalid(
                path / index / "utilization", point.utilization, "must be greater than that of the point before"
            )
        if not 0 <= point.score <= 10:
            yield invalid(path / index / "score", point.score, "must be from 0 to 10")
        last = max(last, point.utilization)


def _apply_fit(profile: Profile, file: NodeResourcesFitFile) -> Profile:
    strategy = file.scoring_strategy
    ratio = strategy.requested_to_capacity_ratio or RatioFile()
    default = FitScore()
    resources = tuple((each.name, each.weight or 1) for each in strategy.resources)
    return replace(
        profile,
        ignored_resources=frozenset(file.ignored_resources),
        ignored_resource_groups=frozenset(file.ignored_resource_groups),
        fit_score=FitScore(
            strategy=FitStrategy(strategy.type) if strategy.type else default.strategy,
            resources=resources or default.resources,
            curve=tuple(UtilizationPoint(each.utilization, each.score) for each in ratio.shape),
        ),
    )


def _check_balance(file: NodeResourcesBalancedAllocationFile, path: FieldPath) -> Iterator[FieldError]:
    return _resource_faults(file.resources, path / "resources", most=1)


def _apply_balance(profile: Profile, file: NodeResourcesBalancedAllocationFile) -> Profile:
    names = tuple(each.name for each in file.resources)
    return replace(profile, balanced_resources=names or profile.balanced_resources)


def _check_spread(file: PodTopologySpreadFile, path: FieldPath) -> Iterator[FieldError]:
    if file.defaulting_type not in ("", "System", "List"):
        yield not_supported(path / "defaultingType", file.defaulting_type, ["List", "System"])
    if file.default_constraints and file.defaulting_type == "System":
        detail = "when .defaultingType is System, must be empty"
        yield invalid(
            path / "defaultConstraints", len(file.default_constraints), detail, hint="set defaultingType: List"
        )
    for index, each in enumerate(file.default_constraints):
        at = path / "defaultConstraints" / index
        if each.max_skew <= 0:
            yield invalid(at / "maxSkew", each.max_skew, "must be greater than zero")
        if not each.topology_key:
            yield required(at / "topologyKey")
        if each.when_unsatisfiable not in ("DoNotSchedule", "ScheduleAnyway"):
            supported = ["DoNotSchedule", "ScheduleAnyway"]
            yield not_supported(at / "whenUnsatisfiable", each.when_unsatisfiable, supported)
        if each.label_selector is not None:
            detail = "constraint must not define a selector, as they deduced for each pod"
            yield forbidden(at / "labelSelector", detail)


def _apply_spread(profile: Profile, file: PodTopologySpreadFile) -> Profile:
    is_list = file.defaulting_type == "List" or bool(file.default_constraints)
    return replace(profile, default_constraints=file.default_constraints if is_list else None)


def _check_neighbours(file: InterPodAffinityFile, path: FieldPath) -> Iterator[FieldError]:
    weight = file.hard_pod_affinity_weight
    if weight is not None and not 0 <= weight <= 100:
        yield invalid(path / "hardPodAffinityWeight", weight, "not in valid range [0, 100]")


def _apply_neighbours(profile: Profile, file: InterPodAffinityFile) -> Profile:
    weight = file.hard_pod_affinity_weight
    return replace(
        profile,
        hard_pod_affinity_weight=profile.hard_pod_affinity_weight if weight is None else weight,
        is_blind_to_preferences_of_placed_pods=file.ignore_preferred_terms_of_existing_pods,
    )


def _check_affinity(file: NodeAffinityFile, path: FieldPath) -> Iterator[FieldError]:
    added = file.added_affinity
    wanted = None if added is None else added.required_during_scheduling_ignored_during_execution
    if wanted is not None and not wanted.node_selector_terms:
        at = path / "addedAffinity" / "requiredDuringSchedulingIgnoredDuringExecution" / "nodeSelectorTerms"
        yield required(at, hint="give at least one term")


def _apply_affinity(profile: Profile, file: NodeAffinityFile) -> Profile:
    return replace(profile, added_affinity=file.added_affinity)


def _check_preemption(file: DefaultPreemptionFile, path: FieldPath) -> Iterator[FieldError]:
    share, count = file.min_candidate_nodes_percentage, file.min_candidate_nodes_absolute
    if share is not None and not 0 <= share <= 100:
        yield invalid(path / "minCandidateNodesPercentage", share, "not in valid range [0, 100]")
    if count is not None and count < 0:
        yield invalid(path / "minCandidateNodesAbsolute", count, "not in valid range [0, inf)")
    if share == 0 and count == 0:
        detail = "cannot be zero at the same time as minCandidateNodesAbsolute"
        yield invalid(path / "minCandidateNodesPercentage", share, detail)


def _apply_preemption(profile: Profile, file: DefaultPreemptionFile) -> Profile:
    share, count = file.min_candidate_nodes_percentage, file.min_candidate_nodes_absolute
    return replace(
        profile,
        preemption_percentage=profile.preemption_percentage if share is None else share,
        preemption_candidates=profile.preemption_candidates if count is None else count,
    )


def _check_devices(file: DynamicResourcesFile, path: FieldPath) -> Iterator[FieldError]:
    for name, text, least in (
        ("filterTimeout", file.filter_timeout, 0.0),
        ("bindingTimeout", file.binding_timeout, 1.0),
    ):
        if text is None:
            continue
        try:
            seconds = parse_seconds(text)
        except ValueError as error:
            yield invalid(path / name, text, str(error))
            continue
        if seconds < least:
            yield invalid(path / name, text, f"must be at least {least:g}s")
    try:
        parse_policy(file.allocation_policy or "first-fit")
    except ValueError as error:
        yield invalid(path / "allocationPolicy", file.allocation_policy, str(error))


def _apply_devices(profile: Profile, file: DynamicResourcesFile) -> Profile:
    return replace(
        profile,
        filter_timeout_seconds=_seconds(file.filter_timeout, profile.filter_timeout_seconds),
        binding_timeout_seconds=_seconds(file.binding_timeout, profile.binding_timeout_seconds),
        allocation_policy=parse_policy(file.allocation_policy or "first-fit"),
    )


def _seconds(text: str | None, default: float) -> float:
    return default if text is None else parse_seconds(text)


def _nothing_wrong(file: ApiStruct, path: FieldPath) -> Iterable[FieldError]:
    return ()


READERS: Mapping[str, Args] = {
    "DefaultPreemption": Args(DefaultPreemptionFile, _check_preemption, _apply_preemption),
    "DynamicResources": Args(DynamicResourcesFile, _check_devices, _apply_devices),
    "InterPodAffinity": Args(InterPodAffinityFile, _check_neighbours, _apply_neighbours),
    "NodeAffinity": Args(NodeAffinityFile, _check_affinity, _apply_affinity),
    "NodeResourcesBalancedAllocation": Args(NodeResourcesBalancedAllocationFile, _check_balance, _apply_balance),
    "NodeResourcesFit": Args(NodeResourcesFitFile, _check_fit, _apply_fit),
    "PodTopologySpread": Args(PodTopologySpreadFile, _check_spread, _apply_spread),
    "VolumeBinding": Args(VolumeBindingFile, _nothing_wrong, lambda profile, _: profile),
}
"""The plugins that have settings."""

"""Where a group of pods may be put as a whole: sites, which are sets of nodes that have one value of a label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dray.allocator.bits import bits
from dray.api.core.pod import Pod
from dray.api.scheduling.podgroup import PodGroup
from dray.scheduler.core.kin import Kin
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.resources import footprint_of
from dray.scheduler.core.state import SchedulerState
from dray.scheduler.core.terms import Role, terms_of

__all__ = ["likely_sites", "required_sites"]

PLUGIN: Final = "TopologyPlacementGenerator"
_WHOLE: Final = 10**6
"""Uses of resources are compared in millionths."""


def required_sites(state: SchedulerState, group: PodGroup, pods: Sequence[Pod]) -> list[int] | None:
    """The sites of which the group must take one, the best first. None if it may be anywhere.

    Pods of the group that are on nodes already leave only sites with all of these nodes. Of the others that is best
    which the group fills most, as Kubernetes has it, so that large ones stay free for large groups.
    """
    constraints = group.spec.scheduling_constraints
    if constraints is None or not constraints.topology or not _profile(state, pods).has(PLUGIN):
        return None
    sites = [state.snapshot.present]
    for each in constraints.topology:
        masks = state.world.indexes.domains.masks(each.key).values()
        sites = [site & mask for site in sites for mask in masks if site & mask]
    held = _nodes_held(state, group)
    return _by_use(state, [site for site in sites if not held & ~site], pods)


def likely_sites(state: SchedulerState, pods: Iterable[Pod]) -> list[int]:
    """The sites on which pods that must be near to each other can be.

    The first of them may go anywhere, and thereby decides for the others.
    """
    labels_of = state.snapshot.namespace_labels
    keys: dict[str, None] = {}
    for pod in pods:
        kin = Kin(pod)
        for term in terms_of(pod):
            if term.role is Role.NEEDS and term.peers.include(kin, labels_of):
                keys[term.topology_key] = None
    domains = state.world.indexes.domains
    return sorted((mask for key in keys for mask in domains.masks(key).values()), key=_first)


def _profile(state: SchedulerState, pods: Sequence[Pod]) -> Profile:
    return state.profiles[pods[0].spec.scheduler_name]


def _nodes_held(state: SchedulerState, group: PodGroup) -> int:
    """The nodes on which pods of the group are."""
    found = 0
    for uid in state.members.get((group.metadata.namespace, group.metadata.name), {}):
        placed = state.snapshot.find_pod(uid)
        number = None if placed is None else state.snapshot.find_number(placed.spec.node_name)
        found |= 0 if number is None else 1 << number
    return found


def _by_use(state: SchedulerState, sites: list[int], pods: Sequence[Pod]) -> list[int]:
    counted = _profile(state, pods).fit_score.resources
    wanted: dict[str, int] = {}
    for pod in pods:
        for name, amount in footprint_of(pod).requests.items():
            wanted[name] = wanted.get(name, 0) + amount

    def use(site: int) -> int:
        return sum(weight * _share(state, site, name, wanted) for name, weight in counted)

    return sorted(sites, key=lambda site: (-use(site), _first(site)))


def _share(state: SchedulerState, site: int, resource: str, wanted: dict[str, int]) -> int:
    """How much of a resource would be in use with the group there, in millionths."""
    nodes = [state.snapshot.node(number) for number in bits(site)]
    whole = sum(node.allocatable.get(resource, 0) for node in nodes)
    taken = sum(node.requested.get(resource, 0) for node in nodes) + wanted.get(resource, 0)
    return min(taken, whole) * _WHOLE // whole if whole else 0


def _first(site: int) -> int:
    """Orders sites by their first node."""
    return site & -site

"""Trying where the pods of a group fit together: on one site after the other, in one order after the other.

Every member sees those before it. A trial counts as if it were decided as long as it stands; one that is taken back has
changed nothing, so it wakes nobody either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from dray.allocator.ids import PoolId
from dray.scheduler.core.attempting import assume, find_likeness, make_attempt, withdraw
from dray.scheduler.core.decide import Attempt, Chosen, Erred, Refused, decide_pod
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.orders import Bind
from dray.scheduler.core.queue import Entry
from dray.scheduler.core.sites import likely_sites
from dray.scheduler.core.state import SchedulerState
from dray.scheduler.core.stir import Stir

__all__ = ["GroupTrial", "GroupTrials"]

_MOST_ORDERS: Final = 8
"""Orders in which the members are tried on one site. Who was refused comes first in the next."""


class _Before(NamedTuple):
    """What is put back with a trial, besides what it placed."""

    stir: Stir
    freed: frozenset[PoolId]
    version: int


@dataclass(slots=True)
class GroupTrial:
    """How the members fared. What was `placed` is decided while the trial `stands`; otherwise nothing came of it.

    `nodes` is the site, None for all nodes.
    """

    nodes: int | None
    order: tuple[str, ...]
    before: _Before
    placed: dict[str, Bind] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)
    error: str = ""
    stands: bool = True
    fits: bool = False
    """Whether enough of them fit, even if it does not stand any more."""

    @property
    def untried(self) -> int:
        """Members that were not looked at any more, as too few were left."""
        return len(self.order) - len(self.placed) - len(self.refused)


class GroupTrials:
    """Tries the members of an entry, of which at least `needed` have to fit."""

    def __init__(self, state: SchedulerState, entry: Entry, needed: int, now: Moment) -> None:
        self._state = state
        self._entry = entry
        self._needed = max(needed, 1)
        self._now = now
        self._siblings = frozenset(entry.pods)
        self._refused_by: set[str] = set()

    @property
    def refused_by(self) -> frozenset[str]:
        """The plugins that refused some member on some node."""
        return frozenset(self._refused_by)

    def anywhere(self) -> GroupTrial:
        """Try all nodes; where pods that must be near to each other went astray, every site that they can share."""
        first = self._try_site(None)
        if first.stands or not any("InterPodAffinity" in each.plugins for each in first.refused.values()):
            return first
        for site in self._hopeful(likely_sites(self._state, self._entry.pods.values())):
            trial = self._try_site(site)
            if trial.stands:
                return trial
        return first

    def on_sites(self, sites: Sequence[int]) -> GroupTrial | None:
        """Try one site after the other: the first that takes all, or else most. If none takes enough, the first tells.

        None if there are no sites.
        """
        first = best = None
        for site in self._hopeful(sites) or sites[:1]:
            trial = self._try_site(site)
            if trial.error or (trial.stands and not trial.refused):
                return trial
            first = first or trial
            if trial.stands:
                self._take_back(trial)
                if best is None or len(trial.placed) > len(best.placed):
                    best = trial
        return first if best is None else self._try_order(best.nodes, best.order)

    def survey(self, sites: Sequence[int] | None) -> list[GroupTrial]:
        """How they fare on each site, or anywhere if there are none to keep to. Nothing of it counts afterwards."""
        trials: list[GroupTrial] = []
        for site in (None,) if sites is None else sites:
            trial = self.anywhere() if site is None else self._try_site(site)
            if trial.stands:
                self._take_back(trial)
            trials.append(trial)
        return trials

    def _hopeful(self, sites: Iterable[int]) -> list[int]:
        """The sites with a node for some member, as far as it is alone."""
        nodes = 0
        seen: set[object] = set()
        for pod in self._entry.pods.values():
            likeness = find_likeness(self._state, pod)
            if likeness is None or likeness not in seen:
                seen.add(likeness)
                decision = decide_pod(pod, self._attempt(pod.metadata.uid, None))
                if isinstance(decision, Chosen):
                    nodes |= decision.feasible
                elif isinstance(decision, Refused):
                    self._refused_by |= decision.plugins
        return [site for site in sites if site & nodes]

    def _try_site(self, nodes: int | None) -> GroupTrial:
        """Try the members in their order; if too few fit, those first that did not, unless all are alike."""
        order = tuple(self._entry.pods)
        first = trial = self._try_order(nodes, order)
        orders = {order}
        while not trial.stands and not trial.error and len(orders) < _MOST_ORDERS and not self._are_alike():
            order = (*trial.refused, *(uid for uid in order if uid not in trial.refused))
            if order in orders:
                break
            orders.add(order)
            trial = self._try_order(nodes, order)
        return trial if trial.stands or trial.error else first

    def _are_alike(self) -> bool:
        likenesses = {find_likeness(self._state, pod) for pod in self._entry.pods.values()}
        return len(likenesses) == 1 and None not in likenesses

    def _try_order(self, nodes: int | None, order: tuple[str, ...]) -> GroupTrial:
        """Place one after the other, until too few are left to place as many as are needed. Then take all back."""
        state = self._state
        trial = GroupTrial(nodes, order, _Before(state.stir.copy(), frozenset(state.claims.freed), state.version))
        for uid in order:
            decision = decide_pod(self._entry.pods[uid], self._attempt(uid, nodes))
            if isinstance(decision, Erred):
                trial.error = decision.message
            elif isinstance(decision, Chosen):
                trial.placed[uid] = assume(state, self._entry, self._entry.pods[uid], decision, self._now)
            else:
                trial.refused[uid] = decision
                self._refused_by |= decision.plugins
            if trial.error or len(trial.placed) + trial.untried < self._needed:
                self._take_back(trial)
                break
        trial.fits = trial.stands
        return trial

    def _attempt(self, uid: str, nodes: int | None) -> Attempt:
        attempt = make_attempt(self._state, self._entry.pods[uid], self._now)
        return replace(attempt, siblings=self._siblings, nodes=nodes)

    def _take_back(self, trial: GroupTrial) -> None:
        """Undo, the latest first. What was free before helps nobody who waits."""
        state = self._state
        for uid in reversed(trial.placed):
            withdraw(state, uid)
        state.stir, state.version = trial.before.stir, trial.before.version
        state.claims.freed = set(trial.before.freed)
        trial.stands = False

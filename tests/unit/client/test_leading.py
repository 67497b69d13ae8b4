import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from dray.api.coordination.kinds import LEASE
from dray.api.coordination.lease import LeaseSpec
from dray.api.core.kinds import NAMESPACE
from dray.api.core.namespace import Namespace
from dray.api.meta import ObjectMeta
from dray.api.registry import AnyKind
from dray.client.leading import Candidacy, LeadershipLost, lead
from dray.client.port import Client, Unreachable
from dray.client.retrying import Pace
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from tests.unit.controllers.cluster import Cluster, Meddled

SYSTEM = "kube-system"


class Line(Meddled):
    """What a candidate reaches the server by; it can be cut."""

    def __init__(self, candidate: "Candidate") -> None:
        super().__init__(candidate.cluster)
        self._candidate = candidate

    def _begin(self, verb: str, kind: AnyKind, name: str = "", options: object = None) -> Client:
        if self._candidate.is_cut_off:
            raise Unreachable("no answer")
        return super()._begin(verb, kind, name, options)


class Candidate:
    """One process that wants to lead."""

    def __init__(self, cluster: Cluster, identity: str, *, is_released: bool = True) -> None:
        self.cluster = cluster
        self.is_cut_off = False
        self.is_working = False
        self.is_done = asyncio.Event()
        client = Line(self)
        candidacy = Candidacy(name="work", identity=identity, is_released=is_released)
        pace = Pace(cluster.clock, SeededEntropy(len(identity)))
        self.task = asyncio.create_task(lead(client, candidacy, pace, MemoryLog(), self.work))

    async def work(self) -> None:
        self.is_working = True
        try:
            await self.is_done.wait()
        finally:
            self.is_working = False

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def pass_time(cluster: Cluster, seconds: float, check: Callable[[], None] = lambda: None) -> None:
    for _ in range(int(seconds * 2)):
        await cluster.clock.advance(0.5)
        for _ in range(10):
            await asyncio.sleep(0)
        check()


@asynccontextmanager
async def served() -> AsyncIterator[Cluster]:
    cluster = Cluster()
    if cluster.find(NAMESPACE, SYSTEM) is None:
        cluster.put(NAMESPACE, NAMESPACE.prepare_create(Namespace(metadata=ObjectMeta(name=SYSTEM))))
    async with cluster.serving():
        yield cluster


def spec_of(cluster: Cluster) -> LeaseSpec:
    lease = cluster.find(LEASE, "work", SYSTEM)
    assert lease is not None
    return lease.spec


async def test_one_of_two_leads_and_renews() -> None:
    async with served() as cluster:
        first = Candidate(cluster, "first")
        await pass_time(cluster, 1)
        second = Candidate(cluster, "second")
        await pass_time(cluster, 60)
        assert (first.is_working, second.is_working) == (True, False)
        spec = spec_of(cluster)
        assert (spec.holder_identity, spec.lease_transitions, spec.lease_duration_seconds) == ("first", 0, 15)
        assert spec.renew_time is not None
        assert spec.acquire_time is not None
        assert spec.renew_time > spec.acquire_time
        await first.stop()
        await second.stop()


async def test_the_next_leads_at_once_where_the_last_ends_in_good_order() -> None:
    async with served() as cluster:
        first = Candidate(cluster, "first")
        await pass_time(cluster, 1)
        second = Candidate(cluster, "second")
        await pass_time(cluster, 1)
        await first.stop()
        assert spec_of(cluster).holder_identity == ""
        await pass_time(cluster, 5)
        assert second.is_working
        assert spec_of(cluster).lease_transitions == 1
        await second.stop()


async def test_the_next_waits_for_the_lease_to_run_out_where_the_last_just_ends() -> None:
    async with served() as cluster:
        first = Candidate(cluster, "first", is_released=False)
        await pass_time(cluster, 1)
        second = Candidate(cluster, "second")
        await pass_time(cluster, 5)
        await first.stop()
        await pass_time(cluster, 12)
        assert not second.is_working
        await pass_time(cluster, 10)
        assert second.is_working
        await second.stop()


async def test_a_leader_that_cannot_renew_stops_before_another_begins() -> None:
    async with served() as cluster:
        first = Candidate(cluster, "first")
        await pass_time(cluster, 1)
        second = Candidate(cluster, "second")
        await pass_time(cluster, 5)
        first.is_cut_off = True

        def never_both() -> None:
            assert not (first.is_working and second.is_working)

        await pass_time(cluster, 40, never_both)
        assert second.is_working
        with pytest.raises(LeadershipLost):
            await first.task
        await second.stop()


async def test_work_that_is_done_gives_the_lease_back() -> None:
    async with served() as cluster:
        only = Candidate(cluster, "only")
        await pass_time(cluster, 3)
        only.is_done.set()
        await only.task
        assert spec_of(cluster).holder_identity == ""


@pytest.mark.parametrize(("lease", "renew", "retry"), [(10, 10.0, 2.0), (15, 2.0, 2.0), (15, 10.0, 0.0)])
def test_durations_by_which_two_could_lead_are_refused(lease: int, renew: float, retry: float) -> None:
    with pytest.raises(ValueError, match="leaseDuration"):
        Candidacy(name="work", identity="x", lease_seconds=lease, renew_seconds=renew, retry_seconds=retry)

"""Laws of garbage collection: nothing goes while one of its owners lives, and nothing stays that has none."""

import asyncio
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from dray.api.core.configmap import ConfigMap
from dray.api.core.kinds import CONFIG_MAP
from dray.api.kind import Kind
from dray.api.meta import DeleteOptions, ObjectMeta, OwnerReference
from dray.client.port import ObjectName
from dray.controllers.ownership import FateKind, OwnerState, decide_fate
from dray.effects.clock import Clock, FakeClock
from dray.errors import Conflict, NotFound
from tests.unit.controllers.cluster import Cluster, K
from tests.unit.controllers.running import running


class Witness(Cluster):
    """A cluster that sees what controllers delete: their deletions hold for one state of an object."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.broken: list[str] = []

    async def delete(self, kind: Kind[K], name: ObjectName, options: DeleteOptions | None = None) -> K | None:
        wanted = options.preconditions if options is not None else None
        found = self.find(kind, name.name, name.namespace)
        if wanted is not None and found is not None and wanted.resource_version == found.metadata.resource_version:
            self.broken += [
                f"{name.name} of {each.name}" for each in found.metadata.owner_references if self.lives(each)
            ]
        return await super().delete(kind, name, options)

    def lives(self, owner: OwnerReference) -> bool:
        """Whether the owner is there, and does not wait for its dependents to go."""
        found = self.find(CONFIG_MAP, owner.name)
        if found is None or found.metadata.uid != owner.uid:
            return False
        meta = found.metadata
        return not (meta.deletion_timestamp is not None and "foregroundDeletion" in meta.finalizers)


@dataclass(frozen=True)
class Story:
    """Owners by child (a number not yet taken is an owner that never was), and what is deleted, in order and how."""

    owners: list[set[int]]
    blocks: list[bool]
    deletions: list[tuple[int, str]]
    conflicts: list[bool]


@st.composite
def stories(draw: st.DrawFn) -> Story:
    count = draw(st.integers(1, 7))
    owners = [draw(st.sets(st.integers(0, count + 1), max_size=2)) - {child} for child in range(count)]
    blocks = [draw(st.booleans()) for _ in range(count)]
    policy = st.sampled_from(["Background", "Foreground", "Orphan"])
    deletions = draw(st.lists(st.tuples(st.integers(0, count - 1), policy), max_size=4))
    return Story(owners, blocks, deletions, draw(st.lists(st.booleans(), max_size=20)))


def fill(cluster: Cluster, story: Story) -> None:
    for child, owners in enumerate(story.owners):
        references = tuple(
            OwnerReference(
                api_version="v1",
                kind="ConfigMap",
                name=f"o{owner}",
                uid=f"u{owner}",
                block_owner_deletion=story.blocks[child],
            )
            for owner in sorted(owners)
        )
        meta = ObjectMeta(name=f"o{child}", owner_references=references)
        cluster.put(CONFIG_MAP, ConfigMap(metadata=meta), uid=f"u{child}")


def lose_races(cluster: Cluster, conflicts: list[bool]) -> None:
    left = list(conflicts)

    def lose(verb: str) -> None:
        if verb in ("patch", "delete") and left and left.pop():
            raise Conflict("somebody was faster")

    cluster.before_call = lose


async def play(story: Story) -> None:
    clock = FakeClock()
    cluster = Witness(clock)
    fill(cluster, story)
    lose_races(cluster, story.conflicts)
    async with running(cluster, clock) as world:
        for number, policy in story.deletions:
            try:
                await cluster.delete(
                    CONFIG_MAP, ObjectName(f"o{number}", "ml"), DeleteOptions(propagation_policy=policy)
                )
            except (NotFound, Conflict):
                continue
        for _ in range(10):
            await world.pass_time(10)
    assert cluster.broken == []
    for name in cluster.names(CONFIG_MAP):
        thing = cluster.find(CONFIG_MAP, name)
        assert thing is not None
        owners = thing.metadata.owner_references
        assert thing.metadata.deletion_timestamp is None, f"{name} is held for ever"
        assert not owners or any(cluster.find(CONFIG_MAP, each.name) for each in owners), f"{name} has nobody"


@given(stories())
def test_nothing_goes_while_an_owner_lives_and_nothing_stays_without(story: Story) -> None:
    asyncio.run(play(story))


@given(st.lists(st.sampled_from(OwnerState), max_size=4), st.booleans(), st.booleans())
def test_a_fate_spares_what_has_a_living_owner(
    states: list[OwnerState],
    has_dependents: bool,
    is_going: bool,  # drawn
) -> None:
    references = tuple(OwnerReference(name=f"o{number}", uid=f"u{number}") for number in range(len(states)))
    meta = ObjectMeta(owner_references=references, deletion_timestamp=FakeClock.START.to_time() if is_going else None)
    by_uid = {f"u{number}": state for number, state in enumerate(states)}
    fate = decide_fate(meta, by_uid, has_dependents=has_dependents)
    if is_going or not states:
        assert fate.kind is FateKind.KEEP
    elif OwnerState.ALIVE in states:
        assert fate.kind is not FateKind.DELETE
        kept = references if fate.kind is FateKind.KEEP else fate.references
        assert [each for each in references if by_uid[each.uid] is OwnerState.ALIVE] == list(kept)
    else:
        assert fate.kind is FateKind.DELETE

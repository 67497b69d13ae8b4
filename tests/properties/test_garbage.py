"""Laws of garbage collection: nothing goes while one of its owners lives, and nothing stays that has none."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from dray.api.core.configmap import ConfigMap
from dray.api.core.kinds import CONFIG_MAP
from dray.api.meta import DeleteOptions, ObjectMeta, OwnerReference
from dray.client.port import ObjectName
from dray.controllers.ownership import FateKind, OwnerState, decide_fate
from dray.effects.clock import FakeClock
from dray.errors import Conflict, NotFound
from tests.unit.controllers.cluster import Call
from tests.unit.controllers.running import Cluster, running


class Witness:
    """Sees what controllers delete: their deletions hold for one state of an object. Has them lose some races."""

    def __init__(self, cluster: Cluster, conflicts: Sequence[bool]) -> None:
        self.broken: list[str] = []
        self._cluster = cluster
        self._conflicts = list(conflicts)

    def see(self, call: Call) -> None:
        if call.verb in ("patch", "delete") and self._conflicts and self._conflicts.pop():
            raise Conflict("somebody was faster")
        found = self._cluster.find(CONFIG_MAP, call.name) if call.kind is CONFIG_MAP else None
        if call.verb != "delete" or found is None:
            return
        assert isinstance(call.options, DeleteOptions)
        wanted = call.options.preconditions
        if wanted is not None and wanted.resource_version == found.metadata.resource_version:
            owners = found.metadata.owner_references
            self.broken += [f"{call.name} of {each.name}" for each in owners if self.lives(each)]

    def lives(self, owner: OwnerReference) -> bool:
        """Whether the owner is there, and does not wait for its dependents to go."""
        found = self._cluster.find(CONFIG_MAP, owner.name)
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


async def play(story: Story) -> None:
    cluster = Cluster()
    fill(cluster, story)
    witness = Witness(cluster, story.conflicts)
    cluster.before_call = witness.see
    async with running(cluster) as world:
        for number, policy in story.deletions:
            options = DeleteOptions(propagation_policy=policy)
            try:
                await world.client.delete(CONFIG_MAP, ObjectName(f"o{number}", "ml"), options)
            except NotFound:
                continue
        for _ in range(10):
            await world.pass_time(10)
        check_end(cluster)
    assert witness.broken == []


def check_end(cluster: Cluster) -> None:
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

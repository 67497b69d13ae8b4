import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from dray.api.core.configmap import ConfigMap
from dray.api.core.kinds import CONFIG_MAP, NODE, SECRET
from dray.api.core.node import Node
from dray.api.core.secret import Secret
from dray.api.meta import DeleteOptions, ObjectMeta, OwnerReference
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice
from dray.client.port import ObjectName
from tests.unit.controllers.running import Cluster, Running, running, working


def owned_by(*owners: str, blocks: bool = False, kind: str = "ConfigMap") -> tuple[OwnerReference, ...]:
    """References to owners `name`, whose uid is the same, or `name/uid`."""
    pairs = [(owner.partition("/")[0], owner.rpartition("/")[2]) for owner in owners]
    return tuple(
        OwnerReference(api_version="v1", kind=kind, name=name, uid=uid, block_owner_deletion=blocks)
        for name, uid in pairs
    )


def put(cluster: Cluster, name: str, *owners: str, blocks: bool = False, finalizers: tuple[str, ...] = ()) -> None:
    meta = ObjectMeta(name=name, owner_references=owned_by(*owners, blocks=blocks), finalizers=finalizers)
    cluster.put(CONFIG_MAP, ConfigMap(metadata=meta), uid=name)


def names(world: Running) -> list[str]:
    return [name for name in world.cluster.names(CONFIG_MAP) if name != "kube-root-ca.crt"]


async def delete(world: Running, name: str, policy: str) -> None:
    await world.client.delete(CONFIG_MAP, ObjectName(name, "ml"), DeleteOptions(propagation_policy=policy))
    await world.settle()


def play(prepare: Callable[[Cluster], None], act: Callable[[Running], Awaitable[None]]) -> None:
    async def scenario() -> None:
        cluster = Cluster()
        prepare(cluster)
        async with running(cluster) as world:
            await act(world)
            assert world.errors == []

    asyncio.run(scenario())


def family(cluster: Cluster) -> None:
    put(cluster, "owner")
    put(cluster, "child", "owner", blocks=True)
    put(cluster, "grandchild", "child", blocks=True)
    put(cluster, "stranger")


def test_descendants_go_after_their_owner_in_the_background() -> None:
    async def act(world: Running) -> None:
        assert names(world) == ["child", "grandchild", "owner", "stranger"]
        await delete(world, "owner", "Background")
        assert names(world) == ["stranger"]

    play(family, act)


def test_descendants_go_before_their_owner_in_the_foreground() -> None:
    async def act(world: Running) -> None:
        gone: list[str] = []
        world.cluster.before_call = lambda call: gone.extend(
            name for name in ("grandchild", "child", "owner") if name not in names(world) and name not in gone
        )
        await delete(world, "owner", "Foreground")
        assert names(world) == ["stranger"]
        assert gone == ["grandchild", "child", "owner"][: len(gone)]
        assert len(gone) >= 2

    play(family, act)


def test_children_stay_and_forget_their_owner_when_orphaned() -> None:
    async def act(world: Running) -> None:
        await delete(world, "owner", "Orphan")
        assert names(world) == ["child", "grandchild", "stranger"]
        child = world.cluster.find(CONFIG_MAP, "child")
        assert child is not None
        assert child.metadata.owner_references == ()
        grandchild = world.cluster.find(CONFIG_MAP, "grandchild")
        assert grandchild is not None
        assert grandchild.metadata.owner_references == owned_by("child", blocks=True)

    play(family, act)


def test_an_owner_waits_in_the_foreground_only_for_those_that_block_it() -> None:
    def prepare(cluster: Cluster) -> None:
        put(cluster, "owner")
        put(cluster, "blocker", "owner", blocks=True, finalizers=("example.com/x",))
        put(cluster, "other", "owner", finalizers=("example.com/x",))

    async def act(world: Running) -> None:
        await delete(world, "owner", "Foreground")
        assert names(world) == ["blocker", "other", "owner"]
        blocker = world.cluster.find(CONFIG_MAP, "blocker")
        assert blocker is not None
        assert blocker.metadata.deletion_timestamp is not None
        meta = replace(blocker.metadata, finalizers=())
        await world.client.update(CONFIG_MAP, replace(blocker, metadata=meta))
        await world.settle()
        assert names(world) == ["other"]

    play(prepare, act)


@pytest.mark.parametrize(
    ("owners", "want"),
    [
        (("never",), []),
        (("owner",), ["child", "owner"]),
        (("owner/another-uid",), ["owner"]),
        (("owner", "never"), ["child", "owner"]),
    ],
    ids=[
        "an owner that never was",
        "an owner that is there",
        "another object of that name",
        "one of two owners is there",
    ],
)
def test_a_child_lives_as_long_as_one_owner(owners: tuple[str, ...], want: list[str]) -> None:
    def prepare(cluster: Cluster) -> None:
        if want:
            put(cluster, "owner")
        put(cluster, "child", *owners)

    async def act(world: Running) -> None:
        assert names(world) == want
        child = world.cluster.find(CONFIG_MAP, "child")
        assert child is None or child.metadata.owner_references == owned_by("owner")

    play(prepare, act)


def test_an_owner_nobody_knows_the_kind_of_counts_as_alive() -> None:
    def prepare(cluster: Cluster) -> None:
        meta = ObjectMeta(name="child", owner_references=owned_by("d", kind="Deployment"))
        cluster.put(CONFIG_MAP, ConfigMap(metadata=meta))

    async def act(world: Running) -> None:
        assert names(world) == ["child"]

    play(prepare, act)


def test_slices_go_with_their_node_and_not_with_what_lives_in_a_namespace() -> None:
    def prepare(cluster: Cluster) -> None:
        cluster.put(NODE, Node(metadata=ObjectMeta(name="n1")), uid="n1")
        put(cluster, "owner")
        for name, owners in (("s1", owned_by("n1", kind="Node")), ("s2", owned_by("gone"))):
            cluster.put(RESOURCE_SLICE, ResourceSlice(metadata=ObjectMeta(name=name, owner_references=owners)))

    async def act(world: Running) -> None:
        assert world.cluster.names(RESOURCE_SLICE) == ["s1", "s2"]
        await world.client.delete(NODE, ObjectName("n1"))
        await world.settle()
        assert world.cluster.names(RESOURCE_SLICE) == ["s2"]

    play(prepare, act)


def test_an_owner_in_another_namespace_is_absent() -> None:
    def prepare(cluster: Cluster) -> None:
        put(cluster, "owner")
        meta = ObjectMeta(name="child", namespace="other", owner_references=owned_by("owner"))
        cluster.put(SECRET, Secret(metadata=meta))

    async def act(world: Running) -> None:
        assert world.cluster.names(SECRET) == []

    play(prepare, act)


@pytest.mark.parametrize("circle", ["a", "ab", "abc", "abcde"])
def test_a_circle_does_not_hold_itself(circle: str) -> None:
    def prepare(cluster: Cluster) -> None:
        for owner, child in zip(circle, circle[1:] + circle[0], strict=True):
            put(cluster, child, owner, blocks=True)

    async def act(world: Running) -> None:
        assert names(world) == list(circle)
        await delete(world, "a", "Foreground")
        assert names(world) == []

    play(prepare, act)


def test_what_was_left_behind_while_nobody_looked_is_collected_at_the_start() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        family(cluster)
        async with cluster.serving():
            await cluster.client.delete(CONFIG_MAP, ObjectName("owner", "ml"))
            async with working(cluster) as world:
                assert names(world) == ["stranger"]

    asyncio.run(scenario())

import pytest
from msgspec.structs import replace

from dray.api.coordination.kinds import LEASE
from dray.api.core.binding import Binding
from dray.api.core.kinds import BINDING, CONFIG_MAP, NODE, POD
from dray.api.core.node import Node
from dray.api.core.podstatus import PodStatus
from dray.api.core.references import ObjectReference
from dray.api.meta import DeleteOptions, ObjectMeta, Preconditions
from dray.client.port import Client, ListOptions, ObjectName, Patch, PatchType, WriteOptions
from dray.errors import AlreadyExists, Conflict, FieldReason, Invalid, NotFound
from tests.contract.client.objects import NAMESPACE, config_map, create_pod

A = ObjectName("a", NAMESPACE)
IN_NAMESPACE = ListOptions(namespace=NAMESPACE)


async def test_what_is_created_is_read_back(client: Client) -> None:
    made = await client.create(CONFIG_MAP, config_map("a", colour="red"))
    assert made.data == {"colour": "red"}
    assert made.metadata.uid
    assert made.metadata.resource_version
    assert made.metadata.creation_timestamp is not None
    assert (made.kind, made.api_version) == ("ConfigMap", "v1")
    assert await client.get(CONFIG_MAP, A) == made


async def test_names_are_made_from_a_prefix(client: Client) -> None:
    nameless = config_map("")
    made = await client.create(
        CONFIG_MAP, replace(nameless, metadata=replace(nameless.metadata, generate_name="made-"))
    )
    assert made.metadata.name.startswith("made-")
    assert len(made.metadata.name) == 10


async def test_nothing_is_created_twice(client: Client) -> None:
    await client.create(CONFIG_MAP, config_map("a"))
    with pytest.raises(AlreadyExists) as caught:
        await client.create(CONFIG_MAP, config_map("a"))
    assert caught.value.about.name == "a"
    assert str(caught.value) == 'configmaps "a" already exists'


async def test_what_is_not_there_is_not_found(client: Client) -> None:
    with pytest.raises(NotFound) as caught:
        await client.get(CONFIG_MAP, A)
    assert (caught.value.code, caught.value.reason) == (404, "NotFound")
    assert (caught.value.about.resource, caught.value.about.name) == ("configmaps", "a")


async def test_faults_point_at_their_fields(client: Client) -> None:
    with pytest.raises(Invalid) as caught:
        await client.create(CONFIG_MAP, config_map("Bad_Name"))
    (fault,) = caught.value.faults
    assert (str(fault.path), fault.reason, fault.value) == ("metadata.name", FieldReason.INVALID, '"Bad_Name"')
    assert caught.value.about.kind == "ConfigMap"


async def test_a_dry_run_stores_nothing(client: Client) -> None:
    made = await client.create(CONFIG_MAP, config_map("a"), WriteOptions(is_dry_run=True))
    assert made.metadata.uid
    with pytest.raises(NotFound):
        await client.get(CONFIG_MAP, A)


async def test_updates_replace(client: Client) -> None:
    made = await client.create(CONFIG_MAP, config_map("a", colour="red"))
    changed = await client.update(CONFIG_MAP, replace(made, data={"shape": "round"}))
    assert changed.data == {"shape": "round"}
    assert int(changed.metadata.resource_version) > int(made.metadata.resource_version)
    assert changed.metadata.uid == made.metadata.uid


async def test_updates_of_a_stale_copy_are_refused(client: Client) -> None:
    made = await client.create(CONFIG_MAP, config_map("a"))
    await client.update(CONFIG_MAP, replace(made, data={"n": "1"}))
    with pytest.raises(Conflict) as caught:
        await client.update(CONFIG_MAP, replace(made, data={"n": "2"}))
    assert not isinstance(caught.value, AlreadyExists)
    assert (await client.get(CONFIG_MAP, A)).data == {"n": "1"}


async def test_the_status_is_written_apart(client: Client) -> None:
    pod = await create_pod(client, "p")
    running = PodStatus(phase="Running")
    written = await client.update(POD, replace(pod, status=running), subresource="status")
    assert written.status.phase == "Running"
    unchanged = await client.update(POD, replace(written, status=PodStatus(phase="Failed")))
    assert unchanged.status.phase == "Running"


async def test_pods_are_bound(client: Client) -> None:
    await create_pod(client, "p")
    target = ObjectReference(kind="Node", name="node-a")
    binding = Binding(metadata=ObjectMeta(name="p", namespace=NAMESPACE), target=target)
    assert await client.create(BINDING, binding, subresource="binding") == binding
    assert (await client.get(POD, ObjectName("p", NAMESPACE))).spec.node_name == "node-a"


async def test_objects_of_the_cluster_have_no_namespace(client: Client) -> None:
    made = await client.create(NODE, Node(metadata=ObjectMeta(name="node-a")))
    assert await client.get(NODE, ObjectName("node-a")) == made
    assert await client.delete(NODE, ObjectName("node-a")) is None


async def test_merge_patches_change_a_part(client: Client) -> None:
    await client.create(CONFIG_MAP, config_map("a", colour="red", shape="round"))
    patch = Patch(PatchType.MERGE, b'{"data": {"colour": "blue", "shape": null}}')
    assert (await client.patch(CONFIG_MAP, A, patch)).data == {"colour": "blue"}
    with pytest.raises(NotFound):
        await client.patch(CONFIG_MAP, ObjectName("b", NAMESPACE), patch)


async def test_applying_creates_what_is_not_there(client: Client) -> None:
    text = b'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"colour": "%s"}}'
    for colour in (b"red", b"blue"):
        patch = Patch(PatchType.APPLY, text % colour)
        applied = await client.patch(CONFIG_MAP, A, patch, WriteOptions(field_manager="tester", force=True))
        assert applied.data == {"colour": colour.decode()}


async def test_applying_needs_no_version_where_updates_do(client: Client) -> None:
    text = (
        b'{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"},"spec":{"holderIdentity":"%s"}}'
    )
    for holder in (b"me", b"you"):
        lease = await client.patch(LEASE, A, Patch(PatchType.APPLY, text % holder), WriteOptions(field_manager="test"))
        assert lease.spec.holder_identity == holder.decode()
    merge = Patch(PatchType.MERGE, b'{"spec":{"holderIdentity":"them"}}')
    assert (await client.patch(LEASE, A, merge)).spec.holder_identity == "them"


async def test_what_is_deleted_is_gone(client: Client) -> None:
    await client.create(CONFIG_MAP, config_map("a"))
    assert await client.delete(CONFIG_MAP, A) is None
    with pytest.raises(NotFound):
        await client.delete(CONFIG_MAP, A)
    assert "a" not in [each.metadata.name for each in (await client.list(CONFIG_MAP, IN_NAMESPACE)).items]


async def test_finalizers_hold_an_object(client: Client) -> None:
    held = config_map("a")
    held = replace(held, metadata=replace(held.metadata, finalizers=("example.com/hold",)))
    await client.create(CONFIG_MAP, held)
    leaving = await client.delete(CONFIG_MAP, A)
    assert leaving is not None
    assert leaving.metadata.deletion_timestamp is not None
    await client.update(CONFIG_MAP, replace(leaving, metadata=replace(leaving.metadata, finalizers=())))
    with pytest.raises(NotFound):
        await client.get(CONFIG_MAP, A)


async def test_only_the_object_that_is_meant_is_deleted(client: Client) -> None:
    made = await client.create(CONFIG_MAP, config_map("a"))
    other = DeleteOptions(preconditions=Preconditions(uid="00000000-0000-4000-8000-ffffffffffff"))
    with pytest.raises(Conflict):
        await client.delete(CONFIG_MAP, A, other)
    await client.delete(CONFIG_MAP, A, DeleteOptions(preconditions=Preconditions(uid=made.metadata.uid)))

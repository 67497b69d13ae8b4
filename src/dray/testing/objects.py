"""What tests do with the objects of a cluster: apply, read, delete, and wait for what they become.

Objects come and go as the JSON that kubectl shows, in the version that the server prefers. Kinds are named as for
kubectl: `pod`, `pods`, `po`, `Pod`, or with
their group, `events.events.k8s.io`.
"""

import difflib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Final

import msgspec

from dray.api.codec import decode, encode
from dray.api.core.kinds import EVENT, POD
from dray.api.meta import ApiObject
from dray.api.registry import SERVED, AnyKind
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.yamltext import parse_yaml_documents
from dray.client.changes import ChangeQueue
from dray.client.port import Client, ListOptions, ObjectName, Patch, PatchType, WriteOptions
from dray.client.sharing import SharedInformers
from dray.errors import DrayError, NotFound
from dray.server.desk import Desk
from dray.server.endpoints import Target
from dray.server.podstreams import read_log

__all__ = [
    "Json",
    "UnknownKind",
    "apply_object",
    "delete_object",
    "describe_events",
    "find_kind",
    "list_devices",
    "read_logs",
    "read_manifests",
    "show",
    "wait_gone",
    "wait_object",
]

Json = dict[str, Any]

_EVENTS_SHOWN: Final = 5


class UnknownKind(DrayError):
    """No kind goes by this name."""


class _Head(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""


def find_kind(name: str) -> AnyKind:
    """The kind that kubectl would take this name for. Raises UnknownKind."""
    plain, _, group = name.lower().partition(".")
    names: list[str] = []
    for kind in SERVED:
        own = (kind.plural, kind.singular, kind.name.lower(), *kind.short_names)
        if plain in own and group in ("", kind.group):
            return kind
        names += own
    close = difflib.get_close_matches(plain, names, n=1)
    raise UnknownKind(f"no kind is named {name!r}" + (f"; did you mean {close[0]}?" if close else ""))


def read_manifests(text: str, namespace: str) -> list[tuple[AnyKind, ApiObject]]:
    """The objects of a YAML or JSON text, read strictly; those without a namespace go into this one.

    Raises YamlError, BadRequest, UnknownKind.
    """
    found: list[tuple[AnyKind, ApiObject]] = []
    for document in parse_yaml_documents(text):
        head = msgspec.json.decode(document.json, type=_Head)
        kind = SERVED.find_kind(head.api_version, head.kind)
        if kind is None:
            raise UnknownKind(
                f"line {document.line}: no kind {head.kind or '?'} in {head.api_version or '?'} is served"
            )
        thing: ApiObject = decode(kind, head.api_version.rpartition("/")[2], document.json, strict=True)
        if kind.is_namespaced and not thing.metadata.namespace:
            thing = msgspec.structs.replace(
                thing, metadata=msgspec.structs.replace(thing.metadata, namespace=namespace)
            )
        found.append((kind, thing))
    return found


async def apply_object(client: Client, kind: AnyKind, thing: ApiObject) -> ApiObject:
    """Create an object, or bring the one there is to what is asked, as `kubectl apply --server-side` does.

    One whose name the server makes up is created. Raises ApiError.
    """
    meta = thing.metadata
    if not meta.name:
        created: ApiObject = await client.create(kind, thing)
        return created
    patch = Patch(PatchType.APPLY, encode(kind, thing, kind.declared_version))
    name = ObjectName(meta.name, meta.namespace)
    applied: ApiObject = await client.patch(kind, name, patch, WriteOptions(force=True))
    return applied


def show(kind: AnyKind, thing: ApiObject) -> Json:
    """An object as the JSON that kubectl shows."""
    shown: Json = msgspec.json.decode(encode(kind, thing, kind.declared_version))
    return shown


@asynccontextmanager
async def _following(informers: SharedInformers, kind: AnyKind) -> AsyncIterator[ChangeQueue[Any]]:
    informer = informers.get(kind)
    queue = informer.subscribe()
    try:
        yield queue
    finally:
        informer.unsubscribe(queue)


async def wait_object(
    informers: SharedInformers, kind: AnyKind, name: ObjectName, is_wanted: Callable[[Json], bool]
) -> Json:
    """Wait until an object is there and as wanted."""
    async with _following(informers, kind) as changes:
        async for change in changes:
            if change.name == name and change.new is not None and is_wanted(shown := show(kind, change.new)):
                return shown
    raise AssertionError("changes have no end")


async def delete_object(client: Client, informers: SharedInformers, kind: AnyKind, name: ObjectName) -> None:
    """Delete an object, and wait until it is gone. Raises NotFound."""
    found: ApiObject = await client.get(kind, name)
    await client.delete(kind, name)
    await wait_gone(client, informers, kind, name, found.metadata.uid)


async def wait_gone(client: Client, informers: SharedInformers, kind: AnyKind, name: ObjectName, uid: str = "") -> None:
    """Wait until there is no object of this name, or another than the one of this uid."""
    async with _following(informers, kind) as changes:
        with suppress(NotFound):
            while (await client.get(kind, name)).metadata.uid == uid or not uid:
                await changes.get()


async def describe_events(client: Client, name: ObjectName) -> str:
    """The last events about an object, a line each; empty if there are none."""
    options = ListOptions(namespace=name.namespace or "default", field_selector=f"involvedObject.name={name.name}")
    events = (await client.list(EVENT, options)).items
    return "\n".join(f"  {each.reason}: {each.message}" for each in events[-_EVENTS_SHOWN:])


async def list_devices(client: Client, name: ObjectName) -> tuple[str, ...]:
    """The devices that a pod has, as `pool/device`, sorted. Pools of nodes are named as their node."""
    pod = await client.get(POD, name)
    claims = [each.resource_claim_name for each in pod.status.resource_claim_statuses]
    claims += [each.resource_claim_name for each in pod.spec.resource_claims]
    if pod.status.extended_resource_claim_status is not None:
        claims.append(pod.status.extended_resource_claim_status.resource_claim_name)
    found: list[str] = []
    for claim in dict.fromkeys(filter(None, claims)):
        allocation = (await client.get(RESOURCE_CLAIM, ObjectName(claim, name.namespace))).status.allocation
        found += [f"{each.pool}/{each.device}" for each in allocation.devices.results] if allocation else []
    return tuple(sorted(found))


async def read_logs(desk: Desk, name: ObjectName, container: str) -> str:
    """What a container has written. Raises NotFound, BadRequest."""
    target = Target(desk.routes.find_endpoint(POD), name.namespace, name.name, "log")
    reply = await read_log(desk, target, {"container": [container]} if container else {})
    if reply.stream is None:
        return reply.body.decode()
    async with aclosing(reply.stream) as pieces:
        return b"".join([piece async for piece in pieces]).decode()

"""kr8s, a client that knows nothing of Kubernetes' generated types, against a server as people run it."""

import asyncio
import uuid  # noqa: TID251  # the session's server is shared: names must not meet
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import kr8s.asyncio
import pytest
from kr8s.asyncio.objects import ConfigMap, Namespace, Pod, new_class

pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version v1.37:UserWarning")

ResourceClaim = new_class("ResourceClaim", "resource.k8s.io/v1", namespaced=True)

Scene = Callable[[Any, str], Awaitable[None]]


def play(kubeconfig: Path, scene: Scene) -> None:
    """Run a scene in a namespace of its own."""

    async def run() -> None:
        api: Any = await kr8s.asyncio.api(kubeconfig=str(kubeconfig))
        name = f"kr8s-{uuid.uuid4().hex[:8]}"
        await (await Namespace({"metadata": {"name": name}}, api=api)).create()
        try:
            await scene(api, name)
        finally:
            await api._session.aclose()  # kr8s itself never closes it

    asyncio.run(run())


def test_objects_are_made_read_changed_and_deleted(kubeconfig: Path) -> None:
    async def scene(api: Any, namespace: str) -> None:
        body: dict[str, Any] = {"metadata": {"name": "a", "namespace": namespace}, "data": {"a": "1"}}
        thing = await ConfigMap(body, api=api)
        await thing.create()
        assert await thing.exists()
        await thing.patch({"data": {"b": "2"}})
        assert thing.data == {"a": "1", "b": "2"}
        await thing.label({"part": "test"})
        found = [each async for each in api.get("configmaps", namespace=namespace, label_selector="part=test")]
        assert [each.name for each in found] == ["a"]
        await thing.delete()
        with pytest.raises(kr8s.NotFoundError):
            await ConfigMap.get("a", namespace=namespace, api=api)

    play(kubeconfig, scene)


def test_claims_are_objects_like_any_other(kubeconfig: Path) -> None:
    async def scene(api: Any, namespace: str) -> None:
        request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
        body = {"metadata": {"name": "c", "namespace": namespace}, "spec": {"devices": {"requests": [request]}}}
        await (await ResourceClaim(body, api=api)).create()
        stored = await ResourceClaim.get("c", namespace=namespace, api=api)
        assert stored.spec.devices.requests[0].exactly.count == 1
        assert [each.name async for each in api.get("resourceclaims", namespace=namespace)] == ["c"]

    play(kubeconfig, scene)


def test_changes_are_watched(kubeconfig: Path) -> None:
    async def scene(api: Any, namespace: str) -> None:
        told: list[tuple[str, str]] = []

        async def listen() -> None:
            async with aclosing(api.watch("configmaps", namespace=namespace, label_selector="part=test")) as events:
                async for event, thing in events:
                    told.append((event, thing.name))
                    if len(told) == 3:
                        return

        metadata = {"name": "a", "namespace": namespace, "labels": {"part": "test"}}
        thing = await ConfigMap({"metadata": metadata, "data": {}}, api=api)
        await thing.create()
        async with asyncio.timeout(30):
            listening = asyncio.ensure_future(listen())
            while not told:  # noqa: ASYNC110  # kr8s says nothing of when a watch is open
                await asyncio.sleep(0.01)
            await thing.patch({"data": {"n": "1"}})
            await thing.delete()
            await listening
        assert told == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]

    play(kubeconfig, scene)


def test_configurations_are_applied(kubeconfig: Path) -> None:
    async def scene(api: Any, namespace: str) -> None:
        body: dict[str, Any] = {"metadata": {"name": "a", "namespace": namespace}, "data": {"a": "1"}}
        thing = await ConfigMap(body, api=api)
        await thing.create()
        await thing.patch([{"op": "add", "path": "/data/b", "value": "2"}], type="json")
        assert thing.data == {"a": "1", "b": "2"}

    play(kubeconfig, scene)


def test_pods_are_waited_for(kubeconfig: Path) -> None:
    async def scene(api: Any, namespace: str) -> None:
        spec = {"containers": [{"name": "main", "image": "registry.example/app"}]}
        pod = await Pod({"metadata": {"name": "p", "namespace": namespace}, "spec": spec}, api=api)
        await pod.create()
        assert not await pod.ready()
        conditions = [{"type": each, "status": "True"} for each in ("Ready", "ContainersReady")]
        ready = {"status": {"phase": "Running", "conditions": conditions}}
        waiting = asyncio.ensure_future(pod.wait("condition=Ready"))
        await (await Pod.get("p", namespace=namespace, api=api)).patch(ready, subresource="status")
        async with asyncio.timeout(30):
            await waiting
        await pod.refresh()
        assert await pod.ready()

    play(kubeconfig, scene)

"""A running cluster in the hands of a test: where clients find it, and what tests do with it most."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Final, TypeVar

from dray.api.core.kinds import NAMESPACE, SERVICE_ACCOUNT
from dray.api.core.namespace import Namespace
from dray.api.meta import ObjectMeta
from dray.api.registry import AnyKind
from dray.api.resource.request import TaintEffect
from dray.client.port import ListOptions, ObjectName
from dray.driver import Driver
from dray.drivers.sim.commanding import DevicePlace, fail_device, heal_devices, parse_place
from dray.drivers.sim.faults import Fault
from dray.errors import NotFound
from dray.node.assembly import SimulatedNode
from dray.testing.clusterthread import ClusterError, ClusterThread, Inside
from dray.testing.objects import (
    Json,
    apply_object,
    delete_object,
    describe_events,
    find_kind,
    list_devices,
    read_logs,
    read_manifests,
    show,
    wait_gone,
    wait_object,
)

__all__ = ["Cluster"]

T = TypeVar("T")

_PATIENCE_SECONDS: Final = 20.0
"""How long anything may take before the test fails. Nothing takes nearly so long."""


class Cluster:
    """A cluster of the fixture `dray_cluster`.

    Any client reaches it through `kubeconfig`. The methods are for tests that need no client of their own; objects are
    the JSON that `kubectl get -o json` shows, and everything without a namespace is meant to be in `namespace`.
    """

    def __init__(self, thread: ClusterThread, kubeconfig: Path, namespace: str, *, is_shared: bool) -> None:
        self.kubeconfig = kubeconfig
        """A kubeconfig file of an administrator, whose context has the namespace."""
        self.namespace = namespace
        """Where this test puts its objects: its own."""
        self._thread = thread
        self._is_shared = is_shared
        self._at_large: list[tuple[AnyKind, str]] = []
        """Applied objects that are in no namespace."""
        self._failed: list[DevicePlace] = []
        self._added: list[str] = []
        self._call(self._prepare)

    @property
    def url(self) -> str:
        """Where the API server answers."""
        return self._thread.url

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return (*self._thread.nodes, *self._added)

    def apply(self, manifests: str | Path) -> list[Json]:
        """Apply YAML or JSON, a text or a file, as `kubectl apply --server-side --validate=strict` does.

        Returns the objects as they are then. Raises ApiError with the server's words for what it refuses.
        """
        text = manifests.read_text(encoding="utf-8") if isinstance(manifests, Path) else manifests

        async def work(inside: Inside) -> list[Json]:
            done = []
            for kind, thing in read_manifests(text, self.namespace):
                applied = await apply_object(inside.client, kind, thing)
                if not kind.is_namespaced:
                    self._at_large.append((kind, applied.metadata.name))
                done.append(show(kind, applied))
            return done

        return self._call(work)

    def get(self, kind: str, name: str, namespace: str | None = None) -> Json:
        """An object. Raises ApiError where there is none."""
        found, place = self._find(kind, name, namespace)

        async def work(inside: Inside) -> Json:
            return show(found, await inside.client.get(found, place))

        return self._call(work)

    def list(self, kind: str, selector: str = "", namespace: str | None = None) -> list[Json]:
        """The objects of a kind with these labels, in the test's namespace or in no namespace."""
        found, place = self._find(kind, "", namespace)

        async def work(inside: Inside) -> list[Json]:
            options = ListOptions(namespace=place.namespace or None, label_selector=selector)
            return [show(found, each) for each in (await inside.client.list(found, options)).items]

        return self._call(work)

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        """Delete an object and wait until it is gone. Raises ApiError where there is none."""
        found, place = self._find(kind, name, namespace)

        async def work(inside: Inside) -> None:
            await delete_object(inside.client, inside.premises.informers, found, place)

        self._call(work)

    def wait(
        self,
        kind: str,
        name: str,
        is_wanted: Callable[[Json], bool] = lambda shown: True,
        *,
        namespace: str | None = None,
        seconds: float = _PATIENCE_SECONDS,
    ) -> Json:
        """Wait until an object is there and as wanted; it is looked at whenever it changes.

        Raises AssertionError, with the events about it, if that takes longer than `seconds`.
        """
        found, place = self._find(kind, name, namespace)

        async def work(inside: Inside) -> Json:
            return await wait_object(inside.premises.informers, found, place, is_wanted)

        try:
            return self._thread.call(work, seconds)
        except TimeoutError:
            raise AssertionError(self._explain(found, place, f"is not as wanted within {seconds:g} s")) from None

    def wait_gone(
        self, kind: str, name: str, *, namespace: str | None = None, seconds: float = _PATIENCE_SECONDS
    ) -> None:
        """Wait until an object is gone: an evicted pod, say. At once if there is none.

        Raises AssertionError, with the events about it, if that takes longer than `seconds`.
        """
        found, place = self._find(kind, name, namespace)

        async def work(inside: Inside) -> None:
            await wait_gone(inside.client, inside.premises.informers, found, place)

        try:
            self._thread.call(work, seconds)
        except TimeoutError:
            raise AssertionError(self._explain(found, place, f"is not gone within {seconds:g} s")) from None

    def wait_pod(self, name: str, phase: str = "Running") -> Json:
        """Wait until a pod is in a phase."""
        return self.wait("pod", name, lambda pod: pod.get("status", {}).get("phase") == phase)

    def wait_unschedulable(self, name: str) -> str:
        """Wait until the scheduler has given a pod up for now, and return its reason."""

        def find_reason(pod: Json) -> str:
            conditions = pod.get("status", {}).get("conditions", [])
            return next((each["message"] for each in conditions if each.get("reason") == "Unschedulable"), "")

        return find_reason(self.wait("pod", name, lambda pod: bool(find_reason(pod))))

    def devices(self, pod: str) -> tuple[str, ...]:
        """The devices that a pod has, as `pool/device`. The pool of a node is named as the node."""
        name = ObjectName(pod, self.namespace)
        return self._call(lambda inside: list_devices(inside.client, name))

    def logs(self, pod: str, container: str = "") -> str:
        """What a container of a pod has written. On simulated nodes that begins with its devices and variables."""
        name = ObjectName(pod, self.namespace)
        return self._call(lambda inside: read_logs(inside.premises.api.desk, name, container))

    def fail_device(self, device: str, reason: str = "", effect: str = TaintEffect.NO_EXECUTE) -> None:
        """Have a simulated device, `node/device`, fail: its driver taints it, and pods that have it are evicted."""
        place = parse_place(device)
        self._failed.append(place)
        self._call(lambda inside: fail_device(inside.client, place, Fault(TaintEffect(effect), reason)))

    def heal_device(self, device: str) -> None:
        """Have a simulated device work again."""
        place = parse_place(device)
        self._call(lambda inside: heal_devices(inside.client, place))

    def add_node(self, name: str, *drivers: Driver) -> None:
        """Add a simulated node with drivers of your own. Only to a cluster that no other test uses."""
        if self._is_shared:
            raise ClusterError('this cluster is shared: mark the test with dray(scope="function") to add nodes')
        self._added.append(name)

        async def work(inside: Inside) -> None:
            await inside.site.add_node(SimulatedNode(name=name, drivers=drivers))

        self._call(work)

    def release(self) -> None:
        """Take everything away that the test has put here, and end the cluster if it is the test's alone."""
        if not self._is_shared:
            self._thread.end()
            if self._added:
                self._thread.join()
            return
        self._call(self._clean)

    def _call(self, work: Callable[[Inside], Coroutine[object, object, T]]) -> T:
        try:
            return self._thread.call(work, _PATIENCE_SECONDS)
        except TimeoutError:
            raise AssertionError(f"not done within {_PATIENCE_SECONDS:g} s{self._thread.errors}") from None

    async def _prepare(self, inside: Inside) -> None:
        """Make the namespace, and wait for the account that pods in it run as."""
        if self._is_shared:
            await inside.client.create(NAMESPACE, Namespace(metadata=ObjectMeta(name=self.namespace)))
        account = ObjectName("default", self.namespace)
        await wait_object(inside.premises.informers, SERVICE_ACCOUNT, account, lambda _: True)

    async def _clean(self, inside: Inside) -> None:
        client, informers = inside.client, inside.premises.informers
        for place in self._failed:
            await heal_devices(client, place)
        namespace = ObjectName(self.namespace)
        uid = (await client.get(NAMESPACE, namespace)).metadata.uid
        await client.delete(NAMESPACE, namespace)
        for kind, name in reversed(self._at_large):
            try:
                await delete_object(client, informers, kind, ObjectName(name))
            except NotFound:
                continue
        await wait_gone(client, informers, NAMESPACE, namespace, uid)

    def _find(self, kind: str, name: str, namespace: str | None) -> tuple[AnyKind, ObjectName]:
        found = find_kind(kind)
        return found, ObjectName(name, (namespace or self.namespace) if found.is_namespaced else "")

    def _explain(self, kind: AnyKind, name: ObjectName, fault: str) -> str:
        async def work(inside: Inside) -> str:
            try:
                status = show(kind, await inside.client.get(kind, name)).get("status", {})
            except NotFound as absence:
                return absence.message
            events = await describe_events(inside.client, name)
            return f"{status}\n{events}" if events else str(status)

        return f"{kind.singular} {name.name} {fault}: {self._call(work)}{self._thread.errors}"

"""What every namespace has from its beginning: an account for pods that name none, and the CA of the API server."""

from typing import Final, TypeVar

from msgspec.structs import replace

from dray.api.core.configmap import ConfigMap
from dray.api.core.kinds import CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT
from dray.api.core.namespace import Namespace
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.kind import Kind
from dray.api.meta import ApiObject, ObjectMeta
from dray.client.port import Client
from dray.controllers.mirrors import Mirrors
from dray.controllers.runtime import Controller, Effects
from dray.errors import AlreadyExists, Forbidden, NotFound

__all__ = ["FirstObjects"]

K = TypeVar("K", bound=ApiObject)

_ACCOUNT: Final = "default"
_BUNDLE: Final = "kube-root-ca.crt"
_BUNDLE_KEY: Final = "ca.crt"
_ABOUT_BUNDLE: Final = {
    "kubernetes.io/description": "Contains a CA bundle that can be used to verify the kube-apiserver when using "
    "internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across "
    "distributions of Kubernetes clusters."
}


class FirstObjects:
    """Makes the two, and makes them again when they are deleted or the bundle is changed."""

    def __init__(self, client: Client, mirrors: Mirrors, root_ca: str, effects: Effects) -> None:
        self._client = client
        self._mirrors = mirrors
        self._root_ca = root_ca
        self.controller = Controller("first objects", self.reconcile, effects)
        mirrors.listen(NAMESPACE, self._note_namespace)
        mirrors.listen(SERVICE_ACCOUNT, lambda old, new: self._note_content(_ACCOUNT, old, new))
        mirrors.listen(CONFIG_MAP, lambda old, new: self._note_content(_BUNDLE, old, new))

    def _note_namespace(self, old: Namespace | None, new: Namespace | None) -> None:
        if new is not None:
            self.controller.wake(new.metadata.name)

    def _note_content(self, name: str, old: ApiObject | None, new: ApiObject | None) -> None:
        if old is not None and old.metadata.name == name:
            self.controller.wake(old.metadata.namespace)

    async def reconcile(self, namespace: str) -> None:
        """See that both are there, unless the namespace is going."""
        found = self._mirrors.find(NAMESPACE, "", namespace)
        if found is None or found.metadata.deletion_timestamp is not None:
            return
        if self._mirrors.find(SERVICE_ACCOUNT, namespace, _ACCOUNT) is None:
            meta = ObjectMeta(name=_ACCOUNT, namespace=namespace)
            await self._create(SERVICE_ACCOUNT, ServiceAccount(metadata=meta))
        bundle = self._mirrors.find(CONFIG_MAP, namespace, _BUNDLE)
        wanted = {_BUNDLE_KEY: self._root_ca}
        if bundle is None:
            meta = ObjectMeta(name=_BUNDLE, namespace=namespace, annotations=_ABOUT_BUNDLE)
            await self._create(CONFIG_MAP, ConfigMap(metadata=meta, data=wanted))
        elif bundle.data != wanted:
            annotations = {**bundle.metadata.annotations, **_ABOUT_BUNDLE}
            meta = replace(bundle.metadata, annotations=annotations)
            await self._client.update(CONFIG_MAP, replace(bundle, metadata=meta, data=wanted))

    async def _create(self, kind: Kind[K], thing: K) -> None:
        """Create it, unless it is there already or the namespace has gone meanwhile."""
        try:
            await self._client.create(kind, thing)
        except (AlreadyExists, NotFound):
            return
        except Forbidden:
            found = self._mirrors.find(NAMESPACE, "", thing.metadata.namespace)
            if found is not None and found.metadata.deletion_timestamp is None:
                raise

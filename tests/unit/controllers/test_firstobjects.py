import asyncio

from msgspec.structs import replace

from dray.api.core.kinds import CONFIG_MAP, NAMESPACE, SERVICE_ACCOUNT
from dray.api.core.namespace import Namespace
from dray.api.meta import ObjectMeta
from dray.client.port import ObjectName
from tests.unit.controllers.running import ROOT_CA, Cluster, running


def test_every_namespace_gets_an_account_and_the_root_ca() -> None:
    async def scenario() -> None:
        async with running(Cluster()) as world:
            bundle = world.cluster.find(CONFIG_MAP, "kube-root-ca.crt")
            assert bundle is not None
            assert bundle.data == {"ca.crt": ROOT_CA}
            assert "kubernetes.io/description" in bundle.metadata.annotations
            assert world.cluster.find(SERVICE_ACCOUNT, "default") is not None
            await world.client.create(NAMESPACE, Namespace(metadata=ObjectMeta(name="late")))
            await world.settle()
            assert world.cluster.find(SERVICE_ACCOUNT, "default", "late") is not None
            assert world.cluster.find(CONFIG_MAP, "kube-root-ca.crt", "late") is not None
            assert world.errors == []

    asyncio.run(scenario())


def test_they_come_back_when_they_are_deleted_or_changed() -> None:
    async def scenario() -> None:
        async with running(Cluster()) as world:
            await world.client.delete(SERVICE_ACCOUNT, ObjectName("default", "ml"))
            bundle = world.cluster.find(CONFIG_MAP, "kube-root-ca.crt")
            assert bundle is not None
            await world.client.update(CONFIG_MAP, replace(bundle, data={"ca.crt": "none"}))
            await world.settle()
            bundle = world.cluster.find(CONFIG_MAP, "kube-root-ca.crt")
            assert bundle is not None
            assert bundle.data == {"ca.crt": ROOT_CA}
            assert world.cluster.find(SERVICE_ACCOUNT, "default") is not None

    asyncio.run(scenario())

import asyncio

import pytest

from dray.api.scheduling.kinds import PRIORITY_CLASS
from dray.client.port import ObjectName
from dray.errors import Forbidden
from tests.unit.controllers.running import Cluster, running


def test_the_classes_of_the_system_are_always_there() -> None:
    async def scenario() -> None:
        async with running(Cluster()) as world:
            assert world.cluster.names(PRIORITY_CLASS) == ["system-cluster-critical", "system-node-critical"]
            made = world.cluster.find(PRIORITY_CLASS, "system-node-critical")
            assert made is not None
            assert (made.value, made.global_default) == (2_000_001_000, False)
            with pytest.raises(Forbidden, match="cannot be deleted"):
                await world.client.delete(PRIORITY_CLASS, ObjectName("system-node-critical"))
            await world.settle()
            assert world.cluster.names(PRIORITY_CLASS) == ["system-cluster-critical", "system-node-critical"]

    asyncio.run(scenario())

"""Tells the state of a node's GPUs, and finds what an earlier process told of it."""

import asyncio
from collections.abc import Mapping
from typing import Final

from dray.api.core.kinds import NODE
from dray.client.port import ObjectName, Unreachable
from dray.driver.port import Host
from dray.drivers.sim.annotating import annotate_node
from dray.drivers.sim.nvidia.gpus import find_minor
from dray.drivers.sim.nvidia.hardware import HARDWARE_PREFIX, Hardware, find_states
from dray.errors import ApiError

__all__ = ["HardwareTeller"]

_UNTOLD: Final = "state of GPUs is not told"


class HardwareTeller:
    """Keeps the annotations of a node in step with its GPUs. That they cannot be written fails no claim."""

    def __init__(self, host: Host, hardware: Hardware) -> None:
        self._host = host
        self._hardware = hardware
        self._told: Mapping[str, str] = {}
        self._turn = asyncio.Lock()

    async def recall(self) -> list[str]:
        """Take up what prepared claims have left behind. Returns the MPS daemons that nobody needs any more."""
        try:
            node = await self._host.client.get(NODE, ObjectName(self._host.node_name))
        except (ApiError, Unreachable) as fault:
            self._host.log.error(_UNTOLD, node=self._host.node_name, err=fault)
            return []
        annotations = node.metadata.annotations
        claims = self._host.prepared_claims()
        daemons: set[str] = set()
        for name, state in find_states(annotations).items():
            daemons.update(state.mps_daemons)
            minor = find_minor(name)
            if minor is not None:
                self._hardware.recall(minor, state, claims)
        self._told = {
            name.removeprefix(HARDWARE_PREFIX): text
            for name, text in annotations.items()
            if name.startswith(HARDWARE_PREFIX)
        }
        return sorted(daemons - self._hardware.mps_daemons)

    async def tell(self) -> None:
        """Write what is other than it was told last. Calls wait for each other, so that the last word stands."""
        async with self._turn:
            now = self._hardware.describe()
            changed = {name: now.get(name) for name in {**self._told, **now} if now.get(name) != self._told.get(name)}
            if not changed:
                return
            texts = {f"{HARDWARE_PREFIX}{name}": text for name, text in changed.items()}
            try:
                await annotate_node(self._host.client, self._host.node_name, texts)
            except (ApiError, Unreachable) as fault:
                self._host.log.error(_UNTOLD, node=self._host.node_name, err=fault)
            else:
                self._told = now

"""`compute-domain.nvidia.com`: channels to the memory of GPUs on other nodes of the same NVLink domain.

Prepared as where the host runs the daemons of domains itself: no controller, no labels, only the channels.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from dray.api.core.kinds import NODE
from dray.client.port import ObjectName
from dray.driver.claims import AllocatedDevice, Claim, Prepared
from dray.driver.config import DriverConfig
from dray.drivers.sim.driver import PrepareRefused, SimDriver
from dray.drivers.sim.nvidia.choice import choose_config
from dray.drivers.sim.nvidia.config import ChannelMode, ComputeDomainChannelConfig, ComputeDomainDaemonConfig
from dray.drivers.sim.nvidia.edits import ALL_CHANNELS, channel_edits, daemon_edits

__all__ = ["CLIQUE_LABEL", "ComputeDomainDriver"]

CLIQUE_LABEL: Final = "nvidia.com/gpu.clique"


class ComputeDomainDriver(SimDriver):
    """Channels and daemons of one node."""

    configs: ClassVar[tuple[type[DriverConfig], ...]] = (ComputeDomainChannelConfig, ComputeDomainDaemonConfig)

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Each needs a configuration that names its domain."""
        answers = []
        for each in devices:
            kind = self.find_device(each.name).attributes["type"].string or ""
            config = choose_config(claim.resource, self.name, each, kind)
            if isinstance(config, ComputeDomainChannelConfig):
                count = ALL_CHANNELS if config.allocation_mode is ChannelMode.ALL else 1
                answers.append(each.prepared(channel_edits(count)))
            elif isinstance(config, ComputeDomainDaemonConfig):
                answers.append(each.prepared(daemon_edits(config.domain_id, await self._find_clique())))
            else:
                raise PrepareRefused(f"{each.name} needs a configuration that names the domain")
        return Prepared.of(answers)

    async def _find_clique(self) -> str:
        node = await self.host.client.get(NODE, ObjectName(self.host.node_name))
        return node.metadata.labels.get(CLIQUE_LABEL, "")

"""Which drivers a node with some equipment runs, and what runs beside them once for the cluster."""

from collections.abc import Mapping, Sequence
from typing import Final

from dray.api.core.kinds import NODE
from dray.client.informer import Informer
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.watching import Focus
from dray.driver.config import DriverConfig
from dray.driver.devices import Devices
from dray.drivers.cpu.offers import DRIVER as CPU
from dray.drivers.sim.attaching import Attacher
from dray.drivers.sim.catalog import Equipment
from dray.drivers.sim.dranet import DranetDriver
from dray.drivers.sim.driver import SimDriver
from dray.drivers.sim.example.driver import EXAMPLE_DRIVERS
from dray.drivers.sim.example.part import ExamplePart, driver_name
from dray.drivers.sim.faults import FaultBoard
from dray.drivers.sim.interfaces import DRANET_DRIVER
from dray.drivers.sim.nvidia.computedomain import ComputeDomainDriver
from dray.drivers.sim.nvidia.driver import NvidiaDriver
from dray.drivers.sim.nvidia.gpus import DRIVER as NVIDIA
from dray.drivers.sim.nvidia.part import COMPUTE_DOMAIN_DRIVER, NvidiaPart
from dray.drivers.sim.nvidia.passthrough import WITH_IOMMU
from dray.drivers.sim.processors import ProcessorsDriver
from dray.drivers.sim.tpu import DRIVER as TPU
from dray.drivers.sim.tpudriver import TpuDriver
from dray.effects.log import Log

__all__ = ["follow_faults", "list_configs", "list_shared_devices", "make_attacher", "make_drivers"]

_DRIVERS: Final[Mapping[str, type[SimDriver]]] = {
    NVIDIA: NvidiaDriver,
    COMPUTE_DOMAIN_DRIVER: ComputeDomainDriver,
    TPU: TpuDriver,
    DRANET_DRIVER: DranetDriver,
    CPU: ProcessorsDriver,
}
"""Those that do more than show their devices."""


def make_drivers(equipment: Equipment, faults: FaultBoard) -> list[SimDriver]:
    """The drivers of one node, anew for each. `faults` is shared by all."""
    examples = {driver_name(part.devicery): part for part in equipment.parts if isinstance(part, ExamplePart)}
    drivers: list[SimDriver] = []
    for blueprint in equipment.blueprints:
        part = examples.get(blueprint.driver)
        if part is not None:
            drivers.append(EXAMPLE_DRIVERS[part.devicery](part, blueprint, faults))
        elif blueprint.driver == NVIDIA:
            settings = (part.passthrough for part in equipment.parts if isinstance(part, NvidiaPart))
            drivers.append(NvidiaDriver(blueprint, faults, next(settings, WITH_IOMMU)))
        else:
            drivers.append(_DRIVERS.get(blueprint.driver, SimDriver)(blueprint, faults))
    return drivers


def list_configs(driver: str) -> tuple[type[DriverConfig], ...]:
    """The kinds of configuration that a driver takes; none for one that takes anything, or that is not simulated."""
    examples = {driver_name(devicery): kind for devicery, kind in EXAMPLE_DRIVERS.items()}
    kind = _DRIVERS.get(driver) or examples.get(driver)
    return kind.configs if kind is not None else ()


def list_shared_devices(equipments: Sequence[Equipment]) -> dict[str, Devices]:
    """By driver, what several nodes reach: to be published once, for no node."""
    pools = {(driver, pool.name): pool for equipment in equipments for driver, pool in equipment.shared_pools()}
    drivers = dict.fromkeys(driver for driver, _ in pools)
    return {name: Devices(tuple(pool for (driver, _), pool in pools.items() if driver == name)) for name in drivers}


def make_attacher(equipments: Sequence[Equipment], client: Client, pace: Pace, log: Log) -> Attacher | None:
    """Who fulfils binding conditions, once for the cluster; None where no device has any."""
    drivers = {
        blueprint.driver
        for equipment in equipments
        for blueprint in equipment.blueprints
        if any(template.device.binding_conditions for template in blueprint.templates)
    }
    return Attacher(client, sorted(drivers), pace, log) if drivers else None


async def follow_faults(board: FaultBoard, client: Client, pace: Pace, log: Log, *, node: str = "") -> None:
    """Keep the board up to date, of one node or of all, until cancelled."""
    focus = Focus(kind=NODE, field_selector=f"metadata.name={node}" if node else "")
    informer = Informer(client, focus, pace, log)
    informer.add_handler(board.note)
    await informer.run()

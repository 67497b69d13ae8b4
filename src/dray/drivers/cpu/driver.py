"""`dra.cpu`: the processors of this machine, given to claims for themselves.

A container that has a claim of processors finds them in a variable, `DRA_CPUSET_<claim uid>=0-3`; whoever starts the
container pins it to them. Which claim has which processors stands in the SDK's checkpoint and nowhere else.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import ClassVar, Final

from msgspec import field

from dray.driver.cdi import ContainerEdits, env
from dray.driver.claims import AllocatedDevice, Claim, Prepared, PreparedDevice
from dray.driver.config import ConfigPart, DriverConfig
from dray.driver.devices import Devices
from dray.driver.port import Driver
from dray.driver.sysfs import Sysfs, parse_cpu_list
from dray.drivers.cpu.choosing import choose_cpus
from dray.drivers.cpu.offers import CAPACITY, DRIVER, Grouping, Offer, OfferOptions, list_offers
from dray.drivers.cpu.topology import format_cpu_list, read_topology
from dray.errors import DrayError

__all__ = ["CPUSET_PREFIX", "CpuConfig", "CpuDriver", "CpuDriverOptions"]

CPUSET_PREFIX: Final = "DRA_CPUSET_"
"""Of the variable; the uid of the claim follows."""
_CPUS: Final = "cpus"
_CPU_LIST: Final = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


class CpuSet(ConfigPart, frozen=True, kw_only=True):
    """Processors that somebody else has chosen."""

    cpuset: str = ""


class CpuConfig(DriverConfig, frozen=True, kw_only=True):
    """For claims of processors of the whole machine, which an external scheduler chooses."""

    api_version: ClassVar[str] = ""

    cpu_config: CpuSet = field(default=CpuSet(), name="cpuConfig")


class CpuDriverOptions(OfferOptions, frozen=True, kw_only=True):
    """How the driver works."""

    reserved: tuple[int, ...] = ()
    """Processors that are never given away."""
    tells_pcie_roots: bool = False
    """Publish the PCIe roots near each device, as a list; API servers must allow lists in attributes for that."""


class CpuDriver(Driver):
    """The processors of one machine. One claim at a time: what one takes the next must see."""

    name = DRIVER
    configs: ClassVar[tuple[type[DriverConfig], ...]] = (CpuConfig,)
    one_claim_at_a_time: ClassVar[bool] = True

    def __init__(self, options: CpuDriverOptions | None = None, sysfs: Sysfs | None = None) -> None:
        self._options = options or CpuDriverOptions()
        self._sysfs = sysfs or Sysfs()
        self._offers: dict[str, Offer] = {}

    async def start(self) -> None:
        """Read the topology, which stays as it is while the machine runs."""
        offers = await asyncio.to_thread(self._read_offers)
        self._offers = {each.device.name: each for each in offers}

    async def devices(self) -> Devices:
        """All devices, whoever has their processors."""
        return Devices.of(*(each.device for each in self._offers.values()))

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Choose the processors of each device; all that the claim gets go into one variable."""
        taken = self._list_taken(claim.uid)
        chosen: dict[int, list[int]] = {}
        for index, each in enumerate(devices):
            chosen[index] = self._choose(each, taken)
            taken.update(chosen[index])
        everything = format_cpu_list(number for numbers in chosen.values() for number in numbers)
        answers: list[PreparedDevice] = [
            each.prepared(memo={_CPUS: format_cpu_list(chosen[index])}) for index, each in enumerate(devices)
        ]
        edits = ContainerEdits(env=env({f"{CPUSET_PREFIX}{claim.uid}": everything}))
        return Prepared.of(answers, common=edits)

    def _read_offers(self) -> list[Offer]:
        topology = read_topology(self._sysfs, self._options.reserved)
        roots = (
            {each.number: self._sysfs.list_pcie_roots_of_cpu(each.number) for each in topology.cpus}
            if self._options.tells_pcie_roots
            else None
        )
        return list_offers(topology, self._options, roots)

    def _list_taken(self, claim_uid: str) -> set[int]:
        """The processors that other claims have."""
        return {
            number
            for claim in self.host.prepared_claims()
            if claim.uid != claim_uid
            for device in claim.devices
            for number in parse_cpu_list(device.memo.get(_CPUS, ""))
        }

    def _choose(self, device: AllocatedDevice, taken: set[int]) -> list[int]:
        offer = self._offers.get(device.name)
        if offer is None:
            raise DrayError(f"requested device is not allocatable: {device.name}")
        amount = device.consumed_capacity.get(CAPACITY, device.consumed_capacity.get("cpu"))
        count = len(offer.cpus) if amount is None else amount.value()
        config = device.find_config(CpuConfig)
        if config is not None and config.cpu_config.cpuset:
            return _take_named(config.cpu_config.cpuset, offer, count, taken)
        if self._options.grouping is Grouping.MACHINE:
            raise DrayError(f"processors of {device.name} must be named: cpuConfig.cpuset")
        chosen = choose_cpus(offer.cpus, count, taken)
        if chosen is None:
            free = len([each for each in offer.cpus if each.number not in taken])
            raise DrayError(f"{device.name} has {free} processors left, {count} are wanted")
        return chosen


def _take_named(cpuset: str, offer: Offer, count: int, taken: set[int]) -> list[int]:
    """The processors that the claim names, if it may have them."""
    named = parse_cpu_list(cpuset)
    known = {each.number for each in offer.cpus}
    if not named or not _CPU_LIST.fullmatch(cpuset):
        raise DrayError(f"cpuConfig.cpuset must be such as 0-3,8, is {cpuset!r}")
    if len(named) != count:
        raise DrayError(f"cpuConfig.cpuset names {len(named)} processors, the claim has {count}")
    if unknown := sorted(set(named) - known):
        raise DrayError(f"cpuConfig.cpuset: {format_cpu_list(unknown)} cannot be given away")
    if used := sorted(set(named) & taken):
        raise DrayError(f"cpuConfig.cpuset: {format_cpu_list(used)} in use by other claims")
    return named

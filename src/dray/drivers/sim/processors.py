"""The processors of a simulated machine, as the CPU driver (dra.cpu) publishes them: one device a NUMA node."""

from collections.abc import Sequence
from itertools import chain
from typing import ClassVar, Final, Self

from msgspec.structs import replace

from dray.driver.cdi import ContainerEdits, env
from dray.driver.claims import AllocatedDevice, Claim, Prepared, PreparedDevice
from dray.driver.sysfs import parse_cpu_list
from dray.drivers.cpu.choosing import choose_cpus
from dray.drivers.cpu.offers import CAPACITY, DRIVER, OfferOptions, list_offers
from dray.drivers.cpu.topology import Cpu, Topology, format_cpu_list
from dray.drivers.sim.driver import PrepareRefused, SimDriver
from dray.drivers.sim.part import Machine, Part, ProfileError
from dray.drivers.sim.pools import Blueprint

__all__ = ["ProcessorsDriver", "ProcessorsPart"]

_THREADS: Final = 2
_SOCKETS: Final = 2
_CPUS: Final = "cpus"


def draw_topology(nodes: int, cores: int) -> Topology:
    """So many NUMA nodes of so many cores. Numbered as Linux does: all first threads, then all second ones."""
    total = nodes * cores
    cpus = (
        Cpu(
            number=thread * total + core,
            socket=core // cores * _SOCKETS // nodes,
            numa_node=core // cores,
            core=core,
            cache=core // cores,
        )
        for thread in range(_THREADS)
        for core in range(total)
    )
    return Topology(tuple(cpus), has_threads=True)


class ProcessorsPart(Part, frozen=True, tag="processors"):
    """Cores of two threads, the same number on each NUMA node that accelerators and interfaces tell of."""

    cores: int
    """Of each NUMA node."""

    def choose(self, option: str, value: str) -> Self | None:
        """Another number of cores."""
        if option != "cores":
            return None
        if not value.isdigit() or not 0 < int(value) <= 1024:
            raise ProfileError(f"cores={value}: must be a number from 1 to 1024")
        return replace(self, cores=int(value))

    def options(self) -> tuple[str, ...]:
        """As `choose` takes them."""
        return ("cores=N",)

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """One device a NUMA node, of which claims take a number of processors."""
        accelerators, nics = (each.numa for each in machine.accelerators), (each.numa for each in machine.nics)
        told = [each for each in chain(accelerators, nics) if each is not None]
        topology = draw_topology(max([_SOCKETS, *(each + 1 for each in told)]), self.cores)
        return [Blueprint.of(DRIVER, (each.device for each in list_offers(topology, OfferOptions())))]


class ProcessorsDriver(SimDriver):
    """`dra.cpu` on one node. Whole cores where possible, and no processor twice, as the real driver chooses them."""

    one_claim_at_a_time: ClassVar[bool] = True

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Choose the processors of each device; all that the claim gets go into one variable."""
        taken = {
            number
            for other in self.host.prepared_claims()
            if other.uid != claim.uid
            for device in other.devices
            for number in parse_cpu_list(device.memo.get(_CPUS, ""))
        }
        everything: list[int] = []
        answers: list[PreparedDevice] = []
        for each in devices:
            chosen = self._choose(each, taken | set(everything))
            everything += chosen
            answers.append(each.prepared(memo={_CPUS: format_cpu_list(chosen)}))
        variable = env({f"DRA_CPUSET_{claim.uid}": format_cpu_list(everything)})
        return Prepared.of(answers, common=ContainerEdits(env=variable))

    def _choose(self, allocated: AllocatedDevice, taken: set[int]) -> list[int]:
        device = self.find_device(allocated.name)
        offered = device.capacity[CAPACITY].value.value()
        cpus = draw_topology(len(self._pool.devices), offered // _THREADS).cpus
        node = device.attributes["numaNodeID"].int
        amount = allocated.consumed_capacity.get(CAPACITY, allocated.consumed_capacity.get("cpu"))
        chosen = choose_cpus(
            [each for each in cpus if each.numa_node == node], offered if amount is None else amount.value(), taken
        )
        if chosen is None:
            raise PrepareRefused(f"{device.name} has too few processors left")
        return chosen

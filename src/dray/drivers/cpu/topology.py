"""The processors of a machine and how they hang together: sockets, NUMA nodes, L3 caches, cores, threads."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from dray.driver.sysfs import Sysfs, parse_cpu_list

__all__ = ["CoreType", "Cpu", "Topology", "format_cpu_list", "read_topology"]


class CoreType(StrEnum):
    """What sort of core a processor is on."""

    STANDARD = "standard"
    PERFORMANCE = "p-core"
    EFFICIENCY = "e-core"


class Cpu(Struct, frozen=True, order=True):
    """One logical processor. Numbers of cores are unique within their socket only."""

    number: int
    socket: int = 0
    numa_node: int = 0
    core: int = 0
    cache: int = 0
    """The L3 cache."""
    core_type: CoreType = CoreType.STANDARD

    @property
    def core_key(self) -> tuple[int, int]:
        """Which core of the machine."""
        return self.socket, self.core


class Topology(Struct, frozen=True):
    """The processors that may be given away, by number, and whether cores run several threads."""

    cpus: tuple[Cpu, ...]
    has_threads: bool = False

    def find(self, numbers: Iterable[int]) -> list[Cpu]:
        """The processors of these numbers, as far as they are there."""
        wanted = set(numbers)
        return [each for each in self.cpus if each.number in wanted]


def format_cpu_list(numbers: Iterable[int]) -> str:
    """Numbers in the kernel's way, `0-3,8`; the inverse of `parse_cpu_list`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def read_topology(sysfs: Sysfs, reserved: Iterable[int] = ()) -> Topology:
    """What the kernel says of the processors that are online. Reserved ones are left out; a core keeps its threads."""
    online = parse_cpu_list(sysfs.read("devices/system/cpu/online") or "")
    efficient = set(parse_cpu_list(sysfs.read("devices/cpu_atom/cpus") or ""))
    performant = set(parse_cpu_list(sysfs.read("devices/cpu_core/cpus") or ""))
    cpus = [_read_cpu(sysfs, number) for number in online]
    cores = {each.core_key for each in cpus}
    typed = [
        Cpu(
            each.number,
            each.socket,
            each.numa_node,
            each.core,
            each.cache,
            _type_of(each.number, efficient, performant),
        )
        for each in cpus
    ]
    kept = set(online) - set(reserved)
    return Topology(tuple(each for each in typed if each.number in kept), has_threads=len(cores) < len(cpus))


def _read_cpu(sysfs: Sysfs, number: int) -> Cpu:
    folder = f"devices/system/cpu/cpu{number}"
    core = sysfs.read_number(folder, "topology/core_id")
    return Cpu(
        number,
        socket=sysfs.read_number(folder, "topology/physical_package_id") or 0,
        numa_node=sysfs.find_numa_node_of_cpu(number) or 0,
        core=number if core is None else core,
        cache=_read_cache(sysfs, folder),
    )


def _read_cache(sysfs: Sysfs, folder: str) -> int:
    """The L3 cache by its own number; where there is none to be seen, all share one."""
    for name in sysfs.names(folder, "cache"):
        if sysfs.read_number(folder, "cache", name, "level") == 3:
            return sysfs.read_number(folder, "cache", name, "id") or 0
    return 0


def _type_of(number: int, efficient: set[int], performant: set[int]) -> CoreType:
    if number in efficient:
        return CoreType.EFFICIENCY
    return CoreType.PERFORMANCE if number in performant and efficient else CoreType.STANDARD

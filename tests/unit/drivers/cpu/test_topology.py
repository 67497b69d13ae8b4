from pathlib import Path

import pytest

from dray.driver.sysfs import Sysfs, parse_cpu_list
from dray.drivers.cpu.topology import CoreType, format_cpu_list, read_topology
from tests.unit.drivers.systree import plant, plant_cpus

TWO_SOCKETS = {
    cpu: (socket, socket, core, socket * 2 + core // 2)
    for socket in range(2)
    for core in range(4)
    for cpu in (socket * 4 + core, 8 + socket * 4 + core)
}
"""Two sockets of four cores with two threads each, two cores to an L3 cache; siblings are 8 apart."""


@pytest.mark.parametrize("text", ["", "0", "0-3", "0-1,3,5-7"])
def test_lists_are_written_as_the_kernel_writes_them(text: str) -> None:
    assert format_cpu_list(parse_cpu_list(text)) == text


def test_topology_is_read(tmp_path: Path) -> None:
    topology = read_topology(plant_cpus(tmp_path, TWO_SOCKETS))
    assert len(topology.cpus) == 16
    assert topology.has_threads
    cpu = topology.cpus[13]
    assert (cpu.number, cpu.socket, cpu.numa_node, cpu.core, cpu.cache) == (13, 1, 1, 1, 2)
    assert cpu.core_type is CoreType.STANDARD
    assert [each.number for each in topology.cpus if each.core_key == (1, 1)] == [5, 13]


def test_reserved_processors_are_left_out_and_threads_still_known(tmp_path: Path) -> None:
    topology = read_topology(plant_cpus(tmp_path, TWO_SOCKETS), reserved=range(8, 16))
    assert [each.number for each in topology.cpus] == list(range(8))
    assert topology.has_threads


def test_processors_that_are_offline_are_left_out(tmp_path: Path) -> None:
    sysfs = plant_cpus(tmp_path, TWO_SOCKETS)
    tmp_path.joinpath("devices/system/cpu/online").write_text("0-3,12\n")
    assert [each.number for each in read_topology(sysfs).cpus] == [0, 1, 2, 3, 12]


def test_sorts_of_cores_are_told_apart(tmp_path: Path) -> None:
    plant_cpus(tmp_path, {cpu: (0, 0, cpu, 0) for cpu in range(4)})
    sysfs = plant(tmp_path, {"devices/cpu_core/cpus": "0-1", "devices/cpu_atom/cpus": "2-3"})
    sorts = [each.core_type.value for each in read_topology(sysfs).cpus]
    assert sorts == ["p-core", "p-core", "e-core", "e-core"]


def test_machine_that_tells_nothing_but_its_processors_is_one_of_single_cores(tmp_path: Path) -> None:
    topology = read_topology(plant(tmp_path, {"devices/system/cpu/online": "0-1"}))
    assert [(each.number, each.core, each.numa_node) for each in topology.cpus] == [(0, 0, 0), (1, 1, 0)]
    assert not topology.has_threads


def test_machine_that_tells_nothing_has_no_processors(tmp_path: Path) -> None:
    assert read_topology(Sysfs(tmp_path)).cpus == ()

from pathlib import Path

import pytest

from dray.api.resource.kinds import RESOURCE_SLICE
from dray.api.writing import plan_create
from dray.app.wire import wire_offline_context
from dray.driver.devices import Pool
from dray.drivers.cpu.offers import CAPACITY, DRIVER, Grouping, OfferOptions, list_offers
from dray.drivers.cpu.topology import read_topology
from dray.effects.clock import FakeClock
from tests.unit.drivers.cpu.test_topology import TWO_SOCKETS
from tests.unit.drivers.slicing import slice_pool
from tests.unit.drivers.systree import plant_cpus

STANDARD_NUMA = "resource.kubernetes.io/numaNode"


@pytest.mark.parametrize(
    ("grouping", "want"),
    [
        (Grouping.NUMA_NODE, {"cpudevnuma000": 8, "cpudevnuma001": 8}),
        (Grouping.SOCKET, {"cpudevsocket000": 8, "cpudevsocket001": 8}),
        (Grouping.MACHINE, {"cpudevmachine": 16}),
    ],
)
def test_groups_are_devices_that_are_shared(tmp_path: Path, grouping: Grouping, want: dict[str, int]) -> None:
    topology = read_topology(plant_cpus(tmp_path, TWO_SOCKETS))
    offers = list_offers(topology, OfferOptions(grouping=grouping))
    assert {each.device.name: each.device.capacity[CAPACITY].value.value() for each in offers} == want
    for offer in offers:
        told = offer.device.attributes
        assert offer.device.allow_multiple_allocations
        assert told["numCPUs"].int == len(offer.cpus)
        assert told["smtEnabled"].bool is True
        assert ("socketID" in told) is (grouping is not Grouping.MACHINE)
        assert (STANDARD_NUMA in told) is (grouping is not Grouping.MACHINE)


def test_individual_processors_come_core_by_core(tmp_path: Path) -> None:
    topology = read_topology(plant_cpus(tmp_path, TWO_SOCKETS))
    offers = list_offers(topology, OfferOptions(grouping=Grouping.INDIVIDUAL))
    assert [each.device.name for each in offers[:3]] == ["cpudev000", "cpudev001", "cpudev002"]
    assert [each.device.attributes["cpuID"].int for each in offers[:4]] == [0, 8, 1, 9]
    told = offers[13].device.attributes
    assert (told["cpuID"].int, told["coreID"].int, told["cacheL3ID"].int) == (14, 2, 3)
    assert (told["socketID"].int, told["coreType"].string) == (1, "standard")
    assert {told[name].int for name in (STANDARD_NUMA, "numaNodeID", "dra.net/numaNode")} == {1}
    assert not offers[0].device.allow_multiple_allocations


def test_roots_near_the_processors_are_a_list(tmp_path: Path) -> None:
    topology = read_topology(plant_cpus(tmp_path, TWO_SOCKETS))
    roots = {each.number: (f"pci0000:{each.socket}0",) for each in topology.cpus}
    first, second = list_offers(topology, OfferOptions(), roots)
    assert first.device.attributes["resource.kubernetes.io/pcieRoot"].strings == ("pci0000:00",)
    assert second.device.attributes["resource.kubernetes.io/pcieRoot"].strings == ("pci0000:10",)


@pytest.mark.parametrize("grouping", list(Grouping))
@pytest.mark.parametrize("maps_to_node", [False, True])
def test_published_slices_are_valid(tmp_path: Path, grouping: Grouping, maps_to_node: bool) -> None:
    topology = read_topology(plant_cpus(tmp_path, TWO_SOCKETS))
    offers = list_offers(topology, OfferOptions(grouping=grouping, maps_to_node=maps_to_node), {0: ("pci0000:00",)})
    pool = Pool(devices=tuple(each.device for each in offers))
    for each in slice_pool(DRIVER, pool, "node-a"):
        assert plan_create(RESOURCE_SLICE, each, wire_offline_context(FakeClock())).faults == ()


def test_no_processors_are_no_devices(tmp_path: Path) -> None:
    topology = read_topology(plant_cpus(tmp_path, {}))
    assert [list_offers(topology, OfferOptions(grouping=each)) for each in Grouping] == [[], [], [], []]

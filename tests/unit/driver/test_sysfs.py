from pathlib import Path

import pytest

from dray.driver.sysfs import Sysfs, parse_cpu_list
from tests.unit.drivers.systree import plant

BDF = "0000:18:00.0"
BEHIND = "../../../devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0"


@pytest.mark.parametrize(
    ("text", "want"),
    [("", []), ("0", [0]), ("0-2,8", [0, 1, 2, 8]), ("3,1", [1, 3]), ("0-1,1-2\n", [0, 1, 2]), ("x,1-", [1])],
)
def test_lists_of_processors_are_read(text: str, want: list[int]) -> None:
    assert parse_cpu_list(text) == want


@pytest.mark.parametrize(
    ("target", "want"),
    [
        (BEHIND, "pci0000:15"),
        ("../../../devices/pci0000:18/0000:18:00.0", "pci0000:18"),
        ("../../../devices/LNXSYSTM:00/VMBUS:00/abcd-ef/pci0000:00/0000:18:00.0", None),
        ("../../../devices/pci0000:15/0000:19:00.0", None),
        ("../../../devices", None),
    ],
)
def test_pcie_root_is_the_first_step_below_devices(tmp_path: Path, target: str, want: str | None) -> None:
    sysfs = plant(tmp_path, {}, {f"bus/pci/devices/{BDF}": target})
    assert sysfs.find_pcie_root(BDF) == want


def test_what_is_not_there_has_no_root(tmp_path: Path) -> None:
    sysfs = Sysfs(tmp_path)
    assert sysfs.find_pcie_root(BDF) is None
    assert sysfs.find_numa_node(BDF) is None
    assert sysfs.find_pci_address("class/net/eth0/device") is None
    assert sysfs.names("class/net") == []


@pytest.mark.parametrize(("text", "want"), [("1", 1), ("0", 0), ("-1", None), ("", None), ("1024", None), ("x", None)])
def test_numa_node_is_told_unless_there_is_none(tmp_path: Path, text: str, want: int | None) -> None:
    sysfs = plant(tmp_path, {f"bus/pci/devices/{BDF}/numa_node": text})
    assert sysfs.find_numa_node(BDF) == want


def test_address_is_the_last_on_the_way(tmp_path: Path) -> None:
    device = f"devices/pci0000:00/{BDF}/virtio3"
    sysfs = plant(tmp_path, {f"{device}/net/eth1/mtu": "1500"}, {"class/net/eth1/device": f"../../../{device}"})
    assert sysfs.find_pci_address("class/net/eth1/device") == BDF


def four_nodes_on_two_sockets(root: Path) -> Sysfs:
    """NUMA nodes 0 to 3 on the first socket, 4 to 7 on the second."""
    files = {}
    for node in range(8):
        near = range(4) if node < 4 else range(4, 8)
        distances = [10 if other == node else 12 if other in near else 32 for other in range(8)]
        files[f"devices/system/node/node{node}/distance"] = " ".join(map(str, distances))
        files[f"devices/system/node/node{node}/cpulist"] = str(node)
        files[f"devices/system/cpu/cpu{node}/topology/physical_package_id"] = str(node // 4)
    return plant(root, files)


@pytest.mark.parametrize(("node", "want"), [(0, (0, 1, 2, 3)), (6, (6, 4, 5, 7))])
def test_near_nodes_are_those_of_the_socket_at_the_least_distance(
    tmp_path: Path, node: int, want: tuple[int, ...]
) -> None:
    assert four_nodes_on_two_sockets(tmp_path).find_near_nodes(node) == want


def test_node_is_alone_if_distances_are_not_told(tmp_path: Path) -> None:
    sysfs = four_nodes_on_two_sockets(tmp_path)
    tmp_path.joinpath("devices/system/node/node2/distance").unlink()
    assert sysfs.find_near_nodes(2) == (2,)


def test_nodes_of_an_unknown_socket_count_too(tmp_path: Path) -> None:
    sysfs = four_nodes_on_two_sockets(tmp_path)
    tmp_path.joinpath("devices/system/cpu/cpu3/topology/physical_package_id").unlink()
    assert sysfs.find_near_nodes(0) == (0, 1, 2, 3)

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.drivers.net.attachment import plan_attachment, read_home, write_home
from dray.drivers.net.config import InterfaceConfig, NetworkConfig
from dray.drivers.net.discovery import read_hardware
from dray.drivers.net.interface import Interface, describe_interface, is_offered, name_device
from dray.values.names import dns_label_faults
from tests.unit.drivers.systree import plant

NIC = Interface(
    name="eth1",
    state="up",
    is_up=True,
    mac="42:01:0a:00:00:05",
    mtu=8896,
    addresses=("10.0.1.5/24", "2001:db8::5/64"),
    pci="0000:8a:00.0",
    pci_vendor="0x15b3",
    pci_device="0x101e",
    kernel_driver="mlx5_core",
    numa_node=1,
    pcie_root="pci0000:80",
    rdma_device="mlx5_0",
    virtual_functions=8,
)


@pytest.mark.parametrize(
    ("interface", "want"),
    [
        (NIC, True),
        (replace(NIC, name="lo"), False),
        (replace(NIC, name="cilium_host"), False),
        (replace(NIC, name="docker0"), False),
        (replace(NIC, is_uplink=True), False),
        (replace(NIC, encapsulation="loopback"), False),
        (replace(NIC, kernel_driver="vfio-pci"), False),
        (Interface(name="veth0", kind="veth"), True),
    ],
)
def test_what_the_node_lives_by_is_not_offered(interface: Interface, want: bool) -> None:
    assert is_offered(interface) is want


@pytest.mark.parametrize(
    ("interface", "want"),
    [
        (NIC, "pci-0000-8a-00-0"),
        (Interface(name="veth0"), "veth0"),
        (Interface(name="eth0.100"), "net-mv2gqmbogeyda"),
        (Interface(name="Wan"), "net-k5qw4"),
        (Interface(name="net1", device_name="pci-0000-8a-00-0"), "pci-0000-8a-00-0"),
    ],
)
def test_devices_are_named_by_place_or_name(interface: Interface, want: str) -> None:
    assert name_device(interface) == want
    assert not dns_label_faults(want)


def test_attributes_are_those_of_dranet() -> None:
    told = describe_interface(NIC).attributes
    assert told["ifName"].string == "eth1"
    assert told["ipv4"].string == "10.0.1.5/24"
    assert told["ipv6"].string == "2001:db8::5/64"
    assert (told["rdma"].bool, told["rdmaDevice"].string) == (True, "mlx5_0")
    assert (told["sriov"].bool, told["sriovVfs"].int, told["isSriovVf"].bool) == (True, 0, False)
    assert told["numaNode"].int == 1
    assert told["resource.kubernetes.io/pcieRoot"].string == "pci0000:80"
    assert told["resource.kubernetes.io/numaNode"].int == 1
    assert told["virtual"].bool is False
    assert "alias" not in told


def test_what_is_not_told_is_not_published() -> None:
    told = describe_interface(Interface(name="veth0", kind="veth")).attributes
    assert told["virtual"].bool is True
    assert not {"pciAddress", "numaNode", "resource.kubernetes.io/pcieRoot", "mac", "ipv4", "sriovVfs"} & set(told)


def test_addresses_are_cut_between_addresses() -> None:
    many = tuple(f"10.0.{number}.1/24" for number in range(20))
    told = describe_interface(replace(NIC, addresses=many)).attributes["ipv4"].string or ""
    assert 50 < len(told) <= 64
    assert set(told.split(",")) <= set(many)


def test_pod_gets_what_is_configured_and_else_what_there_is() -> None:
    plain = plan_attachment(NIC, NetworkConfig())
    assert (plain.name, plain.addresses, plain.mtu) == ("eth1", NIC.addresses, None)
    wanted = InterfaceConfig(name="net1", addresses=("10.9.9.9/32",), mtu=1500, gro_max_size=65536)
    told = plan_attachment(NIC, NetworkConfig(interface=wanted))
    assert (told.name, told.addresses, told.mtu) == ("net1", ("10.9.9.9/32",), 1500)
    assert told.sizes == (("gro_max_size", 65536),)


def test_alias_brings_everything_home() -> None:
    home = read_home(write_home(NIC))
    assert home is not None
    assert (home.device, home.name, home.mtu, home.mac) == ("pci-0000-8a-00-0", "eth1", 8896, NIC.mac)
    assert (home.is_up, home.addresses) == (True, NIC.addresses)


@given(st.lists(st.ip_addresses().map(lambda each: f"{each}/24"), max_size=40), st.text(max_size=200))
def test_alias_is_never_longer_than_the_kernel_keeps(addresses: list[str], alias: str) -> None:
    text = write_home(replace(NIC, addresses=tuple(addresses), alias=alias))
    home = read_home(text)
    assert len(text.encode()) <= 255
    assert home is not None
    assert home.name == "eth1"
    assert home.addresses == tuple(addresses[: len(home.addresses)])


@pytest.mark.parametrize("alias", ["", "uplink to rack 7", "dray:", "dray:{}", "dray:[1]"])
def test_aliases_of_others_say_nothing(alias: str) -> None:
    assert read_home(alias) is None


def test_hardware_is_read_below_the_interface(tmp_path: Path) -> None:
    device = "devices/pci0000:80/0000:8a:00.0"
    sysfs = plant(
        tmp_path,
        {
            f"{device}/vendor": "0x15b3",
            f"{device}/device": "0x101e",
            f"{device}/numa_node": "1",
            f"{device}/sriov_totalvfs": "8",
            f"{device}/sriov_numvfs": "2",
        },
        {
            "class/net/eth1/device": f"../../../{device}",
            "class/infiniband/mlx5_0/device": f"../../../{device}",
            "bus/pci/devices/0000:8a:00.0": f"../../../{device}",
            f"{device}/driver": "../../../bus/pci/drivers/mlx5_core",
        },
    )
    found = read_hardware(Interface(name="eth1"), sysfs)
    assert (found.pci, found.pci_vendor, found.kernel_driver) == ("0000:8a:00.0", "0x15b3", "mlx5_core")
    assert (found.numa_node, found.pcie_root, found.rdma_device) == (1, "pci0000:80", "mlx5_0")
    assert (found.virtual_functions, found.used_virtual_functions, found.is_virtual_function) == (8, 2, False)
    assert read_hardware(Interface(name="veth0"), sysfs) == Interface(name="veth0")

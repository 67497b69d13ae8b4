"""From the names that drivers answered to what a container is given."""

from typing import Any

import pytest

from dray.driver.cdi import CdiDevice, CdiSpec, ContainerEdits, DeviceNode, IntelRdt, Mount, NetDevice
from dray.node.core.cdi import ContainerShape, UnresolvableDevices, apply_edits, index_specs, resolve_edits


def spec(kind: str = "v/c", *, common: ContainerEdits | None = None, **devices: str) -> CdiSpec:
    """A file whose devices set a variable of their name."""
    made = [
        CdiDevice(name=name, container_edits=ContainerEdits(env=(f"D={value}",))) for name, value in devices.items()
    ]
    return CdiSpec(cdi_version="0.5.0", kind=kind, devices=tuple(made), container_edits=common or ContainerEdits())


def env_of(names: list[str], *folders: list[CdiSpec]) -> tuple[str, ...]:
    return resolve_edits(names, index_specs(folders)).env


def test_edits_are_merged_in_the_order_asked_for_and_those_of_a_file_come_first_and_once() -> None:
    one = spec(a="1", b="2", common=ContainerEdits(env=("C=one",)))
    two = spec("w/c", a="3", common=ContainerEdits(env=("C=two",)))
    assert env_of(["w/c=a", "v/c=b", "v/c=a", "v/c=b"], [one, two]) == ("C=two", "D=3", "C=one", "D=2", "D=1")


def test_a_later_folder_comes_before_an_earlier_one() -> None:
    assert env_of(["v/c=a"], [spec(a="static")], [spec(a="dynamic")]) == ("D=dynamic",)


def test_a_device_of_two_files_of_one_folder_is_nobodys() -> None:
    folder = [spec(a="1", b="2"), spec(a="3")]
    with pytest.raises(UnresolvableDevices):
        env_of(["v/c=a"], folder)
    assert env_of(["v/c=b"], folder) == ("D=2",)
    assert env_of(["v/c=a"], folder, [spec(a="4")]) == ("D=4",)


def test_all_devices_that_are_missing_are_named() -> None:
    with pytest.raises(UnresolvableDevices, match=r"^unresolvable CDI devices v/c=x, /dev/null, v/c=y$"):
        env_of(["v/c=x", "v/c=a", "/dev/null", "v/c=y"], [spec(a="1")])


@pytest.mark.parametrize(
    ("shape", "edits", "want"),
    [
        ({"env": {"A": "1", "B": "2"}}, {"env": ("A=3", "C=a=b")}, {"env": {"A": "3", "B": "2", "C": "a=b"}}),
        (
            {"device_nodes": (DeviceNode(path="/dev/a"), DeviceNode(path="/dev/b"))},
            {"device_nodes": (DeviceNode(path="/dev/a", permissions="r"),)},
            {"device_nodes": (DeviceNode(path="/dev/b"), DeviceNode(path="/dev/a", permissions="r"))},
        ),
        (
            {"mounts": (Mount(host_path="/1", container_path="/a/b"), Mount(host_path="/2", container_path="/a"))},
            {"mounts": (Mount(host_path="/3", container_path="/a/b"), Mount(host_path="/4", container_path="/"))},
            {
                "mounts": (
                    Mount(host_path="/4", container_path="/"),
                    Mount(host_path="/2", container_path="/a"),
                    Mount(host_path="/3", container_path="/a/b"),
                )
            },
        ),
        ({"additional_gids": (5,)}, {"additional_gids": (0, 7, 5)}, {"additional_gids": (5, 7)}),
        (
            {"net_devices": (NetDevice(host_interface_name="eth0", name="a"),)},
            {"net_devices": (NetDevice(host_interface_name="eth0", name="b"),)},
            {"net_devices": (NetDevice(host_interface_name="eth0", name="b"),)},
        ),
        (
            {"intel_rdt": IntelRdt(clos_id="a")},
            {"intel_rdt": IntelRdt(clos_id="b")},
            {"intel_rdt": IntelRdt(clos_id="b")},
        ),
    ],
)
def test_edits_are_applied_as_a_runtime_does_it(shape: Any, edits: Any, want: Any) -> None:
    assert apply_edits(ContainerShape(**shape), ContainerEdits(**edits)) == ContainerShape(**want)

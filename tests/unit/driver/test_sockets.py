"""Where a driver's sockets are."""

from pathlib import Path

import pytest

from dray.driver.sockets import plan_sockets
from dray.errors import DrayError

REGISTRY, PLUGINS = Path("/var/lib/kubelet/plugins_registry"), Path("/var/lib/kubelet/plugins")
UID = "ad4af911-5bcd-47c5-a554-f35cea869472"
EXAMPLE = "gpu.dra-example-driver.sigs.k8s.io"


def names(driver: str, uid: str, registry: Path = REGISTRY) -> tuple[str, str]:
    paths = plan_sockets(driver, registry, PLUGINS / driver, uid)
    assert paths.registration.parent == registry
    assert paths.service.parent == PLUGINS / driver
    return paths.registration.name, paths.service.name


def test_a_driver_that_is_alone_has_fixed_names() -> None:
    assert names("gpu.example.com", "") == ("gpu.example.com-reg.sock", "dra.sock")


def test_instances_of_an_update_have_their_pods_uid_in_their_names() -> None:
    assert names("gpu.example.com", UID) == (f"gpu.example.com-{UID}-reg.sock", f"dra-{UID}.sock")


def test_names_that_do_not_fit_are_shortened_as_kubernetes_library_does_it() -> None:
    registration, _ = names(EXAMPLE, UID)
    assert registration == f"{EXAMPLE}-Jk8-oymVURI-reg.sock"
    longer = Path("/var/lib/kubelet/on/a/disk/of/its/own/plugins_registry")
    assert names(EXAMPLE, UID, longer)[0] == "dra-i1uYBA3g7FMHZvgPIxSbNw-reg.sock"


@pytest.mark.parametrize("length", range(1, 64))
def test_no_path_is_too_long_for_a_socket(length: int) -> None:
    paths = plan_sockets("d" * length, REGISTRY, PLUGINS / ("d" * length), UID)
    assert max(len(bytes(each)) for each in (paths.registration, paths.service)) <= 107


def test_different_drivers_and_pods_have_different_names() -> None:
    driver = "d" * 60
    known = {names(driver, UID)[0], names(driver, UID[::-1])[0], names(driver[1:], UID)[0]}
    assert len(known) == 3


def test_a_folder_that_is_too_deep_is_refused() -> None:
    with pytest.raises(DrayError, match="too long for a socket: at most 107 bytes"):
        plan_sockets("gpu.example.com", Path("/" + "x" * 100), PLUGINS, "")

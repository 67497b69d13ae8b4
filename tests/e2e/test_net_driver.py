"""The driver of network interfaces on real ones: veth pairs, in and out of network namespaces of this kernel."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

if sys.platform != "linux" or os.geteuid() != 0:
    pytest.skip("moves real network interfaces: needs root on Linux", allow_module_level=True)

from pyroute2 import IPRoute  # type: ignore[import-untyped]

from dray.driver.claims import ClaimRef
from dray.drivers.net.driver import NETWORK_NAMESPACE, NetDriver
from dray.drivers.net.namespaces import Namespaces
from tests.unit.controllers.cluster import Cluster
from tests.unit.drivers.driving import Raw, Work, config, driving

T = TypeVar("T")
POD = "dray-uid-of-p"
"""The namespace of the pod that claims are for."""


def apart(work: Callable[[], T]) -> T:
    """Do something on a thread without an event loop, as pyroute2 needs it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def look(name: str) -> dict[str, Any]:
    """What an interface of this thread's namespace is, without what changes by itself; nothing if there is none."""
    with IPRoute() as netlink:
        for index in netlink.link_lookup(ifname=name):
            (link,) = netlink.get_links(index)
            addresses = {
                f"{each.get_attr('IFA_LOCAL') or each.get_attr('IFA_ADDRESS')}/{each['prefixlen']}"
                for each in netlink.get_addr(index=index)
                if each["scope"] == 0
            }
            return {
                "mtu": link.get_attr("IFLA_MTU"),
                "mac": link.get_attr("IFLA_ADDRESS"),
                "up": bool(link["flags"] & 1),
                "addresses": addresses,
                "alias": link.get_attr("IFLA_IFALIAS") or "",
            }
    return {}


def change(verb: str, kind: str, name: str, **settings: Any) -> None:
    """Ask the kernel to change a link, or its addresses."""

    def ask() -> None:
        with IPRoute() as netlink:
            for index in netlink.link_lookup(ifname=name):
                getattr(netlink, kind)(verb, index=index, **settings)

    apart(ask)


class Machine:
    """A veth pair: one end is offered to pods, the other stays."""

    def __init__(self, folder: Path, near: str) -> None:
        self.namespaces = Namespaces(folder)
        self.near, self.far = near, f"{near[:-1]}z"

        def add() -> None:
            with IPRoute() as netlink:
                netlink.link("add", ifname=self.near, kind="veth", peer=self.far)

        apart(add)
        change("set", "link", near, mtu=1400, ifalias="mine")
        change("add", "addr", near, address="192.0.2.10", prefixlen=24)
        change("set", "link", near, state="up")

    def remove(self) -> None:
        for name in (self.near, self.far):
            change("del", "link", name)
        for name in self.namespaces.names(""):
            self.namespaces.remove(name)

    def home(self) -> dict[str, Any]:
        return apart(lambda: look(self.near))

    def inside(self, name: str, namespace: str = POD) -> dict[str, Any]:
        return self.namespaces.inside(namespace, lambda: look(name))

    def routes(self) -> set[str]:
        def read() -> set[str]:
            with IPRoute() as netlink:
                return {
                    f"{route.get_attr('RTA_DST')}/{route['dst_len']} via {route.get_attr('RTA_GATEWAY')}"
                    for route in netlink.get_routes(family=socket.AF_INET)
                }

        return self.namespaces.inside(POD, read)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    near = f"dt{os.getpid() % 1_000_000}a"  # tests run side by side, and a name has 15 letters at most
    try:
        made = Machine(tmp_path, near)
    except Exception as fault:
        pytest.skip(f"this kernel gives no veth pairs: {fault}")
    try:
        yield made
    finally:
        made.remove()


Story = Callable[[Work], Awaitable[None]]


@asynccontextmanager
async def offered(machine: Machine, cluster: Cluster | None = None) -> AsyncIterator[Work]:
    async with driving(NetDriver(namespaces=machine.namespaces), cluster) as work:
        yield work


def run(machine: Machine, story: Story) -> None:
    async def play() -> None:
        async with offered(machine) as work:
            await story(work)

    asyncio.run(play())


def network(*requests: str, **parameters: Any) -> Raw:
    return config("dra.net", *requests, **parameters)


def test_interface_is_offered_with_what_is_known_of_it(machine: Machine) -> None:
    async def story(work: Work) -> None:
        devices = await work.devices()
        told = devices[machine.near].attributes
        assert told["ifName"].string == machine.near
        assert told["type"].string == "veth"
        assert told["virtual"].bool is True
        assert told["mtu"].int == 1400
        assert told["ipv4"].string == "192.0.2.10/24"
        assert told["mac"].string == machine.home()["mac"]
        assert told["alias"].string == "mine"
        assert "lo" not in devices

    run(machine, story)


def test_interface_moves_into_the_pod_and_comes_back_as_it_was(machine: Machine) -> None:
    before = machine.home()

    async def story(work: Work) -> None:
        entry = network(
            "nic",
            interface={
                "name": "net1",
                "mtu": 1300,
                "addresses": ["198.51.100.5/24", "2001:db8::5/64"],
                "hardwareAddr": "02:00:00:00:00:55",
            },
            routes=[
                {"destination": "203.0.113.0/24", "gateway": "198.51.100.1"},
                {"destination": "192.0.2.64/26", "scope": 253},
            ],
            rules=[{"source": "198.51.100.0/24", "table": 100, "priority": 10}],
            neighbors=[{"destination": "198.51.100.1", "hardwareAddr": "02:00:00:00:00:01"}],
        )
        claim = work.put_claim("c1", {"nic": machine.near}, entry)
        assert await work.prepare(claim) == ""
        assert machine.home() == {}
        moved = machine.inside("net1")
        assert moved["mtu"] == 1300
        assert moved["mac"] == "02:00:00:00:00:55"
        assert moved["up"]
        assert moved["addresses"] == {"198.51.100.5/24", "2001:db8::5/64"}
        assert {"203.0.113.0/24 via 198.51.100.1", "192.0.2.64/26 via None"} <= machine.routes()
        assert await work.env(claim) == {NETWORK_NAMESPACE: str(machine.namespaces.path(POD))}
        (reported,) = (await work.claim(claim)).status.devices
        assert reported.network_data is not None
        assert reported.network_data.interface_name == "net1"
        assert reported.network_data.hardware_address == "02:00:00:00:00:55"
        assert reported.network_data.ips == ("198.51.100.5/24", "2001:db8::5/64")
        assert [(each.type, each.status, each.reason) for each in reported.conditions or ()] == [
            ("Ready", "True", "NetworkDeviceReady"),
            ("NetworkReady", "True", "NetworkReady"),
        ]
        assert await work.unprepare(claim) == ""
        assert machine.home() == before
        assert machine.namespaces.names("") == []

    run(machine, story)


def test_interface_keeps_name_and_addresses_if_nothing_is_configured(machine: Machine) -> None:
    async def story(work: Work) -> None:
        claim = work.put_claim("c1", {"nic": machine.near})
        assert await work.prepare(claim) == ""
        moved = machine.inside(machine.near)
        assert moved["addresses"] == {"192.0.2.10/24"}
        assert moved["mtu"] == 1400

    run(machine, story)


def test_traffic_flows_between_pod_and_host(machine: Machine) -> None:
    async def story(work: Work) -> None:
        entry = network("nic", interface={"name": "net1", "addresses": ["198.51.100.5/24"]})
        claim = work.put_claim("c1", {"nic": machine.near}, entry)
        assert await work.prepare(claim) == ""
        change("add", "addr", machine.far, address="198.51.100.1", prefixlen=24)
        change("set", "link", machine.far, state="up")
        with (
            machine.namespaces.inside(POD, lambda: socket.create_server(("198.51.100.5", 0))) as server,
            socket.create_connection(server.getsockname(), timeout=10) as client,
        ):
            answer, _ = server.accept()
            with answer:
                client.sendall(b"across")
                assert answer.recv(6) == b"across"

    run(machine, story)


def test_device_stays_published_while_a_pod_has_it(machine: Machine) -> None:
    async def story(work: Work) -> None:
        claim = work.put_claim("c1", {"nic": machine.near}, network("nic", interface={"name": "net1"}))
        assert await work.prepare(claim) == ""
        work.driver.host.devices_changed()
        assert (await work.devices())[machine.near].attributes["ifName"].string == machine.near

    run(machine, story)


def test_restarted_driver_takes_back_what_the_one_before_it_moved(machine: Machine) -> None:
    before, cluster = machine.home(), Cluster()

    async def play() -> None:
        async with offered(machine, cluster) as work:
            claim = work.put_claim("c1", {"nic": machine.near}, network("nic", interface={"name": "net1"}))
            assert await work.prepare(claim) == ""
        # The new one knows nothing of the claim: it prepares it anew, and finds the interface where it is.
        async with offered(machine, cluster) as work:
            assert await work.prepare(claim) == ""
            assert machine.inside("net1")["up"]
            assert await work.unprepare(claim) == ""
        assert machine.home() == before

    asyncio.run(play())


@pytest.mark.parametrize(
    ("interface", "want"),
    [
        ({"name": "lo"}, "cannot name it lo"),
        ({"name": "net1", "addresses": ["198.51.100.5/24"], "mtu": 70_000}, "cannot set mtu to 70000"),
    ],
)
def test_what_the_kernel_refuses_leaves_the_interface_at_home(
    machine: Machine, interface: dict[str, Any], want: str
) -> None:
    before = machine.home()

    async def story(work: Work) -> None:
        claim = work.put_claim("c1", {"nic": machine.near}, network("nic", interface=interface))
        assert want in await work.prepare(claim)
        assert machine.home() == before
        assert machine.namespaces.names("") == []
        assert await work.unprepare(claim) == ""
        assert machine.home() == before

    run(machine, story)


def test_claim_fails_as_a_whole(machine: Machine) -> None:
    before = machine.home()

    async def story(work: Work) -> None:
        claim = work.put_claim("c1", {"a": machine.near, "b": "no-such-thing"})
        assert "requested device is not allocatable: no-such-thing" in await work.prepare(claim)
        assert machine.home() == before

    run(machine, story)


@pytest.mark.parametrize("pods", [(), ("p", "q")])
def test_claim_is_for_one_pod(machine: Machine, pods: tuple[str, ...]) -> None:
    async def story(work: Work) -> None:
        claim = work.put_claim("c1", {"nic": machine.near}, pods=pods)
        assert f"must be reserved for one pod, is for {len(pods)} consumers" in await work.prepare(claim)

    run(machine, story)


def test_two_claims_of_a_pod_share_its_namespace(machine: Machine) -> None:
    async def story(work: Work) -> None:
        first = work.put_claim("c1", {"nic": machine.near}, network("nic", interface={"name": "net1"}))
        second = work.put_claim("c2", {"nic": machine.far}, network("nic", interface={"name": "net2"}))
        assert await work.prepare(first) == ""
        assert await work.prepare(second) == ""
        assert machine.inside("net1")
        assert machine.inside("net2")
        assert await work.unprepare(first) == ""
        assert machine.inside("net2")
        assert await work.unprepare(second) == ""
        assert machine.namespaces.names("") == []

    run(machine, story)


def test_interface_that_is_gone_with_its_namespace_can_be_taken_back(machine: Machine) -> None:
    async def story(work: Work) -> None:
        claim: ClaimRef = work.put_claim("c1", {"nic": machine.near})
        assert await work.prepare(claim) == ""
        machine.namespaces.remove(POD)
        assert await work.unprepare(claim) == ""
        assert await work.unprepare(claim) == ""

    run(machine, story)

"""Nodes that a decision cannot tell apart cost one search, and what changes touches only what it touches."""

import pytest

from dray.allocator.allocate import allocate
from dray.allocator.cluster import Cluster
from dray.allocator.feasibility import feasible_nodes
from dray.allocator.ids import ClaimUid
from dray.allocator.outcome import Allocated, Failed, Unschedulable
from dray.api.core.node import Node
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice
from tests.cases.allocator.terse import Raw, decode, read_claims

ONE = read_claims({"claims": {"c": {"r": {"class": "gpu"}}}})
PREFERRED = read_claims({"claims": {"c": {"r": [{"class": "gpu", "count": 2}, {"class": "gpu"}]}}})
SOME_SERIAL = read_claims(
    {"claims": {"c": {"r": {"class": "gpu", "where": ["device.attributes['d'].serial == 'n2-1'"]}}}}
)


def node(name: str) -> Node:
    return decode({"metadata": {"name": name}}, Node)


def gpus(name: str, count: int = 2) -> ResourceSlice:
    devices = [{"name": f"gpu-{i}", "attributes": {"serial": {"string": f"{name}-{i}"}}} for i in range(count)]
    edition = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return decode(
        {"metadata": {"name": name}, "spec": {"driver": "d", "nodeName": name, "pool": edition, "devices": devices}},
        ResourceSlice,
    )


def gpu_class(expression: str = "device.driver == 'd'") -> DeviceClass:
    raw: Raw = {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}
    return decode(raw, DeviceClass)


@pytest.fixture
def cluster() -> Cluster:
    names = [f"n{i}" for i in range(5)]
    return Cluster.of(map(node, names), map(gpus, names), [gpu_class()])


def take(cluster: Cluster, name: str, uid: str) -> None:
    outcome = allocate(ONE, cluster, name, share_ids=str)
    assert isinstance(outcome, Allocated)
    cluster.take(ClaimUid(uid), outcome.allocations[0])


def test_equal_nodes_are_one_group(cluster: Cluster) -> None:
    feasibility = feasible_nodes(ONE, cluster)
    assert len(feasibility.groups) == 1
    assert list(feasibility) == ["n0", "n1", "n2", "n3", "n4"]
    assert (feasibility.count, feasibility.first()) == (5, "n0")


def test_what_is_read_tells_nodes_apart(cluster: Cluster) -> None:
    assert list(feasible_nodes(SOME_SERIAL, cluster)) == ["n2"]


def test_nodes_with_as_many_devices_in_use_are_one_group(cluster: Cluster) -> None:
    take(cluster, "n1", "x")
    take(cluster, "n3", "y")
    take(cluster, "n3", "z")
    cluster.release(ClaimUid("y"))
    groups = feasible_nodes(ONE, cluster).groups
    assert sorted(group.nodes for group in groups) == [0b01010, 0b10101]


def test_taking_and_releasing_are_seen(cluster: Cluster) -> None:
    take(cluster, "n1", "x")
    take(cluster, "n1", "y")
    assert list(feasible_nodes(ONE, cluster)) == ["n0", "n2", "n3", "n4"]
    ((names, verdict),) = feasible_nodes(ONE, cluster).refusals()
    assert names == ("n1",)
    assert isinstance(verdict, Unschedulable)
    cluster.release(ClaimUid("x"))
    assert feasible_nodes(ONE, cluster).count == 5


def test_undoing_is_seen(cluster: Cluster) -> None:
    mark = cluster.ledger.mark()
    take(cluster, "n1", "x")
    take(cluster, "n1", "y")
    assert feasible_nodes(ONE, cluster).count == 4
    cluster.undo(mark)
    assert feasible_nodes(ONE, cluster).count == 5


def test_changed_slices_classes_and_nodes_are_seen(cluster: Cluster) -> None:
    assert feasible_nodes(ONE, cluster).count == 5
    cluster.remove_slice("n0")
    assert list(feasible_nodes(ONE, cluster)) == ["n1", "n2", "n3", "n4"]
    cluster.put_slice(gpus("n0"))
    cluster.remove_node("n4")
    assert list(feasible_nodes(ONE, cluster)) == ["n0", "n1", "n2", "n3"]
    cluster.put_node(node("n9"))
    assert feasible_nodes(ONE, cluster).count == 4
    cluster.put_class(gpu_class("false"))
    assert feasible_nodes(ONE, cluster).count == 0
    cluster.remove_class("gpu")
    assert [type(verdict) for _, verdict in feasible_nodes(ONE, cluster).refusals()] == [Failed, Failed]


def test_alternatives_used_are_told_for_scoring(cluster: Cluster) -> None:
    take(cluster, "n1", "x")
    preferences = {group.nodes: group.verdict.preference for group in feasible_nodes(PREFERRED, cluster).groups}  # type: ignore[union-attr]
    assert preferences == {0b11101: 8, 0b00010: 7}

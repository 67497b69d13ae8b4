import pytest

from dray.app.nodegroups import NodeGroupError, parse_node_groups, plan_nodes
from dray.drivers.sim.part import ProfileError
from dray.values.names import dns_subdomain_faults


def test_a_group_is_one_node_unless_it_says_how_many() -> None:
    one, four = parse_node_groups(["dgx-h100", "dgx-h100:4"])
    assert (one.count, four.count) == (1, 4)
    assert one.equipment.drivers == four.equipment.drivers == ("gpu.nvidia.com",)


def test_a_rack_is_as_many_nodes_as_belong_together() -> None:
    (rack,) = parse_node_groups(["gb200-nvl72"])
    assert rack.count == rack.equipment.nodes > 1


def test_nodes_are_called_after_their_first_profile() -> None:
    (group,) = parse_node_groups(["dgx-h100:mig+rdma-nic:2"])
    assert (group.title, group.count) == ("dgx-h100", 2)


def test_options_of_profiles_are_no_counts() -> None:
    plain, shared = parse_node_groups(["dgx-a100:mig", "dgx-h100:shares=4:2"])
    assert (plain.count, shared.count) == (1, 2)
    assert shared.equipment.text == "dgx-h100:shares=4"


def test_nodes_take_as_many_pods_as_their_group_says() -> None:
    usual, many = plan_nodes(parse_node_groups(["dgx-h100", "t4-vm:shares,pods=300"]))
    assert "pods" not in usual.capacity
    assert str(many.capacity["pods"]) == "300"


def test_a_control_plane_has_no_devices() -> None:
    (group,) = parse_node_groups(["control-plane"])
    assert group.is_control_plane
    assert group.equipment.drivers == ()
    assert group.title == "control-plane"


def test_this_machine_is_one_node_that_is_named_after_it() -> None:
    groups = parse_node_groups(["t4-vm:2", "machine"])
    *cards, machine = plan_nodes(groups)
    assert [each.name for each in cards] == ["t4-vm-0", "t4-vm-1"]
    assert machine.is_machine
    assert machine.equipment.drivers == ()
    assert not dns_subdomain_faults(machine.name)


@pytest.mark.parametrize("texts", [["machine", "machine"], ["machine:2"]])
def test_there_is_one_machine(texts: list[str]) -> None:
    with pytest.raises(NodeGroupError, match="one machine"):
        parse_node_groups(texts)


def test_nodes_of_groups_that_begin_alike_count_on() -> None:
    nodes = list(plan_nodes(parse_node_groups(["dgx-h100", "dgx-h100:mig:2", "control-plane"])))
    assert [each.name for each in nodes] == ["dgx-h100-0", "dgx-h100-1", "dgx-h100-2", "control-plane-0"]
    assert [each.effect for each in nodes[-1].taints] == ["NoSchedule"]


@pytest.mark.parametrize("text", ["dgx-h10", "4xdgx-h100", ":3", "dgx-h10:3"])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(ProfileError, match="no profile"):
        parse_node_groups([text])


@pytest.mark.parametrize("text", ["dgx-h100:0", "dgx-h100:99999"])
def test_a_number_that_no_cluster_has_is_refused(text: str) -> None:
    with pytest.raises(NodeGroupError, match="dgx-h100:4 are four"):
        parse_node_groups([text])


def test_no_name_is_refused() -> None:
    with pytest.raises(NodeGroupError, match="has no name; dgx-h100"):
        parse_node_groups([""])

import pytest

from dray.app.simulatednodes import NodeGroupError, parse_node_groups
from dray.drivers.sim.part import ProfileError


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


def test_a_control_plane_has_no_devices() -> None:
    (group,) = parse_node_groups(["control-plane"])
    assert group.is_control_plane
    assert group.equipment.drivers == ()
    assert group.title == "control-plane"


@pytest.mark.parametrize("text", ["dgx-h10", "4xdgx-h100", ":3", "dgx-h10:3"])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(ProfileError, match="no profile"):
        parse_node_groups([text])


@pytest.mark.parametrize("text", ["dgx-h100:0", "dgx-h100:99999"])
def test_a_number_that_no_cluster_has_is_refused(text: str) -> None:
    with pytest.raises(NodeGroupError, match="try: dgx-h100:4"):
        parse_node_groups([text])


def test_no_name_is_refused() -> None:
    with pytest.raises(NodeGroupError, match="try: dgx-h100"):
        parse_node_groups([""])

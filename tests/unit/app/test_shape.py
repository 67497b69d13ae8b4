from pathlib import Path

import pytest

from dray.app.shape import ClusterShape, ShapeUnreadable, find_shape, write_shape
from dray.app.wishes import RuntimeChoice


def test_a_new_cluster_has_two_simulated_machines(tmp_path: Path) -> None:
    assert find_shape(tmp_path) == ClusterShape(("dgx-h100:2",), RuntimeChoice.SIMULATED, ())


def test_what_was_is_found_again(tmp_path: Path) -> None:
    shape = ClusterShape(("t4-vm",), RuntimeChoice.PROCESS, ("t4-vm-0",))
    write_shape(tmp_path, shape)
    assert find_shape(tmp_path) == shape


def test_wishes_change_what_they_name_and_nothing_else() -> None:
    shape = ClusterShape(("t4-vm",), RuntimeChoice.PROCESS, ("t4-vm-0",))
    assert shape.change([], None) == shape
    assert shape.change(["gh200"], None) == ClusterShape(("gh200",), RuntimeChoice.PROCESS, ("t4-vm-0",))
    assert shape.change([], RuntimeChoice.SIMULATED) == ClusterShape(("t4-vm",), RuntimeChoice.SIMULATED, ("t4-vm-0",))
    assert shape.settle(["gh200-0"]) == ClusterShape(("t4-vm",), RuntimeChoice.PROCESS, ("gh200-0",))


@pytest.mark.parametrize("text", ["", "{", '{"nodes": "t4-vm"}', '{"runtime": "magic"}'])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "cluster.json").write_text(text)
    with pytest.raises(ShapeUnreadable, match=r"cluster\.json cannot be read") as refusal:
        find_shape(tmp_path)
    assert "--nodes" in refusal.value.hint

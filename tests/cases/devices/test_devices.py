"""Each case: what is published, held and reported, and what is told of each device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from dray.allocator.inventory import DeviceEntry, take_inventory
from dray.cli.devicetree import render_tree
from tests.cases.allocator.terse import Raw
from tests.cases.devices.world import read_facts

FOLDER = Path(__file__).parent
CASES = yaml.safe_load(FOLDER.joinpath("inventory.yaml").read_text(encoding="utf-8"))
TREES = yaml.safe_load(FOLDER.joinpath("trees.yaml").read_text(encoding="utf-8"))


def tell(entry: DeviceEntry, keys: Raw) -> dict[str, Any]:
    """Of a device what is asked for; what it leaves out is empty."""
    told = msgspec.json.decode(msgspec.json.encode(entry, enc_hook=str))
    return {key: told.get(key, type(value)()) for key, value in keys.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_inventory_is_as_told(case: Raw) -> None:
    inventory = take_inventory(read_facts(case))
    by_name = {name: each for each in inventory.devices for name in (each.device, each.path)}
    want = case.get("want", {})
    assert {name: tell(by_name[name], keys) for name, keys in want.items()} == want
    assert len(inventory.devices) == len(want or case["order"])
    assert list(inventory.incomplete) == case.get("incomplete", [])
    if "order" in case:
        assert [each.path for each in inventory.devices] == case["order"]


@pytest.mark.parametrize("case", TREES, ids=lambda case: case["name"])
def test_tree_is_drawn_as_told(case: Raw) -> None:
    is_wide = "wide" in case
    _, *lines = render_tree(take_inventory(read_facts(case)).devices, is_wide=is_wide)
    assert "".join(f"{line.text}\n" for line in lines) == case["wide" if is_wide else "want"]

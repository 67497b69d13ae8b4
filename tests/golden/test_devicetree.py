"""`dray devices` on nodes of profiles, some of whose devices are held."""

from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from dray.allocator.allocate import allocate
from dray.allocator.ids import claim_uid
from dray.allocator.inventory import DeviceEntry, Facts, State, take_inventory
from dray.allocator.outcome import Allocated
from dray.api.codec import decode
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.defaults import default_claim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.cli.devicetree import MOST_TREES, Line, Tone, render_changes, render_nodes, render_tree
from dray.drivers.sim.catalog import parse_equipment
from dray.values.times import parse_time
from tests.cases.devices.world import list_users, read_facts
from tests.conftest import Golden
from tests.unit.drivers.slicing import cluster_of, slices_of

FOLDER = Path(__file__).parents[1] / "cases" / "devices"
SCENES = yaml.safe_load(FOLDER.joinpath("scenes.yaml").read_text(encoding="utf-8"))
Raw = dict[str, Any]


def set_up(scene: Raw) -> Facts:
    """The facts of a scene, with every claim that has a spec allocated on the first node that has what it asks for."""
    fleets: dict[str, list[str]] = {}
    for node, text in scene["nodes"].items():
        fleets.setdefault(text, []).append(node)
    equipped = [(parse_equipment(text), tuple(names)) for text, names in fleets.items()]
    cluster = cluster_of(*equipped)
    claims = []
    shares = count()
    for path, terse in scene["claims"].items():
        claim = read_claim(path, terse)
        for node in scene["nodes"] if "spec" in terse else ():
            outcome = allocate([claim], cluster, node, share_ids=lambda: f"share-{next(shares)}")
            if isinstance(outcome, Allocated):
                claim = replace(claim, status=replace(claim.status, allocation=outcome.allocations[0]))
                cluster.take(claim_uid(claim), outcome.allocations[0])
                break
        claims.append(claim)
    return Facts(
        slices=[one for equipment, names in equipped for one in slices_of(equipment, *names)],
        claims=claims,
        nodes=[
            Node(metadata=ObjectMeta(name=name, labels=equipment.labels(index)))
            for equipment, names in equipped
            for index, name in enumerate(names)
        ],
        rules=read_facts({"rules": scene.get("rules", {})}).rules,
    )


def read_claim(path: str, terse: Raw) -> ResourceClaim:
    namespace, _, name = path.partition("/")
    raw = {
        "metadata": {"name": name, "namespace": namespace, "uid": path},
        "spec": terse.get("spec", {}),
        "status": {"reservedFor": list_users(terse["users"])},
    }
    return default_claim(decode(RESOURCE_CLAIM, "v1", msgspec.json.encode(raw)), parse_time("2026-01-01T00:00:00Z"))


def render(lines: list[Line]) -> str:
    """Lines with a mark for how they are meant."""
    marks = {Tone.PLAIN: " ", Tone.HEADING: "#", Tone.IN_USE: "*", Tone.TROUBLE: "!"}
    return "".join(f"{marks[line.tone]} {line.text}".rstrip() + "\n" for line in lines)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene["name"])
def test_nodes_are_drawn_as_expected(scene: Raw, golden: Golden) -> None:
    devices = take_inventory(set_up(scene)).devices
    text = f"{render(render_tree(devices))}\n{render(render_tree(devices, is_wide=True))}"
    golden.check(f"devices/{scene['name']}.txt", text)


def test_many_nodes_are_a_line_each(golden: Golden) -> None:
    profiles = ("t4-vm", "mixed-gpus:mig", "dgx-h100")
    nodes = {f"node-{number:02}": profiles[number % 3] for number in range(MOST_TREES + 1)}
    wish = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 3}}]}}
    claims = {f"demo/claim-{number}": {"users": [], "spec": wish} for number in range(4)}
    rules = {"old": {"pool": "node-06", "taint": "old:NoSchedule"}}
    facts = set_up({"nodes": nodes, "claims": claims, "rules": rules})
    golden.check("devices/nodes.txt", render(render_nodes(take_inventory(facts).devices)))


def test_changes_are_a_line_for_each_device(golden: Golden) -> None:
    devices = take_inventory(set_up(SCENES[0])).devices
    changed = [each for each in devices if each.state is not State.FREE or not each.is_well]
    again = [replace(devices[0], state=State.FREE, holders=())]
    text = render(render_changes(changed, with_header=True)) + render(render_changes(again, with_header=False))
    golden.check("devices/changes.txt", text)


def test_only_what_is_chosen_has_no_sums() -> None:
    def list_held(devices: tuple[DeviceEntry, ...]) -> list[DeviceEntry]:
        return [each for each in devices if each.holders]

    lines = render_tree(list_held(take_inventory(set_up(SCENES[0])).devices), has_sums=False)
    assert [line.text for line in lines if line.tone is Tone.HEADING][1:] == ["node-a"]

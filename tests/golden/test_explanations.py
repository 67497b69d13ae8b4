"""`dray explain`: pods and claims on clusters of which nothing is known but their objects."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from dray.api.core.kinds import NODE
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.api.resource.kinds import DEVICE_CLASS, DEVICE_TAINT_RULE, RESOURCE_SLICE
from dray.app.offline import complete_offline
from dray.app.rehearsal import Facts, Rehearsal
from dray.app.wire import wire_offline_context, wire_registry
from dray.cli.accounts import render_account
from dray.cli.printing import render_json
from dray.client.port import ObjectName
from dray.drivers.sim.catalog import Equipment, parse_equipment
from dray.effects.clock import FakeClock
from dray.scheduler.core.accounts import Account
from dray.scheduler.core.moment import Moment
from tests.cases.allocator.terse import decode
from tests.cases.devices.world import read_facts
from tests.conftest import Golden
from tests.unit.drivers.slicing import slices_of

SCENES = yaml.safe_load(
    Path(__file__).parents[1].joinpath("cases", "explanations", "scenes.yaml").read_text(encoding="utf-8")
)
Raw = dict[str, Any]
Thing = tuple[AnyKind, ApiObject]


def list_nodes(scene: Raw) -> Iterator[tuple[Equipment, list[str]]]:
    for text, profile in scene["nodes"].items():
        name, _, count = text.partition("*")
        yield parse_equipment(profile), [f"{name}-{number}" for number in range(int(count))] if count else [name]


def list_fleet(scene: Raw) -> Iterator[Thing]:
    """Nodes, what they publish, and the classes of that."""
    for equipment, names in list_nodes(scene):
        yield from ((DEVICE_CLASS, each) for each in equipment.classes())
        yield from ((RESOURCE_SLICE, each) for each in slices_of(equipment, *names))
        for index, name in enumerate(names):
            room = {"cpu": equipment.shape.cpu, "memory": equipment.shape.memory, "pods": "110"}
            taints = [{"key": "reserved", "effect": "NoSchedule"}] if name in scene.get("tainted", ()) else []
            labels = {"kubernetes.io/hostname": name, **equipment.labels(index)}
            raw = {"metadata": {"name": name, "labels": labels}, "spec": {"taints": taints}}
            yield NODE, decode(raw | {"status": {"capacity": room, "allocatable": room}}, NODE.struct)


def list_raw(scene: Raw) -> Iterator[Raw]:
    """Objects as a server has them: what is held, groups, pods and their claims."""
    requests = [{"name": name, "exactly": wish} for name, wish in scene["wishes"].items()]
    spec = {"devices": {"requests": requests, "constraints": scene.get("constraints", [])}}
    template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "spec": {"spec": spec}}
    yield template | {"metadata": {"name": "wishes", "namespace": "demo"}}
    for path, devices in scene.get("held", {}).items():
        yield claim(path.partition("/")[2], spec, devices)
    for name, gang in scene.get("gangs", {}).items():
        topology = [{"key": label} for label in gang.get("labels", ())]
        yield {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "demo"},
            "spec": {
                "schedulingPolicy": {"gang": {"minCount": gang.get("least", gang["pods"])}},
                "schedulingConstraints": {"topology": topology},
            },
        }
        for number in range(gang["pods"]):
            (wish,) = scene["wishes"]
            yield from pod_with_claim({"name": f"{name}-{number:02}", "claim": wish, "group": name}, scene, spec)
    for terse in scene.get("objects", ()):
        yield from pod_with_claim(terse, scene, spec)


def pod_with_claim(terse: Raw, scene: Raw, spec: Raw) -> Iterator[Raw]:
    name = f"{terse['name']}-{terse['claim']}"
    if f"demo/{name}" not in scene.get("held", {}):
        yield claim(name, spec)
    status: Raw = {"resourceClaimStatuses": [{"name": terse["claim"], "resourceClaimName": name}]}
    if "said" in terse:
        status["conditions"] = [{"type": "PodScheduled", "status": "False", "message": terse["said"]}]
    yield pod(terse) | {"status": status | ({"phase": "Running"} if "node" in terse else {})}


def pod(terse: Raw) -> Raw:
    resources: Raw = {"claims": [{"name": terse["claim"]}]}
    if "cpu" in terse:
        resources["requests"] = {"cpu": terse["cpu"]}
    container = {"name": "main", "image": "x", "resources": resources}
    spec: Raw = {
        "containers": [container],
        "resourceClaims": [{"name": terse["claim"], "resourceClaimTemplateName": "wishes"}],
        "schedulingGates": [{"name": gate} for gate in terse.get("gates", ())],
    }
    if "group" in terse:
        spec["schedulingGroup"] = {"podGroupName": terse["group"]}
    if "node" in terse:
        spec["nodeName"] = terse["node"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": terse["name"], "namespace": "demo"},
        "spec": spec,
    }


def claim(name: str, spec: Raw, devices: list[str] | None = None) -> Raw:
    owner = name.rpartition("-")[0]
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": f"pods/demo/{owner}", "controller": True}]
    metadata = {"name": name, "namespace": "demo", "ownerReferences": owners if owner else []}
    raw: Raw = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec}
    if devices is not None:
        request = spec["devices"]["requests"][0]["name"]
        keys = ("request", "driver", "pool", "device")
        results = [dict(zip(keys, (request, *each.split("/")), strict=True)) for each in devices]
        users = [{"resource": "pods", "name": owner, "uid": f"pods/demo/{owner}"}] if owner else []
        raw["status"] = {"allocation": {"devices": {"results": results}}, "reservedFor": users}
    return raw


def complete(raw: Raw, clock: FakeClock) -> Thing:
    """As the server has it, its status too."""
    text = msgspec.json.encode(raw)
    found = complete_offline(text, wire_registry(), wire_offline_context(clock), "demo")
    assert found is not None
    kind, thing = found
    return (kind, replace(thing, status=decode(raw, kind.struct).status)) if "status" in raw else (kind, thing)


def explain(scene: Raw) -> list[Account]:
    clock = FakeClock()
    there = [*list_fleet(scene), *(complete(each, clock) for each in list_raw(scene))]
    there += [(DEVICE_TAINT_RULE, each) for each in read_facts({"rules": scene.get("rules", {})}).rules]
    manifests = [complete(pod(each), clock) for each in scene.get("manifests", ())]
    facts = Facts({}).with_manifests(there).with_manifests(manifests)
    rehearsal = Rehearsal(facts, Moment(clock.monotonic(), clock.now()), lambda: "share")
    new = {each["name"] for each in scene.get("manifests", ())}
    subjects = [subject.split(" ") for subject in scene["explain"]]
    return [
        rehearsal.explain_pod(ObjectName(name, "demo"), is_new=name in new)
        if what == "pod"
        else rehearsal.explain_claim(ObjectName(name, "demo"))
        for what, name in subjects
    ]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene["name"])
def test_explanation_is_as_expected(scene: Raw, golden: Golden) -> None:
    golden.check(f"explain/{scene['name']}.txt", "\n".join(map(render_account, explain(scene))))


def test_explanation_for_machines_is_as_expected(golden: Golden) -> None:
    golden.check("explain/a-gpu-that-is-taken.json", render_json(explain(SCENES[0])))
